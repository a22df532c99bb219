"""A function of the deployment becomes a tool, and stays a function."""

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.tools import ToolContext, ToolFailed, ToolsUnusable, tool
from parleyd.tools.bodies import called
from tests.tools.shop import CONTEXT, Line, find_order, place_order

if TYPE_CHECKING:
    from parleyd.turns.tools import HostTool

GOODS: dict[str, JsonValue] = {"lines": [{"goods": "tea", "count": 2}]}
request_id: ContextVar[str] = ContextVar("request_id")


def test_a_bare_tool_is_told_by_its_name_and_docstring() -> None:
    told: HostTool = find_order
    assert told.name == "find_order"
    assert told.description == "Finds an order by its id."
    assert (told.replay_safe, told.seconds) == (False, None)


def test_a_tool_with_arguments_is_told_by_them() -> None:
    told: HostTool = place_order
    assert told.name == "place.order"
    assert told.description == "Orders goods."
    assert (told.replay_safe, told.seconds) == (True, 5)


async def test_a_tool_is_still_a_function() -> None:
    assert find_order("7") == {"order": "7"}
    assert inspect.signature(find_order).parameters.keys() == {"order_id"}
    placed = await place_order([Line(goods="tea", count=1)], CONTEXT, how_many=3)
    assert placed["how_many"] == 3


async def test_arguments_arrive_as_the_values_of_their_annotations() -> None:
    result = await place_order.run(
        {**GOODS, "wanted": "2027-03-01", "most": 2.5, "size": "large", "how_many": 2}, CONTEXT
    )
    assert result == {
        "lines": [{"goods": "tea", "count": 2}],
        "wanted": "2027-03-01",
        "most": "2.5",
        "size": "large",
        "how_many": 2,
        "owner": "ada",
        "key": "chain/1/0",
    }


async def test_what_is_left_out_has_its_default() -> None:
    result = await place_order.run(GOODS, CONTEXT)
    assert isinstance(result, dict)
    assert (result["wanted"], result["most"], result["size"]) == (None, "9.50", "small")


async def test_a_default_is_the_very_object_of_the_function() -> None:
    marker = object()

    @tool
    def same(it: object = marker) -> bool:
        """Compares."""
        return it is marker

    assert await same.run({}, CONTEXT) is True


async def test_parameters_may_have_any_name() -> None:
    @tool
    def odd(schema: int, model_config: int, _id: int, json: int, function: int, self: int) -> int:
        """Adds."""
        return schema + model_config + _id + json + function + self

    args: JsonValue = dict.fromkeys(
        ("schema", "model_config", "_id", "json", "function", "self"), 1
    )
    assert odd.faults(args) is None
    assert await odd.run(args, CONTEXT) == 6


async def test_a_function_runs_in_a_thread_with_the_context_variables_of_its_turn() -> None:
    seen: list[tuple[int, str]] = []

    @tool
    def look() -> None:
        """Looks."""
        seen.append((threading.get_ident(), request_id.get()))

    request_id.set("r1")
    assert await look.run({}, CONTEXT) is None
    ((thread, request),) = seen
    assert thread != threading.get_ident()
    assert request == "r1"


async def test_a_coroutine_function_runs_on_the_loop() -> None:
    seen: list[object] = []

    @tool
    async def look() -> None:
        """Looks."""
        seen.extend((threading.get_ident(), asyncio.get_running_loop()))

    await look.run({}, CONTEXT)
    assert seen == [threading.get_ident(), asyncio.get_running_loop()]


async def test_functions_run_beside_each_other() -> None:
    both = threading.Barrier(2)

    @tool
    def meet() -> int:
        """Waits for the other."""
        return both.wait(timeout=10)

    assert sorted([*await asyncio.gather(meet.run({}, CONTEXT), meet.run({}, CONTEXT))], key=str)


async def test_a_wrapper_that_returns_a_coroutine_is_awaited() -> None:
    def counted(function: Callable[[int], Awaitable[int]]) -> Callable[[int], Awaitable[int]]:
        @wraps(function)
        def wrapper(number: int) -> Awaitable[int]:
            return function(number)

        return wrapper

    @tool
    @counted
    async def double(number: int) -> int:
        """Doubles."""
        return 2 * number

    assert await double.run({"number": 4}, CONTEXT) == 8


async def test_a_bound_method_is_a_tool_too() -> None:
    class Shop:
        def __init__(self, name: str) -> None:
            self._name = name

        def sell(self, goods: str) -> str:
            """Sells."""
            return f"{goods} of {self._name}"

    sell = tool(Shop("ada").sell, name="sell_of_ada")
    assert sell.name == "sell_of_ada"
    assert await sell.run({"goods": "tea"}, CONTEXT) == "tea of ada"


async def test_what_a_tool_says_of_a_failure_passes_through() -> None:
    @tool
    def fail() -> None:
        """Fails."""
        raise ToolFailed("no such order")

    @tool
    async def break_down() -> None:
        """Breaks."""
        raise KeyError("order")

    with pytest.raises(ToolFailed, match="no such order"):
        await fail.run({}, CONTEXT)
    with pytest.raises(KeyError):
        await break_down.run({}, CONTEXT)


