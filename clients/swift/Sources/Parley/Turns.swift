// The events of a turn to its end, whatever becomes of servers and connections on the way.

import Connect
import Foundation
import SwiftProtobuf

extension ParleyClient {
    /// Starts a turn and yields its events up to `done`: each once, in order.
    ///
    /// Where the stream breaks it goes on with `WatchTurn`, after growing pauses, until no server has
    /// said a word for `patience` seconds after the break. A request without an id gets one, so that
    /// the turn is started once. Leaving early leaves the turn running.
    ///
    /// Previews are among the events. Before a broken stream goes on they are withdrawn by a
    /// `previewDiscarded`, since a server begins them anew. Events newer than this client are left out.
    ///
    /// The stream throws a `ParleyError` where the server refuses, or patience is at its end; the turn
    /// may run nevertheless.
    public func turnEvents(
        _ request: Parley_V1_StreamTurnRequest, patience: TimeInterval = 60
    ) -> AsyncThrowingStream<Parley_V1_TurnEvent, Error> {
        var own = request
        if own.requestID.isEmpty {
            own.requestID = newID()
        }
        return self.following(Place(start: own, watch: nil), patience)
    }

    /// Watches a turn after a place, and yields its events in the same way.
    public func turnEvents(
        _ request: Parley_V1_WatchTurnRequest, patience: TimeInterval = 60
    ) -> AsyncThrowingStream<Parley_V1_TurnEvent, Error> {
        let start = Parley_V1_StreamTurnRequest()
        return self.following(Place(start: start, watch: request), patience)
    }

    private func following(
        _ place: Place, _ patience: TimeInterval
    ) -> AsyncThrowingStream<Parley_V1_TurnEvent, Error> {
        return AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    try await self.follow(place, patience) { event in
                        _ = continuation.yield(event)
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func follow(
        _ start: Place, _ patience: TimeInterval, tell: (Parley_V1_TurnEvent) -> Void
    ) async throws {
        var place = start
        var tries = 0
        // Counts from a break, not from the last word: an app may sleep before it notices.
        var broken: Date?
        while true {
            let error = await self.hear(place) { event in
                tries = 0
                broken = nil
                if let event = event, let news = place.move(event) {
                    tell(news)
                }
                return !place.done
            }
            try Task.checkCancellation()
            if place.done {
                return
            }
            let since = broken ?? Date()
            broken = since
            if !error.isBroken || Date().timeIntervalSince(since) > patience {
                throw error
            }
            if let event = place.withdrawn() {
                tell(event)
            }
            try await pause(after: tries)
            tries += 1
        }
    }

    /// Hears one stream until it ends or `hears` has enough. An empty response has no event.
    private func hear(
        _ place: Place, _ hears: (Parley_V1_TurnEvent?) -> Bool
    ) async -> ParleyError {
        if let request = place.watch {
            return await listen(self.streams.watchTurn(), request) { response in
                hears(response.hasEvent ? response.event : nil)
            }
        }
        return await listen(self.streams.streamTurn(), place.start) { response in
            hears(response.hasEvent ? response.event : nil)
        }
    }
}

private func listen<Input: ProtobufMessage, Output: ProtobufMessage>(
    _ stream: any ServerOnlyAsyncStreamInterface<Input, Output>,
    _ request: Input,
    _ hears: (Output) -> Bool
) async -> ParleyError {
    let tooEarly = ConnectError(code: .unavailable, message: "The stream ended too early.")
    defer { stream.cancel() }
    do {
        try stream.send(request)
    } catch {
        return ParleyError(ConnectError(code: .unavailable, message: nil, exception: error))
    }
    for await result in stream.results() {
        switch result {
        case .headers:
            continue
        case .message(let response):
            if !hears(response) {
                return ParleyError(tooEarly)
            }
        case .complete(let code, let error, _):
            if let failed = error as? ConnectError {
                return ParleyError(failed)
            }
            if code != .ok {
                return ParleyError(ConnectError(code: code, message: nil, exception: error))
            }
        }
    }
    return ParleyError(tooEarly)
}

/// Where a client is in a turn: what it sends next, and what is news to it.
private struct Place: Sendable {
    let start: Parley_V1_StreamTurnRequest
    var watch: Parley_V1_WatchTurnRequest?
    var done = false
    private var turnID = ""
    private var sequence: Int32
    private var previewing = false

    init(start: Parley_V1_StreamTurnRequest, watch: Parley_V1_WatchTurnRequest?) {
        self.start = start
        self.watch = watch
        self.sequence = watch?.afterSequence ?? 0
    }

    /// Moves on by an event, and returns what of it is news.
    mutating func move(_ event: Parley_V1_TurnEvent) -> Parley_V1_TurnEvent? {
        self.turnID = event.turnID
        if event.sequence == 0 {
            switch event.event {
            case .none:
                return nil
            case .some(.previewDiscarded):
                self.previewing = false
            default:
                self.previewing = true
            }
            return event
        }
        if event.sequence <= self.sequence {
            return nil
        }
        self.sequence = event.sequence
        if case .some(.done) = event.event {
            self.done = true
        }
        if case .some(.started(let started)) = event.event {
            var watch = Parley_V1_WatchTurnRequest()
            watch.conversationID = started.conversationID
            watch.turnID = event.turnID
            self.watch = watch
        }
        self.watch?.afterSequence = event.sequence
        let news = event.event == nil ? self.withdrawn() : event
        self.previewing = false
        return news
    }

    /// Returns the event that withdraws what the previews said, if they said anything.
    mutating func withdrawn() -> Parley_V1_TurnEvent? {
        if !self.previewing {
            return nil
        }
        self.previewing = false
        var event = Parley_V1_TurnEvent()
        event.turnID = self.turnID
        event.previewDiscarded = Parley_V1_PreviewDiscarded()
        return event
    }
}
