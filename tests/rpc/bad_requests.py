"""What requests are made of that must be refused."""

from parley.v1.asks_pb2 import AcceptAnswer, AskAnswer, ChoiceAnswer
from parley.v1.conversations_pb2 import (
    Conversation,
    DeleteConversationRequest,
    GetConversationRequest,
    ListMessagesRequest,
    RateMessageRequest,
    UpdateConversationRequest,
)
from parley.v1.turns_pb2 import (
    AnswerInput,
    ButtonInput,
    GetTurnRequest,
    PromptInput,
    RetryInput,
    StreamTurnRequest,
    TurnRequest,
    WatchTurnRequest,
)
from tests.rpc.requests import Request
from tests.standard_asks import PLAN_ID

PROMPT = PromptInput(text="Hello")
TEAM = AskAnswer(accept=AcceptAnswer(choice=ChoiceAnswer(selected=["team"])))
ANSWER = AnswerInput(tool_call_id=PLAN_ID, answer=TEAM)
BUTTON = ButtonInput(tool_call_id=PLAN_ID, button_id="option:team")
NO_TURN = "7e57ab1e-0000-4000-8000-000000000000"
RETRY = RetryInput(turn_id=NO_TURN)


def naming(conversation_id: str) -> list[Request]:
    """Returns a request of every kind that names a conversation."""
    return [
        StreamTurnRequest(conversation_id=conversation_id, prompt=PROMPT),
        StreamTurnRequest(conversation_id=conversation_id, answer=ANSWER),
        TurnRequest(conversation_id=conversation_id, prompt=PROMPT),
        TurnRequest(conversation_id=conversation_id, button=BUTTON),
        StreamTurnRequest(conversation_id=conversation_id, retry=RETRY),
        WatchTurnRequest(conversation_id=conversation_id, turn_id=NO_TURN),
        GetTurnRequest(conversation_id=conversation_id, turn_id=NO_TURN),
        RateMessageRequest(conversation_id=conversation_id, message_id="1"),
        GetConversationRequest(conversation_id=conversation_id),
        UpdateConversationRequest(
            conversation=Conversation(conversation_id=conversation_id, title="Mine")
        ),
        DeleteConversationRequest(conversation_id=conversation_id),
        ListMessagesRequest(conversation_id=conversation_id),
    ]
