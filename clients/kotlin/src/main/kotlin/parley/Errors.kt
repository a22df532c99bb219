package parley

import com.connectrpc.Code
import com.connectrpc.ConnectException
import com.connectrpc.ResponseMessage
import com.connectrpc.fold
import java.io.IOException
import okio.ByteString
import parley.google.rpc.BadRequest
import parley.google.rpc.ErrorInfo
import parley.v1.AskFieldErrors

/** A fault of one field of a request. */
public data class FieldFault(
    /** Points at the field in camelCase, as in `content.selected[0]`. */
    val path: String,
    /** Names the rule that was broken, as in `TOO_LONG`. */
    val code: String,
    val message: String,
    /** Says how to mend it; empty where the server had to leave it out. */
    val fix: String,
)

/** Why a call failed. */
public class ParleyError(
    public val code: Code,
    override val message: String,
    /**
     * Is the name of an `ErrorReason` without its prefix; empty when the fault is not the server's
     * word, as when it can't be reached.
     */
    public val reason: String = "",
    /** Holds the facts that `ErrorReason` lists for the reason. */
    public val metadata: Map<String, String> = emptyMap(),
    /** Lists the faults of single fields. */
    public val fields: List<FieldFault> = emptyList(),
    cause: Throwable? = null,
) : Exception(message, cause) {
    /** Says whether a call met a server that stops or can't be reached: it may be repeated. */
    internal val isUnavailable: Boolean
        get() = code == Code.UNAVAILABLE && (reason.isEmpty() || reason == "UNAVAILABLE")
}

/**
 * Returns the message of a response.
 *
 * @throws ParleyError where the call failed.
 */
public fun <T> ResponseMessage<T>.orThrow(): T = fold({ it }, { throw errorOf(it) })

/** Returns what the server says of a failed call. */
public fun errorOf(failed: Throwable): ParleyError {
    if (failed is ParleyError) return failed
    val details = (failed as? ConnectException)?.details.orEmpty().map { it.type to it.payload }
    val infos = details.of("google.rpc.ErrorInfo", ErrorInfo::parseFrom)
    val info = infos.find { it.domain == "parley" }
    val fixable = details.of("parley.v1.AskFieldErrors", AskFieldErrors::parseFrom)
    val broken = details.of("google.rpc.BadRequest", BadRequest::parseFrom)
    val faults =
        fixable.flatMap { it.errorsList }.map { FieldFault(it.path, it.code, it.message, it.fix) }
    return ParleyError(
        code = codeOf(failed, told = info != null),
        message = failed.message ?: failed.cause?.message ?: "The call failed.",
        reason = info?.reason.orEmpty(),
        metadata = info?.metadataMap.orEmpty(),
        fields =
            faults.ifEmpty {
                broken
                    .flatMap { it.fieldViolationsList }
                    .map { FieldFault(it.field, it.reason, it.description, fix = "") }
            },
        cause = failed,
    )
}

/**
 * Returns the code of a failed call. No connection, or one that broke, is UNAVAILABLE as in gRPC:
 * the transport has other codes for it.
 */
private fun codeOf(failed: Throwable, told: Boolean): Code {
    if (failed !is ConnectException) return Code.UNKNOWN
    val cut = failed.exception is IOException && failed.code in CUT
    return if (cut && !told) Code.UNAVAILABLE else failed.code
}

/** How the transport calls it: it knows none of the time limits that a caller could have set. */
private val CUT = setOf(Code.UNKNOWN, Code.DEADLINE_EXCEEDED)

private fun <T> List<Pair<String, ByteString>>.of(type: String, parse: (ByteArray) -> T): List<T> =
    filter { (name, _) -> name.substringAfterLast('/') == type }
        .map { (_, payload) -> parse(payload.toByteArray()) }
