package parley

import com.connectrpc.AnyError
import com.connectrpc.Codec
import com.connectrpc.ConnectErrorDetail
import com.connectrpc.ErrorDetailParser
import com.connectrpc.SerializationStrategy
import com.google.protobuf.CodedOutputStream
import com.google.protobuf.Internal
import com.google.protobuf.MessageLite
import kotlin.reflect.KClass
import okio.Buffer
import okio.BufferedSource

private const val NAME = "proto"

/** Writes and reads the small kind of generated messages, which have no descriptors. */
internal object LiteMessages : SerializationStrategy, ErrorDetailParser {
    override fun serializationName(): String = NAME

    @Suppress("UNCHECKED_CAST") // All messages of all methods are of that kind.
    override fun <E : Any> codec(clazz: KClass<E>): Codec<E> =
        LiteCodec(clazz.java as Class<MessageLite>) as Codec<E>

    override fun errorDetailParser(): ErrorDetailParser = this

    // `errorOf` reads them.
    override fun <E : Any> unpack(any: AnyError, clazz: KClass<E>): E? = null

    // That is what gRPC needs.
    override fun parseDetails(bytes: ByteArray): List<ConnectErrorDetail> = emptyList()
}

private class LiteCodec(private val type: Class<MessageLite>) : Codec<MessageLite> {
    override fun encodingName(): String = NAME

    override fun serialize(message: MessageLite): Buffer = Buffer().write(message.toByteArray())

    override fun deterministicSerialize(message: MessageLite): Buffer {
        val bytes = ByteArray(message.serializedSize)
        val output = CodedOutputStream.newInstance(bytes)
        output.useDeterministicSerialization()
        message.writeTo(output)
        return Buffer().write(bytes)
    }

    override fun deserialize(source: BufferedSource): MessageLite =
        Internal.getDefaultInstance(type).parserForType.parseFrom(source.inputStream())
}
