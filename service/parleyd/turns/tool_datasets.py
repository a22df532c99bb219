"""How tools register datasets (spec blocks 21.2)."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from parleyd.contract.datasets.dataset import RegisteredDataset

Register: TypeAlias = Callable[[Sequence[object], Sequence[object]], Awaitable[RegisteredDataset]]


class DatasetsOff(Exception):
    """A dataset is registered where nothing could show it."""

    def __init__(self) -> None:
        super().__init__(
            "No dataset can be registered here: set PARLEY_BLOCKS to true, register in the run of "
            "a tool, or look at `context.datasets.on` first."
        )


class ToolDatasets:
    """What one run of a tool registers datasets with.

    They belong to the person and the conversation of the call. A call that is run again registers
    new ones; the model never hears of the first.
    """

    def __init__(self, register: Register | None = None) -> None:
        self._register = register

    @property
    def on(self) -> bool:
        """Tells whether datasets can be registered: replies are documents, and the tool runs."""
        return self._register is not None

    async def register(
        self, columns: Sequence[object], rows: Sequence[object]
    ) -> RegisteredDataset:
        """Stores a dataset; return its `as_json()`, so that the model can refer to it.

        A column is `{"name": …, "type": "string" | "number" | "date"}`, a row a list with one cell
        for each of them: a text, a number, a date of ISO 8601, or None.

        Raises:
            DatasetsOff: Replies are no documents here.
            DatasetTooLarge: It has more rows, or more text, than the deployment stores.
            DatasetRefused: A column, a row or a cell is not what it has to be.
            Unavailable: The database can't be reached; nothing was stored.
        """
        if self._register is None:
            raise DatasetsOff
        return await self._register(columns, rows)
