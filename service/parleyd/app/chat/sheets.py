"""Which sheet a question is answered on."""

from typing import assert_never

from parley import Client
from parley.v1.asks_pb2 import ChoiceInput
from parleyd.app.chat.answered_files import AnsweredFiles
from parleyd.app.chat.drafts import Draft
from parleyd.app.chat.forms import Form
from parleyd.app.chat.menus import Sheet
from parleyd.app.chat.questions import OpenQuestion
from parleyd.app.chat.several_picks import SeveralPicks
from parleyd.app.chat.single_picks import card_buttons, choice_of_one, confirm


def sheet_of(question: OpenQuestion, client: Client | None = None) -> Sheet:
    """Returns an empty sheet for `question`; files are uploaded through `client`, if it is given.

    What this terminal does not understand is offered as the buttons of its card, so that it can be
    answered all the same.
    """
    kind = question.kind
    match kind:
        case "choice" if question.input.choice.select == ChoiceInput.SELECT_ONE:
            return choice_of_one(question)
        case "choice":
            return SeveralPicks(question)
        case "confirm":
            return confirm(question)
        case "markdown":
            return Draft(question)
        case "form":
            return Form(question)
        case "files":
            return AnsweredFiles(question, client)
        case None:
            return card_buttons(question)
        case _:
            assert_never(kind)
