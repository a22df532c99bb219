"""What the demo agent replies, in words and as a document."""

from dataclasses import dataclass

from parleyd.models.demo.document import Document, spoken


@dataclass(frozen=True)
class Reply:
    """A reply in words, which is all there is of it unless `shown` says more where it can."""

    text: str
    shown: Document | None = None

    @property
    def document(self) -> Document:
        """Is the reply where it is to be a document."""
        return self.shown or Document((spoken(self.text),))

    def after(self, text: str) -> "Reply":
        """Returns the reply with something said before it, if there is anything to say."""
        if not text:
            return self
        shown = self.shown.after(spoken(text)) if self.shown else None
        return Reply(f"{text} {self.text}", shown)
