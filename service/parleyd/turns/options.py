"""What a deployment decides about its turns (spec turns 2)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from parleyd.contract import limits
from parleyd.contract.asks.ask import AskKind
from parleyd.contract.blocks.options import BlockOptions
from parleyd.turns.host_actions import HostAction
from parleyd.turns.tools import (
    ApprovalWording,
    HostTool,
    PromptHook,
    RemoteTools,
    RequestTools,
)


@dataclass(frozen=True)
class TurnLimits:
    """What a turn and a caller may use up (spec turns 12.5). Times are in seconds."""

    turn_seconds: float = limits.TURN_SECONDS
    model_idle_seconds: float = limits.MODEL_IDLE_SECONDS
    tool_seconds: float = limits.TOOL_SECONDS
    chain_bytes: int = limits.CHAIN_BYTES
    owner_turns: int = limits.OWNER_TURNS
    conversation_turns: int = limits.CONVERSATION_TURNS
    owner_streams: int = limits.OWNER_STREAMS
    file_bytes: int = limits.FILE_BYTES


@dataclass(frozen=True)
class BlockReplies:
    """How replies are documents (spec blocks 1): what they may hold, and whether one is repaired.

    With `repair` the model is called once more for a document that breaks rules. `actions` are
    those of the host by their names, which `options` allow; one may take `action_seconds`.
    """

    options: BlockOptions
    repair: bool = False
    actions: Mapping[str, HostAction] = field(default_factory=dict[str, HostAction])
    action_seconds: float = limits.ACTION_SECONDS


@dataclass(frozen=True)
class TurnOptions:
    """One immutable set of options, shared by every turn of the process.

    `ask_kinds` empty means asks are off. Without tools a turn is one model call, whatever
    `max_steps` says. `approval_wordings` are by the names of the tools they speak of. Without
    `blocks` replies are texts. Asks of a kind in `ask_seconds`, and approvals of a tool in
    `approval_seconds`, are over so many seconds after they were made; all others wait for good.
    """

    ask_kinds: tuple[AskKind, ...] = ()
    max_steps: int = limits.TURN_STEPS
    temperature: float = 1.0
    title_temperature: float = 0.3
    system_prompt: str | PromptHook | None = None
    allow_client_system_instruction: bool = False
    tools: Mapping[str, HostTool] = field(default_factory=dict[str, HostTool])
    request_tools: RequestTools | None = None
    remote_tools: RemoteTools | None = None
    approval_wordings: Mapping[str, ApprovalWording] = field(
        default_factory=dict[str, ApprovalWording]
    )
    ask_seconds: Mapping[AskKind, float] = field(default_factory=dict[AskKind, float])
    approval_seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    uploads: bool = True
    blocks: BlockReplies | None = None
    limits: TurnLimits = TurnLimits()
