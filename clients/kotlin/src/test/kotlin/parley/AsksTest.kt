package parley

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import parley.v1.askAsked
import parley.v1.buttonInput
import parley.v1.pendingAsk
import parley.v1.pendingAskSummary
import parley.v1.pendingAskView
import parley.v1.simpleCard
import parley.v1.simpleCardButton

private val CARD = simpleCard {
    text = "Which plan?"
    buttons += listOf("option:team", "cancel").map { simpleCardButton { id = it } }
}

class AsksTest {
    @Test
    fun `a button of a card is an answer wherever the card comes from`() {
        val pressed = buttonInput {
            toolCallId = "call-1"
            buttonId = "cancel"
        }
        val asked = askAsked { toolCallId = "call-1"; simple = CARD }
        val viewed = pendingAskView { toolCallId = "call-1"; simple = CARD }
        val listed = pendingAsk { toolCallId = "call-1"; simple = CARD }
        val summary = pendingAskSummary { toolCallId = "call-1"; simple = CARD }
        assertEquals(pressed, cardAnswer(asked, "cancel"))
        assertEquals(pressed, cardAnswer(viewed, "cancel"))
        assertEquals(pressed, cardAnswer(listed, "cancel"))
        assertEquals(pressed, cardAnswer(summary, "cancel"))
    }

    @Test
    fun `a button that a card does not have is refused with those that it has`() {
        val fault = assertThrows<IllegalArgumentException> {
            cardAnswer(askAsked { simple = CARD }, "accept")
        }
        assertTrue("[option:team, cancel]" in fault.message!!)
    }
}
