"""What is wrong with documents, their data and their buttons."""

from collections.abc import Mapping, Sequence

from parleyd.contract.blocks.issues import BlockIssue
from parleyd.contract.errors.error import ParleyError
from parleyd.contract.reasons import Reason


class BlocksOff(ParleyError):
    """A call that exists only where replies are documents."""

    reason = Reason.BLOCKS_DISABLED

    def __init__(self) -> None:
        super().__init__("Replies are no documents in this deployment; it has PARLEY_BLOCKS off.")

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the HTTP status that the gateway sends instead of its own."""
        return {"http_status": "404"}


class DatasetNotFound(ParleyError):
    """No such dataset of the caller's: it never was, its time is over, or it is someone else's."""

    reason = Reason.DATASET_NOT_FOUND

    def __init__(self, dataset_id: str) -> None:
        super().__init__(f"There is no dataset {dataset_id!r} of yours.")


class ActionNotFound(ParleyError):
    """The host has no such action."""

    reason = Reason.ACTION_NOT_FOUND

    def __init__(self, action: str) -> None:
        super().__init__(f"Unknown action {action!r}: the deployment has none of this name.")


class ActionTimeout(ParleyError):
    """An action of the host took longer than it may."""

    reason = Reason.ACTION_TIMEOUT

    def __init__(self, action: str, seconds: float) -> None:
        super().__init__(
            f"The action {action!r} took longer than {seconds:g} s and was stopped. "
            "Whether it took effect is not known."
        )


class BlockGenerationFailed(ParleyError):
    """The model failed, took too long, or returned no object. Nothing is kept; try again later."""

    reason = Reason.BLOCK_GENERATION_FAILED

    def __init__(self) -> None:
        super().__init__("Block generation failed: the model gave no document. Try again later.")

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the HTTP status that the gateway sends instead of its own."""
        return {"http_status": "502"}


class BlocksInvalid(ParleyError):
    """The model's document breaks the rules in `issues`, which are errors, at least one."""

    reason = Reason.BLOCKS_INVALID

    def __init__(self, issues: Sequence[BlockIssue]) -> None:
        super().__init__("Block document failed validation; the details say where, and why.")
        self.issues = tuple(issues)

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the codes, each once, and the HTTP status that the gateway sends."""
        codes = dict.fromkeys(issue.code.value for issue in self.issues)
        return {"error_codes": ",".join(codes), "http_status": "422"}
