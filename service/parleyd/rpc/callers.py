"""Who may call what: people, and the services that speak for nobody (spec turns 13.1)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Final, TypeAlias

from parley.v1 import block_generation_pb2, files_pb2, service_asks_pb2, turns_pb2
from parleyd.contract.errors import ScopeMissing, ServiceOnly, TokenForbidden
from parleyd.rpc.calls import Call

_GENERATION: Final = block_generation_pb2.DESCRIPTOR.services_by_name["BlockGenerationService"]
_ASKS: Final = service_asks_pb2.DESCRIPTOR.services_by_name["AskService"]
_TURNS: Final = turns_pb2.DESCRIPTOR.services_by_name["TurnService"]
_FILES: Final = files_pb2.DESCRIPTOR.services_by_name["FileService"]


@dataclass(frozen=True)
class Access:
    """Who may make a call: `people`, and services with the `scope`, if there is one."""

    people: bool
    scope: str | None


_OF_PEOPLE: Final = Access(people=True, scope=None)

INTERNAL: Final[Mapping[str, Access]] = {
    _GENERATION.full_name: Access(people=False, scope="blocks.generate"),
    _ASKS.full_name: Access(people=False, scope="asks.write"),
}
"""The services that only services may call, by full name."""

SHARED: Final[Mapping[str, Access]] = {
    f"/{_TURNS.full_name}/CreateActionToken": Access(people=True, scope="asks.tokens"),
    f"/{_FILES.full_name}/DownloadFile": Access(people=True, scope="asks.write"),
}
"""The methods that people and services may call, by path. All other methods are for people."""

OPEN: Final = frozenset({f"/{_TURNS.full_name}/RedeemActionToken"})
"""The methods that everybody may call, by path; no bearer token is looked at. What redeems an
action token has its own credential."""


@dataclass(frozen=True)
class Person:
    """Somebody with devices, who owns what their calls make, until their token `expires`."""

    owner: str
    expires: float = field(default=inf, compare=False)
    """In Unix time."""


@dataclass(frozen=True)
class Service:
    """A program that calls in its own name. `scopes` are what it may do here."""

    name: str
    scopes: frozenset[str]
    expires: float = field(default=inf, compare=False)
    """When its token does, in Unix time."""


Caller: TypeAlias = Person | Service


def access_to(call: Call) -> Access:
    """Returns who may make a call."""
    return SHARED.get(call.method) or INTERNAL.get(call.service, _OF_PEOPLE)


def check_access(call: Call, caller: Caller) -> None:
    """Returns where a caller may make a call.

    Raises:
        ServiceOnly: The call is for services, and this is a person.
        TokenForbidden: The call is for people, and this is a service.
        ScopeMissing: The call is for services that may do more.
    """
    access = access_to(call)
    match caller:
        case Person() if not access.people:
            raise ServiceOnly
        case Service() if access.scope is None:
            raise TokenForbidden(
                "This call is for people, and the bearer token speaks for a service; call with the "
                "token of a person."
            )
        case Service(scopes=scopes) if access.scope and access.scope not in scopes:
            raise ScopeMissing(access.scope)
        case _:
            pass
