package parley

import com.connectrpc.BidirectionalStreamInterface
import com.connectrpc.ClientOnlyStreamInterface
import com.connectrpc.Headers
import com.connectrpc.Idempotency
import com.connectrpc.MethodSpec
import com.connectrpc.ProtocolClientInterface
import com.connectrpc.ResponseMessage
import com.connectrpc.ServerOnlyStreamInterface
import java.util.UUID
import kotlin.random.Random
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.delay
import parley.v1.CreateAskRequest
import parley.v1.CreateConversationRequest
import parley.v1.TurnRequest

private const val TRIES = 5
private val FIRST_PAUSE = 100.milliseconds
private val LONGEST_PAUSE = 5.seconds

/**
 * Puts the token on every try of a call, and sends a call again that met a server which stops or
 * can't be reached: a read, or one whose request has an id. A request that can have one gets one.
 * Streams are left alone: see [turnEvents].
 */
internal class Calls(
    private val wire: ProtocolClientInterface,
    private val token: suspend () -> String,
) : ProtocolClientInterface by wire {
    override suspend fun <Input : Any, Output : Any> unary(
        request: Input,
        headers: Headers,
        methodSpec: MethodSpec<Input, Output>,
    ): ResponseMessage<Output> {
        val sent = identified(request)
        val repeatable = canHaveId(sent) || methodSpec.idempotency == Idempotency.NO_SIDE_EFFECTS
        var tries = 0
        while (true) {
            val response = wire.unary(sent, authorized(headers), methodSpec)
            if (response !is ResponseMessage.Failure) return response
            tries++
            val again = repeatable && tries < TRIES && errorOf(response.cause).isUnavailable
            if (!again) return response
            delay(pause(tries - 1))
        }
    }

    override suspend fun <Input : Any, Output : Any> stream(
        headers: Headers,
        methodSpec: MethodSpec<Input, Output>,
    ): BidirectionalStreamInterface<Input, Output> = wire.stream(authorized(headers), methodSpec)

    override suspend fun <Input : Any, Output : Any> serverStream(
        headers: Headers,
        methodSpec: MethodSpec<Input, Output>,
    ): ServerOnlyStreamInterface<Input, Output> = wire.serverStream(authorized(headers), methodSpec)

    override suspend fun <Input : Any, Output : Any> clientStream(
        headers: Headers,
        methodSpec: MethodSpec<Input, Output>,
    ): ClientOnlyStreamInterface<Input, Output> = wire.clientStream(authorized(headers), methodSpec)

    private suspend fun authorized(headers: Headers): Headers =
        headers + ("authorization" to listOf("Bearer ${token()}"))
}

/** Returns how long to wait before the next try: the longer the more, and never as others do. */
internal fun pause(tries: Int): Duration =
    minOf(FIRST_PAUSE * (1 shl minOf(tries, 10)), LONGEST_PAUSE) * Random.nextDouble(0.5, 1.0)

internal fun newId(): String = UUID.randomUUID().toString()

private fun canHaveId(request: Any): Boolean =
    request is TurnRequest ||
        request is CreateConversationRequest ||
        request is CreateAskRequest

@Suppress("UNCHECKED_CAST") // A builder makes what it was made from.
private fun <T : Any> identified(request: T): T =
    when {
        request is TurnRequest && request.requestId.isEmpty() ->
            request.toBuilder().setRequestId(newId()).build() as T
        request is CreateConversationRequest && request.requestId.isEmpty() ->
            request.toBuilder().setRequestId(newId()).build() as T
        request is CreateAskRequest && request.requestId.isEmpty() ->
            request.toBuilder().setRequestId(newId()).build() as T
        else -> request
    }
