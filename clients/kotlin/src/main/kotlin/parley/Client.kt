package parley

import com.connectrpc.ProtocolClientConfig
import com.connectrpc.ProtocolClientInterface
import com.connectrpc.impl.ProtocolClient
import com.connectrpc.okhttp.ConnectOkHttpClient
import com.connectrpc.protocols.NetworkProtocol
import java.util.concurrent.Executors
import kotlinx.coroutines.Dispatchers
import okhttp3.Dispatcher
import okhttp3.OkHttpClient
import parley.v1.AskContractServiceClient
import parley.v1.AskContractServiceClientInterface
import parley.v1.AskServiceClient
import parley.v1.AskServiceClientInterface
import parley.v1.BlockGenerationServiceClient
import parley.v1.BlockGenerationServiceClientInterface
import parley.v1.ConversationServiceClient
import parley.v1.ConversationServiceClientInterface
import parley.v1.DatasetServiceClient
import parley.v1.DatasetServiceClientInterface
import parley.v1.FileServiceClient
import parley.v1.FileServiceClientInterface
import parley.v1.TurnServiceClient
import parley.v1.TurnServiceClientInterface

/**
 * Returns a client that speaks Connect to the gateway at [baseUrl], as in `https://parley.example`.
 *
 * [token] returns a bearer token. It is asked before every try of a call, so it can renew it.
 * [http] is what an app has of its own: whom it trusts, how it connects. Its time limits on calls
 * don't count, for a turn may take its time, and it repeats nothing by itself. It connects with the
 * first call, and needs no closing: what is idle is let go.
 */
public fun connect(
    baseUrl: String,
    http: OkHttpClient = OkHttpClient(),
    token: suspend () -> String,
): Client {
    val wire =
        ConnectOkHttpClient.configureClient(http.newBuilder())
            // It would repeat what must not be: `Calls` knows what may.
            .retryOnConnectionFailure(false)
            .dispatcher(streams())
            .build()
    val config =
        ProtocolClientConfig(
            host = baseUrl,
            serializationStrategy = LiteMessages,
            networkProtocol = NetworkProtocol.CONNECT,
            ioCoroutineContext = Dispatchers.IO,
        )
    return Client(Calls(ProtocolClient(ConnectOkHttpClient(wire), config), token))
}

/** A client for each service. Calls throw nothing: `orThrow()` returns what a response holds. */
public class Client internal constructor(calls: ProtocolClientInterface) {
    public val turns: TurnServiceClientInterface = TurnServiceClient(calls)
    public val conversations: ConversationServiceClientInterface = ConversationServiceClient(calls)
    public val files: FileServiceClientInterface = FileServiceClient(calls)
    public val datasets: DatasetServiceClientInterface = DatasetServiceClient(calls)
    public val asks: AskServiceClientInterface = AskServiceClient(calls)
    public val generation: BlockGenerationServiceClientInterface = BlockGenerationServiceClient(calls)
    public val contract: AskContractServiceClientInterface = AskContractServiceClient(calls)
}

/**
 * Returns where calls run. Every stream holds a thread and counts as a request: OkHttp's five for
 * a host would let the sixth wait for the end of a turn. No thread keeps a program from its end.
 */
private fun streams(): Dispatcher {
    val threads =
        Executors.newCachedThreadPool { work -> Thread(work, "parley").apply { isDaemon = true } }
    return Dispatcher(threads).apply { maxRequestsPerHost = maxRequests }
}
