"""What the demo agent says where there is nothing to do or to ask."""

import re
from typing import Final

from parleyd.models.demo.document import Document, spoken, suggestions
from parleyd.models.demo.reply import Reply
from parleyd.models.demo.words import quoted

_GREETING = re.compile(r"^(hi|hello|hey|good (morning|afternoon|evening)|greetings)\b")
_THANKS = re.compile(r"\b(thanks|thank you|thx|cheers)\b")
_HELP = re.compile(r"\b(help|what can you do|who are you|how do(es)? (you|this) work)\b")

_WISHES: Final = "“set up my plan”, “what is on my list?” or “book a table”"


def small_talk(prompt: str) -> Reply:
    """Returns a short reply to a prompt that is no wish, with what else one could say."""
    text = _said(prompt)
    buttons = suggestions("Set up my plan", "What is on my list?", "Show my sales")
    return Reply(text, Document((spoken(text), buttons)))


def _said(prompt: str) -> str:
    text = prompt.strip()
    folded = text.casefold()
    if _GREETING.search(folded):
        return (
            "Hello! I can set up your plan, plan your weekend, write an invitation, book a table, "
            "look at a document, and keep your todo list. What shall it be?"
        )
    if _THANKS.search(folded):
        return "You're welcome."
    if _HELP.search(folded):
        return (
            "I'm a demo agent without a language model. Say “set up my plan”, “plan my weekend”, "
            "“book a table”, “read my file”, “add milk to my list” or “delete my completed "
            "todos”, and where it matters I ask before I act."
        )
    if text.endswith("?"):
        return (
            "That is a good question, and more than a demo agent can answer. "
            f"Try {_WISHES} instead."
        )
    return f"You said {quoted(text)}. I'm a demo agent and make no more of it; try {_WISHES}."
