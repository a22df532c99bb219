"""How the functions of a deployment are called: coroutines on the loop, all others in a thread."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Final

_THREADS: Final = ThreadPoolExecutor(max_workers=64, thread_name_prefix="deployment")
"""Their own, so that functions that hang don't keep the service from its own work in threads."""


async def called(function: Callable[..., object], /, *args: object, **named: object) -> object:
    """Returns what a function returns. Context variables are those of the caller, also in a thread.

    A thread can't be stopped: who gives up waiting leaves the function running to its end.

    Raises:
        RuntimeError: The function raised what would end more than its own call: it left the
            interpreter, or a task of its own was cancelled.
    """
    return await _called(function, args, named, asyncio.wrap_future)


async def called_to_its_end(
    function: Callable[..., object], /, *args: object, **named: object
) -> object:
    """Does what `called` does. Who is cancelled waits on for a thread, and raises after that.

    Raises:
        RuntimeError: As `called` does.
    """
    return await _called(function, args, named, _to_its_end)


async def _called(
    function: Callable[..., object],
    args: tuple[object, ...],
    named: dict[str, object],
    awaited: Callable[[Future[object]], Awaitable[object]],
) -> object:
    try:
        if inspect.iscoroutinefunction(function):
            return await function(*args, **named)
        context = copy_context()
        result = await awaited(_THREADS.submit(context.run, _contained, function, args, named))
        return await result if inspect.isawaitable(result) else result
    except SystemExit as error:
        raise RuntimeError("The function left the interpreter.") from error
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task and task.cancelling():
            raise
        raise RuntimeError("A task of the function's own was cancelled.") from error


async def _to_its_end(thread: Future[object]) -> object:
    ended = asyncio.wrap_future(thread)
    try:
        return await asyncio.shield(ended)
    except asyncio.CancelledError:
        if not thread.cancel():  # it has begun
            await asyncio.wait({ended})
        raise


def _contained(
    function: Callable[..., object], args: tuple[object, ...], named: dict[str, object]
) -> object:
    try:
        return function(*args, **named)
    except StopIteration as error:
        # A future can't carry it, and whoever awaits would wait for ever.
        raise RuntimeError("The function ran out of an iterator.") from error