async def test_what_a_tool_says_of_a_failure_has_an_end() -> None:
    @tool
    def fail() -> None:
        """Fails."""
        raise ToolFailed("no" * limits.TOOL_FAILURE)

    with pytest.raises(ToolFailed) as raised:
        await fail.run({}, CONTEXT)
    assert len(str(raised.value)) == limits.TOOL_FAILURE


def _stop() -> None:
    raise StopIteration


async def _stop_soon() -> None:
    raise SystemExit(3)


def _leave() -> None:
    raise SystemExit(3)


async def _cancel_own_task() -> None:
    task = asyncio.create_task(asyncio.Event().wait())
    task.cancel()
    await task


def _cancel_in_thread() -> None:
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    "function", [_stop, _leave, _stop_soon, _cancel_own_task, _cancel_in_thread]
)
async def test_what_would_end_more_than_the_call_is_an_error_of_the_call(
    function: Callable[[], object],
) -> None:
    ending = tool(function, description="Ends more than itself.")
    with pytest.raises(RuntimeError):
        async with asyncio.timeout(10):
            await ending.run({}, CONTEXT)


async def test_a_cancelled_turn_cancels_the_coroutine() -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    @tool
    async def wait() -> None:
        """Waits."""
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    run = asyncio.create_task(wait.run({}, CONTEXT))
    await started.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert ended.is_set()


async def test_a_context_is_filled_here_and_never_by_the_model() -> None:
    @tool
    def who(context: ToolContext | None, note: str = "") -> str:
        """Tells who."""
        assert context
        return context.owner + note

    assert "context" not in str(who.schema)
    assert await who.run({"note": "!"}, CONTEXT) == "ada!"
    for name in ("context", "owner"):
        faults = who.faults({name: {"owner": "eve"}})
        assert faults
        assert f"`{name}` is not known" in faults


def untyped_function() -> Callable[..., object]:
    """Returns what no checker would let stand in a file."""
    namespace: dict[str, Any] = {}
    exec("def untyped(order_id):\n    'Finds.'", namespace)
    return namespace["untyped"]


def several(*orders: str) -> None:
    """Finds."""


def many(**orders: str) -> None:
    """Finds."""


def nameless(order: str, /) -> None:
    """Finds."""


def undescribed(order: str) -> None: ...


def blank(order: str) -> None:
    """ """


def unknown_type(order: "HostTool") -> None:
    """Finds."""


def no_json(order: threading.Thread) -> None:
    """Finds."""


def no_schema(order: Callable[[], int]) -> None:
    """Finds."""


def contexts(order: list[ToolContext]) -> None:
    """Finds."""


def one_or_context(order: ToolContext | str) -> None:
    """Finds."""


def yielding(order: str) -> Iterator[str]:
    """Finds."""
    yield order


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (
            untyped_function(),
            "The parameter `order_id` of the tool `untyped` has no type: annotate it",
        ),
        (several, "takes `*orders: str`, which has no name to be called by"),
        (many, "takes `**orders: str`, which has no name to be called by"),
        (nameless, "takes `order: str`, which has no name to be called by"),
        (undescribed, "The tool `undescribed` has no description"),
        (blank, "The tool `blank` has no description"),
        (unknown_type, "name 'HostTool' is not defined. Annotate it with types that its module"),
        (no_json, "The arguments of the tool `no_json` can't be told to a model"),
        (no_schema, "The arguments of the tool `no_schema` can't be told to a model"),
        (contexts, "`order` of the tool `contexts` has a ToolContext among other things"),
        (one_or_context, "has a ToolContext among other things: give the context a parameter"),
        (yielding, "The tool `yielding` yields: return the whole result instead"),
        (find_order, "@tool was given the tool `find_order` again"),
        (Line, "@tool was given a ModelMetaclass"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_function_that_no_model_can_be_told_of_is_refused(
    function: Callable[..., object], told: str
) -> None:
    with pytest.raises(ToolsUnusable) as raised:
        tool(function)
    assert told in str(raised.value)


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_tool_needs_time(seconds: float) -> None:
    with pytest.raises(ToolsUnusable, match="write more than none"):
        tool(lambda: None, name="quick", description="Is quick.", seconds=seconds)


def test_a_field_is_no_default() -> None:
    from pydantic import Field  # noqa: PLC0415

    def finding(order: str = Field(default="7")) -> None:
        """Finds."""

    with pytest.raises(ToolsUnusable, match=r"write `order: Annotated\[…, Field\(…\)\]`"):
        tool(finding)


async def test_functions_that_hang_leave_the_threads_of_the_service_alone() -> None:
    go = threading.Event()
    hanging = [asyncio.create_task(called(go.wait)) for _ in range(40)]
    await asyncio.sleep(0)  # each of them is under way then
    try:
        async with asyncio.timeout(5):
            assert await asyncio.to_thread(int, "7") == 7
    finally:
        go.set()
        await asyncio.gather(*hanging)
