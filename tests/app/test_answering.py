"""What goes for every question that is answered in a terminal."""

from parley.v1.turns_pb2 import PromptInput
from tests.app.desk import Desk, answer, asked
from tests.app.keyboard import CTRL_C, DOWN, ENTER


async def test_a_message_may_be_written_instead(desk: Desk) -> None:
    said = await desk.answer(asked("confirm {}"), DOWN * 2, ENTER, "something else", ENTER)
    assert said == PromptInput(text="something else")


async def test_who_thinks_better_of_a_message_sees_the_menu_again(desk: Desk) -> None:
    said = await desk.answer(asked("confirm {}"), DOWN * 2, ENTER, "so", CTRL_C, ENTER)
    assert said == answer("accept { confirm { confirmed: true } }")


async def test_who_leaves_the_menu_has_not_answered(desk: Desk) -> None:
    assert await desk.answer(asked("confirm {}"), CTRL_C) is None
