/** What a person does with a real server, for a test that watches both sides. */
package parley

import com.google.protobuf.ByteString
import com.google.protobuf.CodedOutputStream
import com.squareup.moshi.Moshi
import kotlinx.coroutines.flow.filter
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.merge
import kotlinx.coroutines.flow.onEach
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import okhttp3.MediaType.Companion.toMediaType
import okhttp3.MultipartBody
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.RequestBody.Companion.toRequestBody
import parley.v1.AskAsked
import parley.v1.AskInput
import parley.v1.StreamTurnRequest
import parley.v1.Surface
import parley.v1.TurnEvent
import parley.v1.TurnRequest
import parley.v1.acceptAnswer
import parley.v1.answerInput
import parley.v1.askAnswer
import parley.v1.choiceAnswer
import parley.v1.confirmAnswer
import parley.v1.copy
import parley.v1.listConversationsRequest
import parley.v1.promptInput
import parley.v1.streamTurnRequest
import parley.v1.turnRequest
import parley.v1.watchTurnRequest

private val PROMPT = streamTurnRequest { prompt = promptInput { text = "Set up my workspace" } }
private val JSON = Moshi.Builder().build().adapter(Any::class.java).serializeNulls()

/** Is the number of a kind of question that no client knows. */
private const val NEWER_KIND = 1999

private fun say(vararg word: Pair<String, Any?>) {
    println(JSON.toJson(mapOf(*word)))
}

private fun say(event: TurnEvent) {
    val text = if (event.hasText()) event.text.text else null
    say(
        "name" to "${event.eventCase}",
        "sequence" to event.sequence,
        "turn" to event.turnId,
        "text" to text,
    )
}

/** Follows a turn, says its events, and returns what it asks. */
private suspend fun Client.follow(request: StreamTurnRequest): AskAsked? =
    turnEvents(request).onEach(::say).toList().find { it.hasAsk() }?.ask

private suspend fun Client.asked(): AskAsked =
    checkNotNull(follow(PROMPT)) { "The agent asked nothing." }

private fun chosen(ask: AskAsked, option: String): StreamTurnRequest = streamTurnRequest {
    conversationId = ask.conversationId
    answer = answerInput {
        toolCallId = ask.toolCallId
        answer = askAnswer {
            accept = acceptAnswer { choice = choiceAnswer { selected += option } }
        }
    }
}

private fun StreamTurnRequest.asUnary(): TurnRequest {
    val own = this
    return turnRequest {
        conversationId = own.conversationId
        answer = own.answer
    }
}

private suspend fun Client.press(ask: AskAsked) {
    val result =
        turns.turn(
                turnRequest {
                    conversationId = ask.conversationId
                    button = cardAnswer(ask, ask.simple.getButtons(0).id)
                    surface = Surface.SURFACE_COMPACT
                }
            )
            .orThrow()
            .result
    say("state" to "${result.state}", "text" to result.text)
}

/** Returns an ask as a client reads it that was built before choices: unknown bytes to it. */
private fun older(ask: AskAsked): AskAsked {
    val bytes = ByteString.newOutput()
    val output = CodedOutputStream.newInstance(bytes)
    output.writeMessage(NEWER_KIND, ask.input.choice)
    output.flush()
    return ask.copy {
        input = AskInput.parseFrom(bytes.toByteString())
        kindValue = NEWER_KIND
    }
}

private suspend fun refused(call: suspend () -> Unit) {
    try {
        call()
    } catch (failed: Exception) {
        val error = errorOf(failed)
        val fields =
            error.fields.map { (path, code, message, fix) ->
                mapOf("path" to path, "code" to code, "message" to message, "fix" to fix)
            }
        say(
            "code" to "${error.code}",
            "reason" to error.reason,
            "metadata" to error.metadata,
            "fields" to fields,
        )
    }
}

