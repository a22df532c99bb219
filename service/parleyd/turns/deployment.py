"""What every turn of a process shares."""

from collections.abc import Callable
from dataclasses import dataclass

from parleyd.turns.chain_memory import ChainMemory
from parleyd.turns.datasets import Datasets
from parleyd.turns.files import Files
from parleyd.turns.followers import Followers
from parleyd.turns.lease_store import LeaseStore
from parleyd.turns.model import Model
from parleyd.turns.options import TurnOptions
from parleyd.turns.ports import Ids, TurnStore
from parleyd.turns.request_log import RequestLog
from parleyd.turns.turn_reader import TurnReader


@dataclass(frozen=True)
class Deployment:
    """The parts that turns are made of, and the name of this process on its leases.

    `model_of_key` makes a model that uses a caller's own provider key; None where the deployment
    takes none. `files` is None where the deployment keeps none, and `datasets` where its replies
    are texts.
    """

    store: TurnStore
    leases: LeaseStore
    reader: TurnReader
    request_log: RequestLog
    model: Model | None
    title_model: Model | None
    model_of_key: Callable[[str], Model] | None
    ids: Ids
    options: TurnOptions
    holder: str
    followers: Followers
    chains: ChainMemory
    files: Files | None = None
    datasets: Datasets | None = None
