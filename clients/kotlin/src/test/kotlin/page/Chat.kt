package page

import kotlinx.coroutines.flow.mapNotNull
import kotlinx.coroutines.flow.single
import parley.cardAnswer
import parley.connect
import parley.orThrow
import parley.turnEvents
import parley.v1.promptInput
import parley.v1.streamTurnRequest
import parley.v1.turnRequest

suspend fun main(arguments: Array<String>) {
    val (baseUrl, token) = arguments
    val client = connect(baseUrl) { token }

    val prompt = streamTurnRequest { prompt = promptInput { text = "Set up my plan" } }
    val ask = client.turnEvents(prompt).mapNotNull { if (it.hasAsk()) it.ask else null }.single()
    println("${ask.simple.text} ${ask.simple.buttonsList.map { it.label }}")

    val pressed = turnRequest {
        conversationId = ask.conversationId
        button = cardAnswer(ask, ask.simple.getButtons(0).id)
    }
    println(client.turns.turn(pressed).orThrow().result.text)
}
