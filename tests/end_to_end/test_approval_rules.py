"""Which calls need an approval: the tool says, once for each call (spec turns 9.2, 15.8)."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from pydantic import JsonValue

from parley.v1 import turns_pb2
from parleyd.models.script import Call, Fail, Hold, ScriptedStep
from parleyd.models.scripted import in_turn
from parleyd.turns.tools import HostTool, ToolContext
from tests.end_to_end.guarded import APPROVED, CLEAN_UP, DONE, GUARDED_PAUSE, approval
from tests.server import StartServer
from tests.standard_tools import DELETE, DELETE_ID, StandardTool, StandardTools, delete


@dataclass
class Rule:
    """Whether a call needs an approval, by its arguments; and of which calls that was asked."""

    asked: list[ToolContext] = field(default_factory=list[ToolContext])

    def needs(self, args: JsonValue, context: ToolContext) -> bool:
        self.asked.append(context)
        match args:
            case {"rule": "raise"}:
                raise RuntimeError("the rule is broken")
            case {"rule": "yes"}:
                return True
            case _:
                return False


@dataclass(frozen=True)
class RuledTool(StandardTool):
    """A tool whose calls need an approval where its rule says so."""

    rule: Rule = field(default_factory=Rule)

    async def needs_approval(self, args: JsonValue, context: ToolContext) -> bool:
        return self.rule.needs(args, context)


def ruled(tools: StandardTools, rule: Rule) -> Mapping[str, HostTool]:
    return {DELETE: RuledTool(DELETE, replay_safe=False, of=tools, rule=rule)}


@pytest.mark.parametrize(("says", "needed"), [("yes", True), ("no", False), ("raise", True)])
async def test_v13_a_rule_decides_of_each_call_and_a_broken_one_says_yes(
    start_server: StartServer, tools: StandardTools, says: str, *, needed: bool
) -> None:
    rule = Rule()
    server = await start_server(in_turn([delete(rule=says)], DONE), tools=ruled(tools, rule))
    noor = await server.person()

    played = await noor.prompt(CLEAN_UP)

    if needed:
        assert played.names == GUARDED_PAUSE
        assert tools.runs() == []
        answered = await noor.answer(played.conversation_id, played.ask.tool_call_id, approval())
        assert answered.names == APPROVED
    else:
        assert played.names == ["started", "tool_call", "tool_result", "text", "done"]
    (run,) = tools.runs()
    assert (run.approval_id is not None) == needed
    (context,) = rule.asked
    assert (context.tool_call_id, context.approval_id) == (DELETE_ID, None)
    assert context.idempotency_key == run.key


async def test_v13_a_rule_that_does_not_return_says_yes(
    start_server: StartServer, tools: StandardTools
) -> None:
    class Slow(StandardTool):
        async def needs_approval(self, args: JsonValue, context: ToolContext) -> bool:
            del args, context
            await asyncio.Event().wait()
            return False

    tool = Slow(DELETE, replay_safe=False, of=tools)
    server = await start_server(in_turn([delete()]), tools={DELETE: tool})
    assert (await (await server.person()).prompt(CLEAN_UP)).names == GUARDED_PAUSE
    assert tools.runs() == []


async def test_v13_the_rule_is_asked_once_whatever_becomes_of_the_turn(
    start_server: StartServer, tools: StandardTools
) -> None:
    rule = Rule()
    steps: list[ScriptedStep] = [[Fail("other")], [Hold("thinking"), *DONE]]
    first = await start_server(in_turn([delete(rule="yes")], *steps), tools=ruled(tools, rule))
    noor = await first.person()
    asked = await noor.prompt(CLEAN_UP)
    own = asked.conversation_id
    failed = await noor.answer(own, asked.ask.tool_call_id, approval())
    assert failed.names == ["started", "ask_resolved", "tool_result", "error", "done"]
    second = await start_server(in_turn(DONE), tools=ruled(tools, rule))
    elsewhere = await second.person()

    retry = turns_pb2.RetryInput(turn_id=failed.turn_id)
    request = turns_pb2.TurnRequest(conversation_id=own, retry=retry)
    retrying = asyncio.create_task(noor.run(request))
    async with asyncio.timeout(30):
        await first.model.holds.reached("thinking")
        retry_id = (await noor.conversation(own)).running_turn_id
        await first.stop()  # the other server takes the turn over
        watched = await elsewhere.watch(own, retry_id)
        await asyncio.gather(retrying, return_exceptions=True)

    assert watched.names == ["started", "resumed", "text", "done"]
    assert len(rule.asked) == 1
    assert len(tools.runs()) == 1


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(Call(DELETE, ["no object"], DELETE_ID), id="arguments that do not fit"),
        pytest.param(Call("deleteEverything", {}, DELETE_ID), id="no such tool"),
    ],
)
async def test_what_can_not_run_needs_no_approval(
    start_server: StartServer, tools: StandardTools, call: Call
) -> None:
    server = await start_server(in_turn([call], DONE), tools=tools.all_hosted)
    played = await (await server.person()).prompt(CLEAN_UP)
    assert played.names == ["started", "tool_call", "tool_result", "text", "done"]
    assert played.results[0].is_error
    assert tools.runs() == []
