package parley

import parley.v1.AskAsked
import parley.v1.ButtonInput
import parley.v1.PendingAsk
import parley.v1.PendingAskSummary
import parley.v1.PendingAskView
import parley.v1.SimpleCard
import parley.v1.buttonInput

/**
 * Returns the `button` of a turn that presses a button of an ask's card.
 *
 * Every ask has a card. It is what to show where `input.kindCase` is `KIND_NOT_SET`: that is a kind
 * of question which this client does not know.
 *
 * @throws IllegalArgumentException where the card has no such button.
 */
public fun cardAnswer(ask: AskAsked, buttonId: String): ButtonInput =
    pressed(ask.toolCallId, ask.simple, buttonId)

/** Returns the same for the ask of a conversation. */
public fun cardAnswer(ask: PendingAskView, buttonId: String): ButtonInput =
    pressed(ask.toolCallId, ask.simple, buttonId)

/** Returns the same for an ask of the list of all that wait. */
public fun cardAnswer(ask: PendingAsk, buttonId: String): ButtonInput =
    pressed(ask.toolCallId, ask.simple, buttonId)

/** Returns the same for the ask of a turn's result. */
public fun cardAnswer(ask: PendingAskSummary, buttonId: String): ButtonInput =
    pressed(ask.toolCallId, ask.simple, buttonId)

private fun pressed(toolCallId: String, card: SimpleCard, buttonId: String): ButtonInput {
    val offered = card.buttonsList.map { it.id }
    require(buttonId in offered) { "The card has no button \"$buttonId\": press one of $offered." }
    return buttonInput {
        this.toolCallId = toolCallId
        this.buttonId = buttonId
    }
}
