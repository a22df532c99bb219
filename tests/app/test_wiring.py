"""The service as it is put together: models, the address, and how it stops."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest
from pydantic import AnyHttpUrl, JsonValue, SecretStr
from structlog.testing import capture_logs

import parley
from parley.v1.conversations_pb2 import ListConversationsRequest, Message
from parleyd.app.faults import CommandFailed, ConfigurationError
from parleyd.app.identity import authenticator_of, development_token
from parleyd.app.settings import Settings
from parleyd.app.wiring import Replacements, RunningService, running_service
from parleyd.models.script import Hold, Text
from parleyd.models.scripted import ScriptedModel, in_turn
from parleyd.tools import TurnContext, tool
from parleyd.turns.model import Model
from tests.end_to_end.person import Person, refused
from tests.models.fake_gemini import FakeGemini, frame

DEADLINE = 10


@pytest.fixture
def here(tmp_path: Path) -> Settings:
    """The settings of somebody's own machine."""
    return Settings(environment="development", port=0, data_dir=tmp_path)


@asynccontextmanager
async def serving(
    settings: Settings, database_url: str, model: Model | None = None
) -> AsyncGenerator[tuple[RunningService, Person]]:
    """Runs a service and somebody with a token for it."""
    async with (
        running_service(
            settings, database_url=database_url, replacements=Replacements(model=model)
        ) as service,
        parley.connect(service.address, development_token(settings)) as client,
    ):
        yield service, Person(client)


async def test_in_development_the_demo_agent_answers(here: Settings, database_url: str) -> None:
    async with serving(here, database_url) as (_, person):
        played = await person.prompt("Hello")
        replies = await _replies(person, played.conversation_id)
    assert [(reply.model, reply.text) for reply in replies] == [("demo", played.text)]


async def test_with_a_key_gemini_answers(here: Settings, database_url: str) -> None:
    fake = FakeGemini()
    fake.answer(frame({"text": "Hello, I am Gemini."}, finish="STOP"))
    fake.answer(frame({"text": "A greeting"}, finish="STOP"))
    async with fake.serving():
        gemini = here.model_copy(
            update={
                "gemini_api_key": SecretStr("AIza-key"),
                "gemini_base_url": AnyHttpUrl(fake.url),
                "title_model": "gemini-title",
            }
        )
        async with serving(gemini, database_url) as (_, person):
            played = await person.prompt("Hello")
            replies = await _replies(person, played.conversation_id)
    assert [(reply.model, reply.text) for reply in replies] == [
        ("gemini-flash-latest", "Hello, I am Gemini.")
    ]
    assert played.done.title == "A greeting"
    turn, title = fake.received
    assert "/models/gemini-flash-latest:" in turn.path
    assert "/models/gemini-title:" in title.path
    assert turn.headers["x-goog-api-key"] == "AIza-key"


async def test_without_a_model_turns_are_refused_and_the_log_says_why(
    here: Settings, database_url: str
) -> None:
    with capture_logs() as logs:
        async with (
            running_service(
                Settings(port=0),
                database_url=database_url,
                replacements=Replacements(authenticator=authenticator_of(here)),
            ) as service,
            parley.connect(service.address, development_token(here)) as client,
        ):
            error = parley.error_of(await refused(Person(client).prompt("Hello")))
    assert error.reason == "MODEL_NOT_CONFIGURED"
    assert "no_model" in [line["event"] for line in logs]


async def test_the_settings_reach_the_turns(here: Settings, database_url: str) -> None:
    model = ScriptedModel(in_turn([Text("Hello.")]))
    told = here.model_copy(update={"asks": ("confirm",), "system_prompt": "Speak like a pirate."})
    async with serving(told, database_url, model) as (_, person):
        await person.prompt("Hello")
    (call,) = model.calls
    assert [tool.name for tool in call.tools] == ["ask_confirm"]
    assert call.system
    assert call.system.startswith("Speak like a pirate.")


@tool
def lookup() -> int:
    """Counts."""
    return 3


def no_tools(context: TurnContext) -> None:
    del context


