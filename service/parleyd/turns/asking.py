"""Raises the asks of a step: those of the model as they are, approvals in words (3.6.2, 9.3)."""

from collections.abc import Collection
from uuid import UUID

from parleyd.contract.asks.kinds import kind_of_tool
from parleyd.contract.asks.shown_texts import ask_without_remote_images
from parleyd.contract.steps import Step, StepCall
from parleyd.contract.surfaces import Surface
from parleyd.turns.approvals import approval_input
from parleyd.turns.instructions import Instructions
from parleyd.turns.options import TurnOptions
from parleyd.turns.ports import CollectedAsk, Ids


class Asker:
    """Raises the asks of one turn's steps. No client loads an image for one from just anywhere."""

    def __init__(
        self, told: Instructions, surface: Surface, options: TurnOptions, ids: Ids
    ) -> None:
        self._told = told
        self._surface: Surface = surface
        self._wordings = options.approval_wordings
        self._ask_seconds = options.ask_seconds
        self._approval_seconds = options.approval_seconds
        self._hosts = options.blocks.options.image_hosts if options.blocks else ()
        self._ids = ids

    async def asks_of(self, step: Step, raised: Collection[UUID] = ()) -> tuple[CollectedAsk, ...]:
        """Returns the asks of a step that were never raised, in call order.

        Those of the model are as they were accepted, but for images, whatever the surface is now.
        An approval gets its words at this moment.
        """
        return tuple(
            [
                await self._approval(call, call.ask_id)
                if call.role == "approval"
                else self._ask(call, call.ask_id)
                for call in step.calls
                if call.ask_id and call.ask_id not in raised
            ]
        )

    def _ask(self, call: StepCall, ask_id: UUID) -> CollectedAsk:
        kind, spare = kind_of_tool(call.tool_name), self._ids.call_id()
        assert kind, "a valid ask is of a kind"
        assert isinstance(call.args, dict), "the input of a valid ask is an object"
        shown = ask_without_remote_images(call.args, self._hosts)
        seconds = self._ask_seconds.get(kind)
        return CollectedAsk(call, ask_id, kind, shown, call.tool_call_id, spare, seconds=seconds)

    async def _approval(self, call: StepCall, ask_id: UUID) -> CollectedAsk:
        tool = self._told.host_tools.get(call.tool_name)
        description = tool.description if tool else ""
        worded = await approval_input(call, description, self._wordings, self._surface)
        worded = ask_without_remote_images(worded, self._hosts)
        own, spare = self._ids.approval_id(), self._ids.approval_id()
        seconds = self._approval_seconds.get(call.tool_name)
        return CollectedAsk(call, ask_id, "confirm", worded, own, spare, "approval", seconds)
