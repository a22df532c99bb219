"""How a failed turn is tried again from a terminal."""

from parley.v1.turns_pb2 import RetryInput
from parleyd.app.chat.menus import WRITE, Menu, MenuItem, PersonInput, pick_input
from parleyd.app.chat.terminal import Terminal


def try_again(turn_id: str) -> MenuItem:
    """Returns the line that goes on where a turn failed."""
    return MenuItem("Try again", RetryInput(turn_id=turn_id), "From where the agent got to")


async def read_after_failure(terminal: Terminal, turn_id: str) -> PersonInput | None:
    """Returns what the person does after a turn has failed, or nothing when they leave.

    Who thinks better of a message sees the menu again, and leaves from there.
    """
    menu = Menu((try_again(turn_id), WRITE))
    return await pick_input(terminal, "What now?", lambda: menu)