def words(args: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {"prompt": f"Delete {len(args)} things?"}


WORDS = f"{__name__}:words"


async def test_a_wording_that_is_none_stops_the_start(here: Settings, database_url: str) -> None:
    for path, told in (
        (f"{__name__}:nothing", "`tests.app.test_wiring:nothing` names nothing"),
        (f"{__name__}:DEADLINE", "is a int: name a function instead"),
    ):
        worded = here.model_copy(update={"approval_wordings": {"delete": path}})
        with pytest.raises(ConfigurationError, match=told):
            async with running_service(worded, database_url=database_url):
                pass


@pytest.mark.parametrize(
    ("tools", "idle"),
    [({}, ["lookup"]), ({"tools": ("tests.app.test_wiring:lookup",)}, [])],
    ids=["a tool that there is not", "a tool that there is"],
)
async def test_a_wording_of_no_tool_is_warned_of(
    here: Settings, database_url: str, tools: dict[str, object], idle: list[str]
) -> None:
    worded = here.model_copy(update={"approval_wordings": {"lookup": WORDS}, **tools})
    with capture_logs() as logs:
        async with running_service(worded, database_url=database_url):
            pass
    warned = [line["tool"] for line in logs if line["event"] == "approval_wording_idle"]
    assert warned == idle


async def test_a_wording_is_not_warned_of_where_tools_come_later(
    here: Settings, database_url: str
) -> None:
    later = {"approval_wordings": {"lookup": WORDS}, "request_tools": f"{__name__}:no_tools"}
    with capture_logs() as logs:
        async with running_service(here.model_copy(update=later), database_url=database_url):
            pass
    assert "approval_wording_idle" not in [line["event"] for line in logs]


async def test_an_address_that_is_taken_is_said_so(here: Settings, database_url: str) -> None:
    async with serving(here, database_url) as (service, _):
        port = int(service.address.rpartition(":")[2])
        settings = here.model_copy(update={"port": port})
        with pytest.raises(CommandFailed, match=f"The address 127.0.0.1:{port} can't be had"):
            async with running_service(settings, database_url=database_url):
                pass


async def test_stopping_hands_running_turns_over_and_tells_their_followers(
    here: Settings, database_url: str
) -> None:
    model = ScriptedModel(in_turn([Hold("late"), Text("Here I am.")]))
    async with serving(here, database_url, model) as (service, person):
        running = asyncio.create_task(refused(person.prompt("Wait for it")))
        async with asyncio.timeout(DEADLINE):
            await model.holds.reached("late")
            await service.stop()
            error = await running
    assert error.code() == grpc.StatusCode.UNAVAILABLE
    other = ScriptedModel(in_turn([Text("Here I am.")]))
    async with serving(here, database_url, other) as (_, person), asyncio.timeout(DEADLINE):
        (conversation,) = await _conversations(person)
        while not (replies := await _replies(person, conversation)):
            await asyncio.sleep(0.05)
    assert [reply.text for reply in replies] == ["Here I am."]


async def test_stopping_does_not_wait_for_ever(here: Settings, database_url: str) -> None:
    model = ScriptedModel(in_turn([Hold("never"), Text("Too late.")]))
    async with serving(here, database_url, model) as (service, person):
        running = asyncio.create_task(refused(person.prompt("Wait for it")))
        async with asyncio.timeout(DEADLINE):
            await model.holds.reached("never")
            await service.stop(0.2)
            error = await running
    assert error.code() == grpc.StatusCode.UNAVAILABLE


async def test_stopping_twice_changes_nothing(here: Settings, database_url: str) -> None:
    async with serving(here, database_url) as (service, _), asyncio.timeout(DEADLINE):
        await service.stop()
        await service.stop()


async def _replies(person: Person, conversation_id: str) -> list[Message]:
    return [
        message
        for message in await person.messages(conversation_id)
        if message.type == Message.TYPE_ASSISTANT
    ]


async def _conversations(person: Person) -> list[str]:
    response = await person.client.conversations.ListConversations(ListConversationsRequest())
    return [each.conversation_id for each in response.conversations]
