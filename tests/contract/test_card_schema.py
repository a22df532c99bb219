"""Cards as JSON Schema, beside what a card can be made of."""

import json
from typing import Any

import pytest
from pydantic import JsonValue, ValidationError
from pydantic.alias_generators import to_camel

from parleyd.contract import limits
from parleyd.contract.cards import SimpleCard, SimpleCardButton
from parleyd.contract.json_schemas import CARD_SHAPE
from tests.contract.beyond_schemas import SHIP
from tests.contract.schema_validators import SCHEMAS, accepts
from tests.contract.valid_asks import AskInput

BUTTON: AskInput = {
    "id": "b",
    "label": "B",
    "style": "primary",
    "response": {"action": "decline"},
}
CARD: AskInput = {
    "toolCallId": "call_1",
    "kind": "choice",
    "title": "Trip",
    "text": "How?",
    "buttons": [BUTTON],
    "handoff": True,
}


def test_a_card_has_the_keys_that_cards_are_made_with() -> None:
    card = CARD_SHAPE.schema()["properties"]
    assert isinstance(card, dict)
    assert [*card] == [to_camel(name) for name in SimpleCard.model_fields]
    required = [to_camel(n) for n, field in SimpleCard.model_fields.items() if field.is_required()]
    assert [key.name for key in CARD_SHAPE.keys if key.required] == required
    properties: Any = SCHEMAS["card"]["properties"]
    button = properties["buttons"]["items"]
    assert [*button["properties"]] == button["required"] == [*SimpleCardButton.model_fields]


FAULTY_CARDS = [
    *(
        pytest.param(
            {key: value for key, value in CARD.items() if key != absent}, id=f"no {absent}"
        )
        for absent in ("toolCallId", "kind", "text", "buttons", "handoff")
    ),
    *(
        pytest.param(
            {**CARD, "buttons": [{k: v for k, v in BUTTON.items() if k != absent}]},
            id=f"a button without {absent}",
        )
        for absent in BUTTON
    ),
    pytest.param({**CARD, "extra": 1}, id="an unknown key"),
    pytest.param({**CARD, "toolCallId": ""}, id="an empty call id"),
    pytest.param({**CARD, "kind": "poll"}, id="an unknown kind"),
    pytest.param({**CARD, "handoff": 1}, id="a number for a flag"),
    pytest.param({**CARD, "buttons": {}}, id="an object for a list"),
    pytest.param(
        {**CARD, "buttons": [{**BUTTON, "id": f"b{index}"} for index in range(4)]},
        id="four buttons",
    ),
    pytest.param({**CARD, "buttons": [{**BUTTON, "id": ""}]}, id="a button's empty id"),
    pytest.param({**CARD, "buttons": [{**BUTTON, "label": ""}]}, id="a button's empty label"),
    pytest.param({**CARD, "buttons": [{**BUTTON, "label": "b" * 21}]}, id="a long label"),
    pytest.param({**CARD, "buttons": [{**BUTTON, "style": "loud"}]}, id="an unknown style"),
    pytest.param({**CARD, "buttons": [{**BUTTON, "x": 1}]}, id="a button's unknown key"),
    pytest.param({**CARD, "buttons": [{**BUTTON, "response": 1}]}, id="a response of no object"),
]


def test_a_sound_card_is_accepted() -> None:
    assert accepts("card", CARD)
    SimpleCard.model_validate_json(json.dumps(CARD))


@pytest.mark.parametrize("card", FAULTY_CARDS)
def test_a_faulty_card_is_refused_as_it_can_not_be_made(card: JsonValue) -> None:
    assert not accepts("card", card)
    with pytest.raises(ValidationError):
        SimpleCard.model_validate_json(json.dumps(card))


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"title": "t" * (limits.CARD_TITLE + 1)}, id="a long title"),
        pytest.param({"text": "t" * (limits.CARD_TEXT + 1)}, id="a long text"),
        pytest.param({"title": None}, id="null for a title"),
        pytest.param(
            {"buttons": [{**BUTTON, "response": {"action": "accept"}}]}, id="no content to accept"
        ),
    ],
)
def test_a_card_that_is_never_made_is_refused(more: AskInput) -> None:
    assert not accepts("card", {**CARD, **more})


@pytest.mark.parametrize(
    "buttons",
    [
        pytest.param([BUTTON, {**BUTTON, "label": "C"}], id="two buttons of one id"),
        pytest.param([{**BUTTON, "label": SHIP * 11}], id="a label of too many units"),
    ],
)
def test_a_fault_of_a_card_that_is_beyond_its_schema(buttons: list[JsonValue]) -> None:
    assert accepts("card", {**CARD, "buttons": buttons})
    with pytest.raises(ValidationError):
        SimpleCard.model_validate_json(json.dumps({**CARD, "buttons": buttons}))
