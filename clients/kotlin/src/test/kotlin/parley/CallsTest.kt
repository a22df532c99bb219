package parley

import com.connectrpc.Code
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.Arguments
import org.junit.jupiter.params.provider.Arguments.argumentSet
import org.junit.jupiter.params.provider.MethodSource
import parley.v1.TurnRequest
import parley.v1.promptInput
import parley.v1.runBlockActionRequest
import parley.v1.streamTurnRequest
import parley.v1.turnRequest

private val REQUEST = turnRequest { prompt = promptInput { text = "Hello" } }

private val LOST = Line.Refusal("aborted", "ASK_NOT_PENDING", mapOf("action" to "accept"))

private suspend fun Client.turn(): Unit = Unit.also { turns.turn(REQUEST).orThrow() }

class CallsTest {
    @ParameterizedTest
    @MethodSource("breaks")
    fun `a turn that met no server is sent again with one id and fresh tokens`(broken: Line) {
        PlayedServer(listOf(broken), listOf(broken), listOf(Line.Nothing)).use {
            var asked = 0
            runBlocking { it.client { "token-${++asked}" }.turn() }
            val ids = it.received.map { sent -> (sent as TurnRequest).requestId }
            assertEquals(listOf(36, 1), listOf(ids[0].length, ids.toSet().size))
            assertEquals(listOf("Bearer token-1", "Bearer token-2", "Bearer token-3"), it.tokens)
        }
    }

    @Test
    fun `a turn is sent five times at most`() {
        PlayedServer().use {
            val error = assertThrows<ParleyError> { runBlocking { it.client().turn() } }
            assertEquals(Code.UNAVAILABLE to "", error.code to error.reason)
            assertEquals(5, it.received.size)
        }
    }

    @ParameterizedTest
    @MethodSource("breaks")
    fun `what a repeat would do again is sent once`(broken: Line) {
        PlayedServer(listOf(Line.Nothing), listOf(broken), listOf(Line.Nothing)).use {
            val client = it.client()
            runBlocking {
                client.turns.runBlockAction(runBlockActionRequest {}).orThrow()
                val failed = client.turns.runBlockAction(runBlockActionRequest {})
                assertEquals(Code.UNAVAILABLE, assertThrows<ParleyError> { failed.orThrow() }.code)
            }
            assertEquals(2, it.received.size)
        }
    }

    @ParameterizedTest
    @MethodSource("refusals")
    fun `what a server refuses is not sent again`(refusal: Line.Refusal) {
        PlayedServer(listOf(refusal)).use {
            val error = assertThrows<ParleyError> { runBlocking { it.client().turn() } }
            assertEquals(refusal.reason, error.reason)
            assertEquals(refusal.metadata, error.metadata)
            assertEquals("No.", error.message)
            assertEquals(1, it.received.size)
        }
    }

    @Test
    fun `who has no token calls nobody`() {
        PlayedServer().use {
            val client = it.client { error("signed out") }
            assertThrows<IllegalStateException> { runBlocking { client.turn() } }
            assertThrows<IllegalStateException> {
                runBlocking { client.turnEvents(streamTurnRequest {}).collect {} }
            }
            assertEquals(0, it.received.size)
        }
    }

    companion object {
        @JvmStatic
        fun breaks(): List<Arguments> =
            listOf(
                argumentSet("the server stops", STOPPED),
                argumentSet("the network breaks", Line.Cut),
                argumentSet("a proxy has no server", Line.Gone),
            )

        @JvmStatic
        fun refusals(): List<Arguments> =
            listOf(
                argumentSet("lost the race", LOST),
                argumentSet("no model", Line.Refusal("unavailable", "MODEL_NOT_CONFIGURED")),
            )
    }
}
