// The Swift client of Parley: the generated stubs, and what it takes to use them.

import Connect
import Foundation
import SwiftProtobuf

// MARK: - Connecting

/// Returns a bearer token. It is asked before every try of a call, so it can renew the token.
public typealias Token = @Sendable () async throws -> String

/// A client for each service. It speaks Connect over `URLSession`, which watchOS has.
public final class ParleyClient: Sendable {
    public let turns: Parley_V1_TurnServiceClient
    public let conversations: Parley_V1_ConversationServiceClient
    public let files: Parley_V1_FileServiceClient
    public let datasets: Parley_V1_DatasetServiceClient
    public let contract: Parley_V1_AskContractServiceClient
    public let asks: Parley_V1_AskServiceClient
    public let generation: Parley_V1_BlockGenerationServiceClient
    let streams: Parley_V1_TurnServiceClient

    /// Returns a client of the gateway at `host`, as in `https://parley.example`.
    public init(host: String, token: @escaping Token) {
        // `turn` answers when the turn has ended, after 300 seconds at most.
        let calls = protocolClient(host: host, token: token, silence: 330)
        // A stream without a word for so long is dead: a server says something every 15 seconds.
        let quick = protocolClient(host: host, token: token, silence: 45)
        self.turns = Parley_V1_TurnServiceClient(client: calls)
        self.conversations = Parley_V1_ConversationServiceClient(client: calls)
        self.files = Parley_V1_FileServiceClient(client: calls)
        self.datasets = Parley_V1_DatasetServiceClient(client: calls)
        self.contract = Parley_V1_AskContractServiceClient(client: calls)
        self.asks = Parley_V1_AskServiceClient(client: calls)
        self.generation = Parley_V1_BlockGenerationServiceClient(client: calls)
        self.streams = Parley_V1_TurnServiceClient(client: quick)
    }
}

private func protocolClient(
    host: String, token: @escaping Token, silence: TimeInterval
) -> ProtocolClient {
    let session = URLSessionConfiguration.default
    session.timeoutIntervalForRequest = silence  // It begins anew with everything that comes.
    return ProtocolClient(
        httpClient: URLSessionHTTPClient(configuration: session),
        config: ProtocolClientConfig(
            host: host,
            networkProtocol: .connect,
            codec: ProtoCodec(),
            interceptors: [InterceptorFactory { _ in TokenInterceptor(token: token) }]
        )
    )
}

private final class TokenInterceptor: UnaryInterceptor, StreamInterceptor {
    private let token: Token

    init(token: @escaping Token) {
        self.token = token
    }

    @Sendable
    func handleUnaryRequest<Message: ProtobufMessage>(
        _ request: HTTPRequest<Message>,
        proceed: @escaping @Sendable (Result<HTTPRequest<Message>, ConnectError>) -> Void
    ) {
        Task { proceed(await self.authorized(request)) }
    }

    @Sendable
    func handleStreamStart(
        _ request: HTTPRequest<Void>,
        proceed: @escaping @Sendable (Result<HTTPRequest<Void>, ConnectError>) -> Void
    ) {
        Task { proceed(await self.authorized(request)) }
    }

    private func authorized<Message: Sendable>(
        _ request: HTTPRequest<Message>
    ) async -> Result<HTTPRequest<Message>, ConnectError> {
        do {
            let token = try await self.token()
            var headers = request.headers
            headers["authorization"] = ["Bearer \(token)"]
            return .success(
                HTTPRequest(
                    url: request.url,
                    headers: headers,
                    message: request.message,
                    method: request.method,
                    trailers: request.trailers,
                    idempotencyLevel: request.idempotencyLevel
                )
            )
        } catch {
            return .failure(
                ConnectError(code: .unauthenticated, message: "There is no token.", exception: error)
            )
        }
    }
}

// MARK: - Errors

/// A fault of one field of a request.
public struct FieldFault: Sendable {
    /// Points at the field in camelCase, as in `content.selected[0]`.
    public let path: String
    /// Names the rule that was broken, as in `TOO_LONG`.
    public let code: String
    public let message: String
    /// Says how to mend it; empty where the server had to leave it out.
    public let fix: String
}

/// Why a call failed, read from its status.
public struct ParleyError: Error, Sendable {
    public let code: Code
    public let message: String
    /// Is the name of an `ErrorReason` without its prefix; empty when the fault is not the server's
    /// word, as when it can't be reached.
    public let reason: String
    /// Holds the facts that `ErrorReason` lists for the reason.
    public let metadata: [String: String]
    /// Lists the faults of single fields.
    public let fields: [FieldFault]

