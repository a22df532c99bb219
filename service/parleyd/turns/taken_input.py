"""What a request brought, once it is checked and its files are stored (spec turns 3.2)."""

from dataclasses import dataclass

from parleyd.turns.model import Shown
from parleyd.turns.ports import AnswerOpening, PromptOpening, RetryOpening


@dataclass(frozen=True)
class TakenInput:
    """What a turn is opened with, and the files that came along as the model is shown them."""

    opening: PromptOpening | AnswerOpening | RetryOpening
    shown: tuple[Shown, ...] | None = None
