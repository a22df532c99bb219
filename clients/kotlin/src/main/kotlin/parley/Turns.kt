package parley

import com.connectrpc.Code
import com.connectrpc.ServerOnlyStreamInterface
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TimeSource
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.withTimeoutOrNull
import parley.v1.PreviewDiscarded
import parley.v1.StreamTurnRequest
import parley.v1.TurnEvent
import parley.v1.TurnEvent.EventCase
import parley.v1.WatchTurnRequest
import parley.v1.copy
import parley.v1.turnEvent
import parley.v1.watchTurnRequest

private val PATIENCE = 60.seconds

/** A connection without a word for so long is dead: a server says something every 15 seconds. */
private val SILENCE = 45.seconds

/**
 * Starts a turn, and emits its events up to `done`: each once, in order.
 *
 * Where the stream breaks it goes on with `WatchTurn`, after growing pauses, until no server has
 * said a word for [patience]. A request without a `requestId` gets one here, so that the turn is started
 * once; a flow that is collected again tells the same turn anew. Leaving early leaves the turn
 * running.
 *
 * Previews are among the events. Before a broken stream goes on they are withdrawn by a
 * `previewDiscarded`, since a server begins them anew. Events newer than this client are left out.
 *
 * Collecting throws [ParleyError] where the server refuses, or patience is at its end; the turn may
 * run nevertheless.
 */
public fun Client.turnEvents(
    request: StreamTurnRequest,
    patience: Duration = PATIENCE,
): Flow<TurnEvent> = turnEvents(request, patience, SILENCE)

/** Watches a turn after a place, and emits its events in the same way. */
public fun Client.turnEvents(
    request: WatchTurnRequest,
    patience: Duration = PATIENCE,
): Flow<TurnEvent> = following(patience, SILENCE) { Place(start = null, watch = request) }

/** Does it where a test can't wait for a real silence. */
internal fun Client.turnEvents(
    request: StreamTurnRequest,
    patience: Duration,
    silence: Duration,
): Flow<TurnEvent> {
    val own = request.copy { requestId = requestId.ifEmpty { newId() } }
    return following(patience, silence) { Place(start = own, watch = null) }
}

private fun Client.following(
    patience: Duration,
    silence: Duration,
    place: () -> Place,
): Flow<TurnEvent> = flow {
    val here = place()
    var tries = 0
    var heard = TimeSource.Monotonic.markNow()
    while (true) {
        val sayings = sayings(here, silence)
        var error: ParleyError? = null
        try {
            sayings.begin()
            while (error == null) {
                when (val said = sayings.next()) {
                    is Said.Failure -> error = said.error
                    is Said.Response -> {
                        tries = 0
                        heard = TimeSource.Monotonic.markNow()
                        said.event?.let(here::move)?.let { emit(it) }
                        if (here.done) return@flow
                    }
                }
            }
        } finally {
            sayings.end()
        }
        if (!error.isBroken || heard.elapsedNow() > patience) throw error
        here.withdrawn()?.let { emit(it) }
        delay(pause(tries++))
    }
}

/** Where a client is in a turn: what it sends next, and what is news to it. */
private class Place(val start: StreamTurnRequest?, var watch: WatchTurnRequest?) {
    var done = false
        private set

    private var turnId = ""
    private var sequence = watch?.afterSequence ?: 0
    private var previewing = false

    /** Moves on by an event, and returns what of it is news. */
    fun move(event: TurnEvent): TurnEvent? {
        val known = event.eventCase != EventCase.EVENT_NOT_SET
        turnId = event.turnId
        if (event.sequence == 0) {
            if (known) previewing = event.eventCase != EventCase.PREVIEW_DISCARDED
            return event.takeIf { known }
        }
        if (event.sequence <= sequence) return null
        sequence = event.sequence
        done = event.hasDone()
        if (event.hasStarted()) {
            watch =
                watchTurnRequest {
                    conversationId = event.started.conversationId
                    turnId = event.turnId
                }
        }
        watch = watch?.copy { afterSequence = event.sequence }
        val news = if (known) event else withdrawn()
        previewing = false
        return news
    }

    /** Returns the event that withdraws what the previews said, if they said anything. */
    fun withdrawn(): TurnEvent? {
        if (!previewing) return null
        previewing = false
        return turnEvent {
            turnId = this@Place.turnId
            previewDiscarded = PreviewDiscarded.getDefaultInstance()
        }
    }
}

private sealed interface Said {
    /** An empty one says no more than that the server is there. */
    class Response(val event: TurnEvent?) : Said

    class Failure(val error: ParleyError) : Said
}

/** What a server says to one call. */
private class Sayings<Input, Output>(
    private val stream: ServerOnlyStreamInterface<Input, Output>,
    private val request: Input,
    private val silence: Duration,
    private val eventOf: (Output) -> TurnEvent?,
) {
    private val responses = stream.responseChannel()

    suspend fun begin() {
        stream.sendAndClose(request) // Why it could not be sent is what the responses end with.
    }

    suspend fun next(): Said {
        val said = withTimeoutOrNull(silence) { responses.receiveCatching() }
        val error =
            when {
                said == null -> unavailable("The server said nothing for too long.")
                said.isSuccess -> return Said.Response(eventOf(said.getOrThrow()))
                else -> said.exceptionOrNull()?.let(::errorOf)
            }
        return Said.Failure(error ?: unavailable("The stream ended too early."))
    }

    /** Ends the call. */
    fun end() = responses.cancel()
}

private suspend fun Client.sayings(place: Place, silence: Duration): Sayings<*, *> {
    val watch = place.watch
    if (watch != null) {
        return Sayings(turns.watchTurn(), watch, silence) { if (it.hasEvent()) it.event else null }
    }
    val start = checkNotNull(place.start)
    return Sayings(turns.streamTurn(), start, silence) { if (it.hasEvent()) it.event else null }
}

private fun unavailable(message: String) = ParleyError(Code.UNAVAILABLE, message)

private val ParleyError.isBroken: Boolean
    get() = isUnavailable || (reason.isEmpty() && code in BROKEN)

private val BROKEN =
    setOf(
        Code.CANCELED, // the call met a server in the very moment of its stop
        Code.INTERNAL_ERROR, // something on the way broke the stream, as in the next
        Code.UNKNOWN,
    )