/** Sends a form, as the page on Kotlin does. */
private fun upload(data: ByteArray, filename: String, mimeType: String): String {
    val form =
        MultipartBody.Builder()
            .setType(MultipartBody.FORM)
            .addFormDataPart("file", filename, data.toRequestBody(mimeType.toMediaType()))
            .build()
    val (_, baseUrl, token) = given
    val request =
        Request.Builder()
            .url("$baseUrl/v1/files:upload")
            .header("authorization", "Bearer $token")
            .post(form)
    OkHttpClient().newCall(request.build()).execute().use { response ->
        val told = JSON.fromJson(response.body.string()) as Map<*, *>
        check(response.isSuccessful) { told["message"] as String }
        return (told["file"] as Map<*, *>)["fileId"] as String
    }
}

private var given = listOf<String>()

private val SCENES: Map<String, suspend Client.() -> Unit> =
    mapOf(
        "follow" to { follow(PROMPT) },
        "answer" to
            {
                val ask = asked()
                check(ask.input.hasChoice()) { "The agent asked for no choice." }
                follow(chosen(ask, ask.input.choice.getOptions(0).id))
            },
        "press" to { press(asked()) },
        "press-older" to
            {
                val ask = older(asked())
                say("knows" to "${ask.input.kindCase}", "kind" to "${ask.kind}")
                press(ask)
            },
        "approve" to
            {
                val ask = asked()
                say(
                    "origin" to "${ask.origin}",
                    "toolName" to ask.toolName,
                    "toolArgsJson" to ask.toolArgsJson,
                )
                val yes = answerInput {
                    toolCallId = ask.toolCallId
                    answer = askAnswer {
                        accept = acceptAnswer { confirm = confirmAnswer { confirmed = true } }
                    }
                }
                follow(
                    streamTurnRequest {
                        conversationId = ask.conversationId
                        answer = yes
                    }
                )
            },
        "document" to
            {
                turnEvents(PROMPT).filter { it.hasBlocks() }.collect { event ->
                    for (block in event.blocks.document.blocksList) {
                        say("block" to "${block.blockCase}", "heading" to block.heading.text)
                    }
                }
            },
        "refused" to
            {
                val ask = asked()
                refused { turns.turn(chosen(ask, "no-such-option").asUnary()).orThrow() }
                val lost = chosen(ask, "team").copy { conversationId = "no-such-id" }
                refused { turnEvents(lost).collect {} }
                press(ask)
                refused { turns.turn(chosen(ask, "team").asUnary()).orThrow() }
                refused { turnEvents(chosen(ask, "team")).collect {} }
            },
        "again" to
            {
                var place = watchTurnRequest {}
                turnEvents(PROMPT).collect {
                    if (it.hasStarted()) {
                        place = watchTurnRequest {
                            conversationId = it.started.conversationId
                            turnId = it.turnId
                            afterSequence = it.sequence
                        }
                    }
                }
                turnEvents(place).collect(::say)
            },
        "files" to
            {
                val data = "a,b\n1,2\n".repeat(20_000).toByteArray()
                val fileId = upload(data, "plan.csv", "text/csv")
                val got = downloadFile(fileId)
                say(
                    "filename" to got.file.filename,
                    "type" to got.file.mimeType,
                    "same" to data.contentEquals(got.data),
                )
                refused { downloadFile(fileId.replace(Regex("[0-9a-f]"), "0")) }
            },
        "renewed" to
            {
                refused { conversations.listConversations(listConversationsRequest {}).orThrow() }
                val list = conversations.listConversations(listConversationsRequest {}).orThrow()
                say("conversations" to list.conversationsCount)
            },
        /** Opens more streams than OkHttp would by itself. */
        "many" to
            {
                val turns = List(8) { follow -> flow { turnEvents(PROMPT).collect { emit(follow) } } }
                turns.merge().toList()
                say("done" to true)
            },
    )

/** `Scenes SCENE BASE_URL TOKEN…`: of several tokens every call takes the next; the last stays. */
fun main(arguments: Array<String>) {
    given = arguments.toList()
    val (scene, baseUrl) = arguments
    val tokens = ArrayDeque(arguments.drop(2))
    val client = connect(baseUrl) { if (tokens.size > 1) tokens.removeFirst() else tokens.first() }
    runBlocking { SCENES.getValue(scene)(client) }
}
