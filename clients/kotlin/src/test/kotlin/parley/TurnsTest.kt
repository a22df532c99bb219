package parley

import com.connectrpc.Code
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.Arguments
import org.junit.jupiter.params.provider.Arguments.argumentSet
import org.junit.jupiter.params.provider.MethodSource
import parley.v1.StreamTurnRequest
import parley.v1.TurnEvent
import parley.v1.promptInput
import parley.v1.streamTurnRequest
import parley.v1.watchTurnRequest

private val SOON = 10.seconds
private val REQUEST = streamTurnRequest {
    prompt = promptInput { text = "Hello" }
    requestId = "00000000-0000-0000-0000-000000000001"
}

private fun watchedAfter(sequence: Int) = watchTurnRequest {
    conversationId = "c-1"
    turnId = "t-1"
    afterSequence = sequence
}

private fun heard(
    server: PlayedServer,
    request: StreamTurnRequest = REQUEST,
    patience: Duration = 60.seconds,
    silence: Duration = 45.seconds,
): List<TurnEvent> = runBlocking {
    withTimeout(SOON) { server.client().turnEvents(request, patience, silence).toList() }
}

class TurnsTest {
    @Test
    fun `a stream that holds is passed on without its empty responses`() {
        PlayedServer(listOf(Line.Nothing, STARTED, RESUMED, Line.Nothing, HEL, TEXT, DONE)).use {
            assertEquals(listOf(STARTED, RESUMED, HEL, TEXT, DONE), heard(it))
            assertEquals(listOf(REQUEST), it.received)
            assertEquals(listOf("Bearer token"), it.tokens)
        }
    }

    @ParameterizedTest
    @MethodSource("breaks")
    fun `a stream that breaks goes on after the last event`(broken: List<Line>) {
        PlayedServer(
                listOf(STARTED, RESUMED) + broken,
                broken,
                listOf(Line.Nothing, TEXT) + broken,
                listOf(DONE),
            )
            .use {
                assertEquals(listOf(STARTED, RESUMED, TEXT, DONE), heard(it))
                val expected = listOf(REQUEST, watchedAfter(2), watchedAfter(2), watchedAfter(3))
                assertEquals(expected, it.received)
            }
    }

    @ParameterizedTest
    @MethodSource("breaks")
    fun `a request that nobody heard is repeated`(broken: List<Line>) {
        PlayedServer(broken, listOf(Line.Nothing) + broken, listOf(STARTED, DONE)).use {
            assertEquals(listOf(STARTED, DONE), heard(it))
            assertEquals(List(3) { REQUEST }, it.received)
        }
    }

    @Test
    fun `every repeat of a request has its id`() {
        val plays = listOf(listOf(STOPPED), listOf(STARTED, DONE), listOf(STARTED, DONE))
        PlayedServer(*plays.toTypedArray()).use {
            val own = streamTurnRequest { prompt = promptInput { text = "Hello" } }
            repeat(2) { _ -> heard(it, own) }
            val (first, repeated, other) = it.received.map { sent -> (sent as StreamTurnRequest).requestId }
            assertEquals(first, repeated)
            assertNotEquals(repeated, other)
            assertEquals(36, first.length)
        }
    }

    @Test
    fun `a flow that is collected again tells the same turn`() {
        PlayedServer(listOf(STARTED, DONE), listOf(STARTED, DONE)).use {
            val events = it.client().turnEvents(streamTurnRequest { prompt = promptInput { text = "Hi" } })
            runBlocking { repeat(2) { assertEquals(listOf(STARTED, DONE), events.toList()) } }
            assertEquals(it.received[0], it.received[1])
        }
    }

    @Test
    fun `a turn can be watched from where a client is`() {
        PlayedServer(listOf(RESUMED, STOPPED), listOf(TEXT, DONE)).use {
            val events = runBlocking { it.client().turnEvents(watchedAfter(1)).toList() }
            assertEquals(listOf(RESUMED, TEXT, DONE), events)
            assertEquals(listOf(watchedAfter(1), watchedAfter(2)), it.received)
        }
    }

    @Test
    fun `what came before does not come again`() {
        PlayedServer(listOf(STARTED, RESUMED, STOPPED), listOf(STARTED, RESUMED, TEXT, DONE)).use {
            assertEquals(listOf(STARTED, RESUMED, TEXT, DONE), heard(it))
        }
    }

