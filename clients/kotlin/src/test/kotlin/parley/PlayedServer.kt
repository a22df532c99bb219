package parley

import com.google.protobuf.MessageLite
import java.io.Closeable
import java.util.Collections
import mockwebserver3.Dispatcher
import mockwebserver3.MockResponse
import mockwebserver3.MockWebServer
import mockwebserver3.RecordedRequest
import mockwebserver3.SocketEffect
import okio.Buffer
import okio.ByteString.Companion.toByteString
import parley.google.rpc.errorInfo
import parley.v1.PreviewDiscarded
import parley.v1.RunBlockActionRequest
import parley.v1.StreamTurnRequest
import parley.v1.TurnEvent
import parley.v1.TurnEventKt
import parley.v1.TurnRequest
import parley.v1.WatchTurnRequest
import parley.v1.streamTurnResponse
import parley.v1.textChunk
import parley.v1.textPreview
import parley.v1.turnDone
import parley.v1.turnEvent
import parley.v1.turnResumed
import parley.v1.turnStarted

/** What a server says in a stream. */
sealed interface Line {
    class Event(val event: TurnEvent) : Line

    class Refusal(
        val code: String,
        val reason: String,
        val metadata: Map<String, String> = emptyMap(),
    ) : Line

    /** An empty response. */
    data object Nothing : Line

    /** Not a word any more, though the connection stays. */
    data object Silence : Line

    /** The connection breaks. */
    data object Cut : Line

    /** A proxy answers, as there is no server. */
    data object Gone : Line
}

val STARTED = event(1) { started = turnStarted { conversationId = "c-1" } }
val RESUMED = event(2) { resumed = turnResumed { attempt = 2 } }
val TEXT = event(3) { text = textChunk { text = "Hello" } }
val DONE = event(4) { done = turnDone { conversationId = "c-1" } }
val HEL = event(0) { textPreview = textPreview { delta = "Hel" } }
val DISCARDED = event(0) { previewDiscarded = PreviewDiscarded.getDefaultInstance() }
val STOPPED = Line.Refusal("unavailable", "UNAVAILABLE")

fun event(sequence: Int, what: TurnEventKt.Dsl.() -> Unit): TurnEvent = turnEvent {
    this.sequence = sequence
    turnId = "t-1"
    what()
}

/** Serves over real HTTP what a test says: plays one list a call, and keeps what it was sent. */
class PlayedServer(vararg plays: List<Any>) : Closeable {
    val received: MutableList<MessageLite> = Collections.synchronizedList(mutableListOf())
    val tokens: MutableList<String?> = Collections.synchronizedList(mutableListOf())

    private val toCome = ArrayDeque(plays.map { play -> play.map(::line) })
    private val server = MockWebServer()

    init {
        server.dispatcher =
            object : Dispatcher() {
                override fun dispatch(request: RecordedRequest): MockResponse {
                    tokens += request.headers["authorization"]
                    received += message(request)
                    val play = synchronized(toCome) { toCome.removeFirstOrNull() } ?: GONE
                    return if (request.target.substringAfterLast('/') in UNARY) answered(play.single()) else streamed(play)
                }
            }
        server.start()
    }

    fun client(token: suspend () -> String = { "token" }): Client =
        connect(server.url("/").toString(), token = token)

    override fun close() = server.close()

    private fun message(request: RecordedRequest): MessageLite {
        val body = Buffer().write(request.body!!)
        return when (request.target.substringAfterLast('/')) {
            "StreamTurn" -> StreamTurnRequest.parseFrom(body.apply { skip(5) }.readByteArray())
            "WatchTurn" -> WatchTurnRequest.parseFrom(body.apply { skip(5) }.readByteArray())
            "Turn" -> TurnRequest.parseFrom(body.readByteArray())
            else -> RunBlockActionRequest.parseFrom(body.readByteArray())
        }
    }
}

private val UNARY = setOf("Turn", "RunBlockAction")
private val GONE = listOf(Line.Gone)

private fun line(said: Any): Line = if (said is TurnEvent) Line.Event(said) else said as Line

private fun streamed(play: List<Line>): MockResponse {
    val body = Buffer()
    val reply = MockResponse.Builder().addHeader("content-type", "application/connect+proto")
    for (line in play) {
        when (line) {
            is Line.Event -> body.envelope(0, streamTurnResponse { event = line.event }.toByteArray())
            Line.Nothing -> body.envelope(0, byteArrayOf())
            is Line.Refusal -> body.envelope(2, """{"error":${json(line)}}""".toByteArray())
            Line.Gone -> return gone()
            // It promises more than it says, and says no more: for ever, or until it hangs up.
            Line.Silence -> return reply.body(body).setHeader("content-length", body.size + 9).build()
            Line.Cut ->
                return reply
                    .body(body)
                    .setHeader("content-length", body.size + 9)
                    .onResponseEnd(SocketEffect.ShutdownConnection)
                    .build()
        }
    }
    return reply.body(body).build()
}

private fun answered(line: Line): MockResponse =
    when (line) {
        is Line.Refusal ->
            MockResponse.Builder()
                .code(if (line.code == "unavailable") 503 else 400)
                .addHeader("content-type", "application/json")
                .body(json(line))
                .build()
        Line.Nothing ->
            MockResponse.Builder().addHeader("content-type", "application/proto").build()
        Line.Cut -> MockResponse.Builder().onResponseStart(SocketEffect.CloseSocket()).build()
        else -> gone()
    }

private fun gone() =
    MockResponse.Builder()
        .code(503)
        .addHeader("content-type", "text/plain")
        .body("no healthy upstream")
        .build()

private fun Buffer.envelope(flags: Int, message: ByteArray) {
    writeByte(flags).writeInt(message.size).write(message)
}

private fun json(refusal: Line.Refusal): String {
    val info = errorInfo {
        reason = refusal.reason
        domain = "parley"
        metadata.putAll(refusal.metadata)
    }
    val value = info.toByteArray().toByteString().base64().trimEnd('=')
    val details = """[{"type":"google.rpc.ErrorInfo","value":"$value"}]"""
    return """{"code":"${refusal.code}","message":"No.","details":$details}"""
}
