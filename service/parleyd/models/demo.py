"""The demo agent: answers like a small assistant, without a vendor, a key or a memory.

It decides from the messages alone, on the code path of every scripted model. A prompt makes it ask
once at most; whatever comes back, it replies.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from pydantic import JsonValue

from parleyd.models.played import PlayedModel
from parleyd.models.script import (
    Call,
    ScriptedMessage,
    ScriptedStep,
    Text,
    after_prompt,
    as_message,
    last_prompt,
)
from parleyd.turns.model import (
    ModelCall,
    Part,
    TextPart,
    ToolOutcome,
)

PROVIDER = "demo"
MODEL_ID = "demo"

PLANS = {"starter": "Starter", "team": "Team", "enterprise": "Enterprise"}
WORDS_A_PART = 3
TITLE_WORDS = 5

_PLAN = re.compile(
    r"\b(set ?up|choose|pick|change|switch|upgrade|downgrade|select)\b.*\bplans?\b|\bwhich plan\b"
)
_TODOS = re.compile(
    r"\b(delete|remove|clear|clean ?up|purge|drop)\b.*\b(to-?dos?|tasks?|completed)\b"
)
_GREETING = re.compile(r"^(hi|hello|hey|good (morning|afternoon|evening)|greetings)\b")
_THANKS = re.compile(r"\b(thanks|thank you|thx|cheers)\b")
_HELP = re.compile(r"\b(help|what can you do|who are you|how do(es)? (you|this) work)\b")
_LABEL = re.compile(r"^[A-Za-z ]{1,20}:\s+")

_Reply = Callable[[dict[str, JsonValue]], str]


@dataclass(frozen=True)
class _Question:
    """Something the agent asks: how it knows that it has to, and what it says then."""

    tool: str
    asked_for: re.Pattern[str]
    input: dict[str, JsonValue]
    in_words: str
    accepted: _Reply
    declined: str
    cancelled: str


def _plan_chosen(content: dict[str, JsonValue]) -> str:
    selected = content.get("selected")
    chosen = str(selected[0]) if isinstance(selected, list) and selected else ""
    return (
        f"Your workspace is on the {PLANS.get(chosen, chosen)} plan now. "
        "You can switch to another one whenever you like."
    )


def _todos_deleted(content: dict[str, JsonValue]) -> str:
    if content.get("confirmed") is True:
        return "Done: your completed todos are deleted. The open ones are untouched."
    return "All right, I deleted nothing. Your completed todos are still there."


_QUESTIONS = (
    _Question(
        tool="ask_choice",
        asked_for=_PLAN,
        input={
            "title": "Workspace plan",
            "prompt": "Which plan should your workspace have?",
            "select": "one",
            "options": [
                {"id": "starter", "label": "Starter", "description": "Free, for up to 3 people"},
                {"id": "team", "label": "Team", "description": "For up to 50 people"},
                {"id": "enterprise", "label": "Enterprise", "description": "As many as you are"},
            ],
            "default": ["team"],
        },
        in_words=(
            "There are three plans: Starter, Team and Enterprise. "
            "Team suits most workspaces; tell me which one you want."
        ),
        accepted=_plan_chosen,
        declined="No plan for now, then. Your workspace stays as it is.",
        cancelled="I left your plan as it is. Ask me again when you want to set it up.",
    ),
    _Question(
        tool="ask_confirm",
        asked_for=_TODOS,
        input={
            "title": "Delete completed todos",
            "prompt": "Delete all of your completed todos? This can't be undone.",
            "confirmLabel": "Delete them",
            "denyLabel": "Keep them",
            "destructive": True,
        },
        in_words=(
            "Deleting your completed todos can't be undone, and here I can't let you confirm it. "
            "So I leave them where they are."
        ),
        accepted=_todos_deleted,
        declined="I take that as a no: your completed todos are still there.",
        cancelled="I deleted nothing. Your completed todos are still there.",
    ),
)


class DemoModel(PlayedModel):
    """The keyless agent. `pause` is the time in seconds that it takes after each part of text."""

    def __init__(self, pause: float = 0.0) -> None:
        super().__init__(_decide, provider=PROVIDER, model_id=MODEL_ID)
        self._pause = pause

    async def play(self, step: ScriptedStep) -> AsyncGenerator[Part, None]:
        """Plays one step at the pace of somebody who types.

        Raises:
            ModelFailed: Never; a model may.
        """
        async with aclosing(super().play(step)) as parts:
            async for part in parts:
                yield part
                if self._pause and isinstance(part, TextPart):
                    await asyncio.sleep(self._pause)

    async def generate_text(self, system: str, prompt: str, temperature: float) -> str:
        """Returns the first words of the prompt's first line, without a label before them.

        Raises:
            ModelFailed: Never; a model may.
        """
        del system, temperature
        line = next(iter(prompt.strip().splitlines()), "")
        words = _LABEL.sub("", line).split()
        title = " ".join(words[:TITLE_WORDS]).strip(".,;:!?…")
        return title[:1].upper() + title[1:]


def _decide(call: ModelCall) -> ScriptedStep:
    prompt = last_prompt(call.messages)
    since = after_prompt(call.messages)
    if since:
        return _spoken(_reply_to_result(since[-1]))
    question = next((q for q in _QUESTIONS if q.asked_for.search(prompt.casefold())), None)
    if question is None:
        return _spoken(_set_aside(call) + _small_talk(prompt))
    if call.tool_choice == "none" or question.tool not in {tool.name for tool in call.tools}:
        return _spoken(question.in_words)
    return [Call(question.tool, question.input)]


def _reply_to_result(message: ScriptedMessage) -> str:
    """Replies to the answer of the ask that the prompt led to."""
    for outcome in message.parts:
        if not isinstance(outcome, ToolOutcome):
            continue
        for question in _QUESTIONS:
            if question.tool == outcome.name:
                return _reply_to_answer(question, outcome.value)
    return "That is all I can do here."


def _reply_to_answer(question: _Question, envelope: JsonValue) -> str:
    match envelope:
        case {"action": "accept", "content": dict(content)}:
            return question.accepted(content)
        case {"action": "decline"}:
            return question.declined
        case {"action": "cancel"}:
            return question.cancelled
        case _:
            return question.in_words


def _set_aside(call: ModelCall) -> str:
    """Owns up to a question that the prompt was sent instead of answering (spec turns 1)."""
    before = call.messages[-2:-1]
    if not before:
        return ""
    for outcome in as_message(before[0]).parts:
        match outcome:
            case ToolOutcome(value={"action": "cancel", "reason": "user_sent_message"}):
                return "I set my question aside. "
            case _:
                pass
    return ""


def _small_talk(prompt: str) -> str:
    text = prompt.strip()
    folded = text.casefold()
    if _GREETING.search(folded):
        return "Hello! I can set up your plan or delete your completed todos. What shall it be?"
    if _THANKS.search(folded):
        return "You're welcome."
    if _HELP.search(folded):
        return (
            "I'm a demo agent without a language model. "
            "Say “set up my plan” and I ask you which one, "
            "or “delete my completed todos” and I ask before I do it."
        )
    if text.endswith("?"):
        return (
            "That is a good question, and more than a demo agent can answer. "
            "Try “set up my plan” or “delete my completed todos”."
        )
    return (
        f"You said “{_shortened(text)}”. I'm a demo agent, so that is all I make of it; "
        "try “set up my plan” or “delete my completed todos”."
    )


def _shortened(text: str) -> str:
    words = text.split()
    short = " ".join(words[:8])[:80]
    return short if short == " ".join(words) else f"{short}…"


def _spoken(text: str) -> ScriptedStep:
    """Returns a step that says `text` a few words at a time."""
    words = re.findall(r"\S+\s*", text)
    return [
        Text("".join(words[start : start + WORDS_A_PART]))
        for start in range(0, len(words), WORDS_A_PART)
    ]
