"""Who may call what: people, and the services that speak for nobody (spec turns 13.1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from parley.v1 import block_generation_pb2
from parleyd.contract.errors import ScopeMissing, ServiceOnly, TokenForbidden
from parleyd.rpc.calls import Call

_GENERATION: Final = block_generation_pb2.DESCRIPTOR.services_by_name["BlockGenerationService"]

INTERNAL_SCOPES: Final[Mapping[str, str]] = {_GENERATION.full_name: "blocks.generate"}
"""The services that only services may call, by full name, and the scope that their calls need.

All others are for people.
"""


@dataclass(frozen=True)
class Person:
    """Somebody with devices, who owns what their calls make."""

    owner: str


@dataclass(frozen=True)
class Service:
    """A program that calls in its own name. `scopes` are what it may do here."""

    name: str
    scopes: frozenset[str]


Caller: TypeAlias = Person | Service


def check_access(call: Call, caller: Caller) -> None:
    """Returns where a caller may make a call.

    Raises:
        ServiceOnly: The call is for services, and this is a person.
        TokenForbidden: The call is for people, and this is a service.
        ScopeMissing: The call is for services that may do more.
    """
    scope = INTERNAL_SCOPES.get(call.service)
    match caller:
        case Person() if scope:
            raise ServiceOnly
        case Service() if scope is None:
            raise TokenForbidden(
                "This call is for people, and the bearer token speaks for a service; call with the "
                "token of a person."
            )
        case Service(scopes=scopes) if scope and scope not in scopes:
            raise ScopeMissing(scope)
        case _:
            pass
