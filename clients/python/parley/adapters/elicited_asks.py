"""Elicitations of MCP servers as asks, and the answers as content of their schemas."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from parley.adapters.elicited_fields import Offered, Plain, ask_ids, elicited_field
from parley.adapters.elicited_schemas import (
    BooleanProperty,
    ChoiceProperty,
    ManyProperty,
    Property,
    RequestedSchema,
)
from parley.adapters.prompts import CARD_UNITS, PROMPT_UNITS, units
from parley.v1 import asks_pb2 as pb

Content: TypeAlias = dict[str, Plain]


@dataclass(frozen=True)
class ElicitedAsk:
    """The ask for an elicitation, and how an accepting answer is read.

    `content` holds the values that the server asked for; None says that it is declined after all.
    """

    input: pb.AskInput
    content: Callable[[pb.AcceptAnswer], Content | None]


def elicited_ask(message: str, schema: RequestedSchema) -> ElicitedAsk:
    """Returns the ask for an elicitation.

    It is a form, save where a choice or a confirm has room for each answer that the schema has:
    their cards can be answered with a button. That is where the schema has no properties, or one
    that is required and is a pick, or a boolean without a default. No button says yes to a message
    that a card would cut.

    Raises:
        Unaskable: No ask can hold the person to the schema.
    """
    match list(schema.properties.items()):
        case []:
            return _consent(message)
        case [(name, prop)] if name in schema.required:
            return _single(message, name, prop) or _form(message, schema)
        case _:
            return _form(message, schema)


def _consent(message: str) -> ElicitedAsk:
    confirm = pb.ConfirmInput(
        confirm_label="Accept",
        deny_label="Decline",
        destructive=units(message) > CARD_UNITS or None,
    )
    return ElicitedAsk(
        pb.AskInput(prompt=message, confirm=confirm),
        lambda answer: {} if answer.confirm.confirmed else None,
    )


def _single(message: str, name: str, prop: Property) -> ElicitedAsk | None:
    # Only fields have a helper text: what does not fit into the prompt needs a form.
    prompt = f"{message}\n\n{prop.description}" if prop.description else message
    if units(prompt) > PROMPT_UNITS:
        return None
    ask = pb.AskInput(prompt=prompt, title=prop.title or name, allow_decline=True)
    match prop:
        case BooleanProperty(default=None) if units(prompt) <= CARD_UNITS:
            ask.confirm.CopyFrom(pb.ConfirmInput(confirm_label="Yes", deny_label="No"))
            return ElicitedAsk(ask, lambda answer: {name: answer.confirm.confirmed})
        case ChoiceProperty():
            one = Offered(name, prop)
            ask.choice.CopyFrom(
                pb.ChoiceInput(
                    select=pb.ChoiceInput.SELECT_ONE,
                    options=one.options,
                    default=[] if prop.default is None else [one.id(prop.default)],
                )
            )
            return ElicitedAsk(ask, lambda answer: {name: one.value(answer.choice.selected[0])})
        case ManyProperty():
            many = Offered(name, prop)
            ask.choice.CopyFrom(
                pb.ChoiceInput(
                    select=pb.ChoiceInput.SELECT_MANY,
                    options=many.options,
                    default=[many.id(each) for each in prop.default or ()],
                    min_selected=prop.min_items,
                    max_selected=_most(prop, many),
                )
            )
            return ElicitedAsk(
                ask, lambda answer: {name: [many.value(each) for each in answer.choice.selected]}
            )
        case _:
            return None


def _most(prop: ManyProperty, offered: Offered) -> int:
    there_are = len(offered.options)
    return there_are if prop.max_items is None else min(prop.max_items, there_are)


def _form(message: str, schema: RequestedSchema) -> ElicitedAsk:
    ids = ask_ids(schema.properties, "field")
    fields = {
        name: elicited_field(ids[name], name, prop, required=name in schema.required)
        for name, prop in schema.properties.items()
    }

    def content(answer: pb.AcceptAnswer) -> Content:
        given = dict(answer.form.values)
        read = {name: field.value(given.get(ids[name])) for name, field in fields.items()}
        return {name: value for name, value in read.items() if value is not None}

    form = pb.FormInput(fields=[field.input for field in fields.values()])
    return ElicitedAsk(pb.AskInput(prompt=message, allow_decline=True, form=form), content)