    /// Reads what the server says of a failed call.
    public init(_ error: ConnectError) {
        let infos: [Google_Rpc_ErrorInfo] = error.unpackedDetails()
        let fixable: [Parley_V1_AskFieldErrors] = error.unpackedDetails()
        let broken: [Google_Rpc_BadRequest] = error.unpackedDetails()
        let info = infos.first { $0.domain == "parley" }
        var fields = fixable.flatMap { $0.errors }.map {
            FieldFault(path: $0.path, code: $0.code, message: $0.message, fix: $0.fix)
        }
        if fields.isEmpty {
            fields = broken.flatMap { $0.fieldViolations }.map {
                FieldFault(path: $0.field, code: $0.reason, message: $0.description_p, fix: "")
            }
        }
        self.code = error.code
        self.message = error.message ?? ""
        self.reason = info?.reason ?? ""
        self.metadata = info?.metadata ?? [:]
        self.fields = fields
    }

    /// Says whether the call met a server that stops or can't be reached, so that it may be repeated.
    public var isUnavailable: Bool {
        return self.code == .unavailable && (self.reason.isEmpty || self.reason == "UNAVAILABLE")
    }

    /// Says whether a stream broke on its way. A time-out is a silence: no deadline is sent.
    var isBroken: Bool {
        let ways: [Code] = [.canceled, .internalError, .unknown, .deadlineExceeded]
        return self.isUnavailable || (self.reason.isEmpty && ways.contains(self.code))
    }
}

extension ParleyError: LocalizedError {
    public var errorDescription: String? {
        return self.message
    }
}

extension ResponseMessage {
    /// Returns what a response holds.
    ///
    /// - throws: `ParleyError` where the call failed.
    public func orThrow() throws -> Output {
        switch self.result {
        case .success(let message):
            return message
        case .failure(let error):
            throw ParleyError(error)
        }
    }
}

// MARK: - Repeats

/// A request that may be sent again, since it can have an id.
public protocol Repeatable: Sendable {
    var requestID: String { get set }
}

extension Parley_V1_TurnRequest: Repeatable {}
extension Parley_V1_CreateConversationRequest: Repeatable {}

extension ParleyClient {
    /// Sends a request, and again where a server stops or can't be reached: five times at most, after
    /// growing pauses. A request without an id gets one, so that every repeat gets what the first made.
    ///
    ///     try await client.send(request) { await client.turns.turn(request: $0) }
    ///
    /// - throws: `ParleyError` where the server refuses, or no try was answered.
    public func send<Request: Repeatable, Response: ProtobufMessage>(
        _ request: Request,
        with call: (Request) async -> ResponseMessage<Response>
    ) async throws -> Response {
        var own = request
        if own.requestID.isEmpty {
            own.requestID = newID()
        }
        let sent = own
        return try await self.read { await call(sent) }
    }

    /// Reads, and again in the same way. For calls that change nothing alone.
    ///
    /// - throws: `ParleyError` where the server refuses, or no try was answered.
    public func read<Response: ProtobufMessage>(
        _ call: () async -> ResponseMessage<Response>
    ) async throws -> Response {
        var tries = 0
        while true {
            do {
                return try await call().orThrow()
            } catch let error as ParleyError {
                tries += 1
                if tries == 5 || !error.isUnavailable {
                    throw error
                }
            }
            try await pause(after: tries - 1)
        }
    }
}

func newID() -> String {
    return UUID().uuidString.lowercased()
}

/// Waits before the next try: the longer the more tries there were, and never as long as others.
func pause(after tries: Int) async throws {
    let seconds = min(0.1 * pow(2, Double(tries)), 5) * Double.random(in: 0.5...1)
    try await Task.sleep(nanoseconds: UInt64(seconds * 1_000_000_000))
}

// MARK: - Questions

/// A question with its card, wherever it comes from: an event, a conversation, a list.
public protocol Asked {
    var toolCallID: String { get }
    var simple: Parley_V1_SimpleCard { get }
}

extension Parley_V1_AskAsked: Asked {}
extension Parley_V1_PendingAsk: Asked {}
extension Parley_V1_PendingAskView: Asked {}
extension Parley_V1_PendingAskSummary: Asked {}

/// The card has no such button.
public struct NoSuchButton: Error, Sendable {
    public let buttonID: String
}

/// Returns the `button` of a turn that presses a button of an ask's card.
///
/// Every ask has a card. It is what to show where `input.kind` is nil: that is a kind of question
/// which this client does not know.
///
/// - throws: `NoSuchButton`.
public func cardAnswer(_ ask: some Asked, buttonID: String) throws -> Parley_V1_ButtonInput {
    guard ask.simple.buttons.contains(where: { $0.id == buttonID }) else {
        throw NoSuchButton(buttonID: buttonID)
    }
    var input = Parley_V1_ButtonInput()
    input.toolCallID = ask.toolCallID
    input.buttonID = buttonID
    return input
}
