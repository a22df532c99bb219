"""Why a call failed, for the person at the terminal."""

import grpc

from parley import ParleyError


def explain(fault: ParleyError) -> str:
    """Returns why a call failed, as a sentence."""
    if fault.reason:
        return fault.message
    if fault.code == grpc.StatusCode.UNAVAILABLE:
        return "The service can't be reached."
    return f"The call failed: {fault.message or fault.code.name}"


def fixes_of(fault: ParleyError) -> list[str]:
    """Returns how to mend what was wrong with a call, as far as the service says."""
    return [field.fix for field in fault.fields if field.fix]
