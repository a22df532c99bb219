package parley

import com.connectrpc.ConnectException
import com.google.protobuf.ByteString
import parley.v1.File
import parley.v1.downloadFileRequest

/** A file that was downloaded: what is known of it, and its bytes. */
public class Download(public val file: File, public val data: ByteArray)

/**
 * Downloads a file into memory.
 *
 * @throws ParleyError where the server refuses, or the connection breaks.
 */
public suspend fun Client.downloadFile(fileId: String): Download {
    var file = File.getDefaultInstance()
    var data = ByteString.EMPTY
    val stream = files.downloadFile()
    val responses = stream.responseChannel()
    try {
        stream.sendAndClose(downloadFileRequest { this.fileId = fileId })
        for (response in responses) {
            if (response.hasFile()) file = response.file
            data = data.concat(response.chunk)
        }
    } catch (failed: ConnectException) {
        throw errorOf(failed)
    } finally {
        responses.cancel() // That ends the call.
    }
    return Download(file, data.toByteArray())
}
