package page

import kotlinx.coroutines.flow.firstOrNull
import kotlinx.coroutines.flow.toList
import okhttp3.MediaType.Companion.toMediaType
import okhttp3.MultipartBody
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.RequestBody
import okhttp3.RequestBody.Companion.toRequestBody
import parley.Client
import parley.ParleyError
import parley.cardAnswer
import parley.orThrow
import parley.turnEvents
import parley.v1.AskAsked
import parley.v1.AskOrigin
import parley.v1.TurnEvent.EventCase
import parley.v1.acceptAnswer
import parley.v1.answerInput
import parley.v1.askAnswer
import parley.v1.choiceAnswer
import parley.v1.confirmAnswer
import parley.v1.promptInput
import parley.v1.streamTurnRequest
import parley.v1.turnRequest
import parley.v1.watchTurnRequest

suspend fun say(client: Client, text: String, show: (String) -> Unit) {
    var writing = ""
    client.turnEvents(streamTurnRequest { prompt = promptInput { this.text = text } }).collect {
        writing = if (it.hasTextPreview()) writing + it.textPreview.delta else ""
        when (it.eventCase) {
            EventCase.TEXT_PREVIEW -> show(writing)
            EventCase.TEXT -> show(it.text.text)
            else -> Unit
        }
    }
}

suspend fun answer(client: Client, ask: AskAsked): String {
    val request = streamTurnRequest {
        conversationId = ask.conversationId
        if (ask.input.hasChoice()) {
            answer = answerInput {
                toolCallId = ask.toolCallId
                answer = askAnswer {
                    accept = acceptAnswer {
                        choice = choiceAnswer { selected += ask.input.choice.getOptions(0).id }
                    }
                }
            }
        } else {
            button = cardAnswer(ask, ask.simple.getButtons(0).id)
        }
    }
    return client.turnEvents(request).firstOrNull { it.hasText() }?.text?.text.orEmpty()
}

suspend fun decide(client: Client, ask: AskAsked, confirmed: Boolean): String {
    if (ask.origin == AskOrigin.ASK_ORIGIN_APPROVAL) {
        val shown = ask.toolArgsJson.replace(Regex("[^ -~]")) { "\\u%04x".format(it.value[0].code) }
        println("${ask.toolName} $shown")
    }
    val decision = turnRequest {
        conversationId = ask.conversationId
        answer = answerInput {
            toolCallId = ask.toolCallId
            answer = askAnswer {
                accept = acceptAnswer { confirm = confirmAnswer { this.confirmed = confirmed } }
            }
        }
    }
    return client.turns.turn(decision).orThrow().result.text
}

suspend fun goOn(client: Client, conversationId: String, turnId: String, last: Int) {
    val place = watchTurnRequest {
        this.conversationId = conversationId
        this.turnId = turnId
        afterSequence = last
    }
    client.turnEvents(place).collect { println("${it.sequence} ${it.eventCase}") }
}

suspend fun press(client: Client, ask: AskAsked, buttonId: String): String =
    try {
        val pressed = turnRequest {
            conversationId = ask.conversationId
            button = cardAnswer(ask, buttonId)
        }
        client.turns.turn(pressed).orThrow().result.text
    } catch (failed: ParleyError) {
        for (fault in failed.fields) println("${fault.path} ${fault.message} ${fault.fix}")
        if (failed.reason != "ASK_NOT_PENDING") throw failed
        "Somebody else was faster: ${failed.metadata["action"]}"
    }

fun upload(gateway: String, token: String, filename: String, data: RequestBody): String {
    val form =
        MultipartBody.Builder()
            .setType(MultipartBody.FORM)
            .addFormDataPart("file", filename, data)
            .build()
    val request =
        Request.Builder()
            .url("$gateway/v1/files:upload")
            .header("authorization", "Bearer $token")
            .post(form)
            .build()
    return OkHttpClient().newCall(request).execute().use { it.body.string() }
}

suspend fun main(arguments: Array<String>) {
    val (act, baseUrl, token) = arguments
    val client = parley.connect(baseUrl) { token }
    if (act == "say") return say(client, "Hello?", ::println)
    if (act == "upload") {
        val data = "Hi.".toByteArray().toRequestBody("text/plain".toMediaType())
        return println(upload(baseUrl, token, "notes.txt", data))
    }
    val prompt = streamTurnRequest { prompt = promptInput { text = "Set up my plan" } }
    val events = client.turnEvents(prompt).toList()
    val ask = events.single { it.hasAsk() }.ask
    when (act) {
        "answer" -> println(answer(client, ask))
        "decide" -> println(decide(client, ask, confirmed = true))
        "goOn" -> goOn(client, ask.conversationId, events[0].turnId, last = 1)
        "press" -> repeat(2) { println(press(client, ask, ask.simple.getButtons(0).id)) }
    }
}