    @Test
    fun `a preview is withdrawn before it comes anew`() {
        PlayedServer(
                listOf(STARTED, HEL, STOPPED),
                listOf(STOPPED),
                listOf(HEL, DISCARDED, STOPPED),
                listOf(HEL, TEXT, STOPPED),
                listOf(DONE),
            )
            .use {
                val expected = listOf(STARTED, HEL, DISCARDED, HEL, DISCARDED, HEL, TEXT, DONE)
                assertEquals(expected, heard(it))
            }
    }

    @Test
    fun `an event that is newer than the client is left out and ends a preview`() {
        PlayedServer(listOf(STARTED, HEL, event(2) {}, event(0) {}, STOPPED), listOf(TEXT, DONE)).use {
            assertEquals(listOf(STARTED, HEL, DISCARDED, TEXT, DONE), heard(it))
            assertEquals(listOf(REQUEST, watchedAfter(2)), it.received)
        }
    }

    @ParameterizedTest
    @MethodSource("refusals")
    fun `what a server refuses is not tried again`(refusal: Line.Refusal) {
        for (play in listOf(listOf(refusal), listOf(STARTED, refusal))) {
            PlayedServer(play).use {
                val error = assertThrows<ParleyError> { heard(it) }
                assertEquals(refusal.reason, error.reason)
                assertEquals(1, it.received.size)
            }
        }
    }

    @Test
    fun `a server that is gone for too long ends it`() {
        val plays = listOf(listOf(STARTED, STOPPED)) + List(50) { listOf(STOPPED) }
        PlayedServer(*plays.toTypedArray()).use {
            val error = assertThrows<ParleyError> { heard(it, patience = 500.milliseconds) }
            assertEquals(Code.UNAVAILABLE to "UNAVAILABLE", error.code to error.reason)
            assertTrue(it.received.size in 3..9, "it tries again, after growing pauses")
        }
    }

    @Test
    fun `a server that was never there ends it`() {
        val unused = PlayedServer().run { client().also { close() } }
        val error = assertThrows<ParleyError> {
            runBlocking { unused.turnEvents(REQUEST, patience = Duration.ZERO).toList() }
        }
        assertEquals(Code.UNAVAILABLE to "", error.code to error.reason)
    }

    @Test
    fun `silence is a broken stream`() {
        PlayedServer(listOf(STARTED, Line.Silence), listOf(DONE)).use {
            assertEquals(listOf(STARTED, DONE), heard(it, silence = 200.milliseconds))
        }
    }

    @Test
    fun `leaving early ends nothing but the listening`() {
        PlayedServer(listOf(STARTED, HEL, HEL, HEL, Line.Silence), listOf(DONE)).use {
            val client = it.client()
            runBlocking {
                withTimeout(SOON) {
                    assertEquals(STARTED, client.turnEvents(REQUEST).first())
                    assertEquals(listOf(DONE), client.turnEvents(watchedAfter(3)).toList())
                }
            }
        }
    }

    @Test
    fun `a fault of whoever collects is none of the stream`() {
        PlayedServer(listOf(STARTED, DONE)).use {
            val events = it.client().turnEvents(REQUEST)
            assertThrows<IllegalStateException> { runBlocking { events.collect { error("full") } } }
            assertEquals(1, it.received.size)
        }
    }

    companion object {
        @JvmStatic
        fun breaks(): List<Arguments> =
            listOf(
                argumentSet("the server stops", listOf(STOPPED)),
                argumentSet("the network breaks", listOf(Line.Cut)),
                argumentSet("a proxy has no server", listOf(Line.Refusal("unavailable", ""))),
                argumentSet("the call meets the stop", listOf(Line.Refusal("canceled", ""))),
                argumentSet("a proxy resets the stream", listOf(Line.Refusal("internal", ""))),
                argumentSet("the stream just ends", listOf<Line>()),
            )

        @JvmStatic
        fun refusals(): List<Arguments> =
            listOf(
                argumentSet("not there", Line.Refusal("not_found", "TURN_NOT_FOUND")),
                argumentSet("gone", Line.Refusal("out_of_range", "EVENTS_EXPIRED")),
                argumentSet("too many", Line.Refusal("resource_exhausted", "RATE_LIMITED")),
                argumentSet("no model", Line.Refusal("unavailable", "MODEL_NOT_CONFIGURED")),
                argumentSet("a fault of ours", Line.Refusal("unauthenticated", "UNAUTHENTICATED")),
            )
    }
}
