"""What a stream shows of a turn, with its previews (spec turns 6.5)."""

from collections.abc import Iterable, Mapping

from parley.v1 import turns_pb2


def names(events: Iterable[turns_pb2.TurnEvent]) -> list[str]:
    """Names events, previews too; of previews that follow each other one."""
    found: list[str] = []
    for event in events:
        name = event.WhichOneof("event") or ""
        if name != "text_preview" or found[-1:] != [name]:
            found.append(name)
    return found


def previewed(events: Iterable[turns_pb2.TurnEvent]) -> list[str]:
    """Returns the texts that were shown before their end, each as it was whole."""
    texts: list[str] = []
    open_text = False
    for event in events:
        if event.HasField("text_preview"):
            if not open_text:
                texts.append("")
            texts[-1] += event.text_preview.delta
        open_text = event.HasField("text_preview")
    return texts


class Previews:
    """Checks one stream as it comes, given the text of each step by the event before it.

    What is shown of a step is always the beginning of its text, and never comes after its end.
    """

    def __init__(self, steps: Mapping[int, str]) -> None:
        self.place = 0
        self.count = 0
        self._steps = steps
        self._shown = ""

    def take(self, event: turns_pb2.TurnEvent) -> None:
        """Takes the next event of the stream."""
        if event.sequence:
            assert event.sequence == self.place + 1
            self.place = event.sequence
            self._shown = ""
        elif event.HasField("text_preview"):
            self.count += 1
            self._shown += event.text_preview.delta
            assert self._steps[self.place].startswith(self._shown)
        else:
            assert event.HasField("preview_discarded")
            assert self._shown, "what was not shown can't be withdrawn"
            self._shown = ""


class Screen:
    """What a person sees of a turn: the client of spec turns 6.5, which may ignore previews."""

    def __init__(self) -> None:
        self.preview = ""
        self.reply = ""
        self.lines: list[tuple[str, str]] = []

    def show(self, event: turns_pb2.TurnEvent) -> None:
        """Shows the next event."""
        match event.WhichOneof("event"):
            case "text_preview":
                self.preview += event.text_preview.delta
                return
            case "preview_discarded":
                self.preview = ""
                return
            case "text":
                self.reply = event.text.text
            case "tool_call":
                self.lines.append((event.tool_call.tool_call_id, event.tool_call.args_json))
            case "tool_result":
                self.lines.append((event.tool_result.tool_call_id, event.tool_result.result_json))
            case "ask":
                self.lines.append((event.ask.tool_call_id, event.ask.input.prompt))
            case "error":
                self.lines.append(("error", event.error.message))
            case "done":
                self.lines.append(("done", f"{event.done.state} {event.done.retryable}"))
            case other:
                self.lines.append((str(other), ""))
        self.preview = ""

    @property
    def state(self) -> tuple[object, ...]:
        """Returns all that is on the screen."""
        return self.preview, self.reply, self.lines
