"""How much of a hostile input is looked at and reported. These bounds are ours, not the spec's."""

from collections.abc import Iterator

import pytest
from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.answers import accepted, check_answer, declined
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import ASK_KINDS, check_ask
from parleyd.contract.field_errors import Code, Fault, FieldError, found, in_order
from parleyd.contract.records import unknown_keys
from parleyd.contract.shapes import lets_rules_run
from tests.contract.reported import reported
from tests.contract.valid_asks import POST, TRIP

MANY = 20_000
JUNK: dict[str, JsonValue] = {f"key {index}": index for index in range(MANY)}
SCANS: dict[str, JsonValue] = {"prompt": "Send.", "accept": ["image"]}
FORM: dict[str, JsonValue] = {
    "prompt": "Book.",
    "fields": [{"type": "text", "id": "name", "label": "Name"}],
}
FIRST = [f"key {index}" for index in range(limits.UNKNOWN_KEYS_REPORTED)]


class Watched(list[JsonValue]):
    """A list that counts how many of its items were looked at."""

    looked_at = 0

    def __iter__(self) -> Iterator[JsonValue]:
        for item in super().__iter__():
            self.looked_at += 1
            yield item


def paths_of(errors: tuple[FieldError, ...], code: Code = Code.UNKNOWN_KEY) -> list[str]:
    return sorted(error.path for error in errors if error.code == code)


@pytest.mark.parametrize("kind", ASK_KINDS)
def test_of_many_unknown_keys_of_an_ask_the_first_are_reported(kind: AskKind) -> None:
    ask: dict[str, JsonValue] = {"a": 1, "prompt": "", **JUNK, "title": ""}
    errors = check_ask(kind, ask)
    assert paths_of(errors) == sorted(["a", *FIRST[:-1]])
    assert paths_of(errors, Code.TOO_SHORT) == ["prompt", "title"]


def test_up_to_the_bound_every_unknown_key_is_reported() -> None:
    extra: dict[str, JsonValue] = dict.fromkeys(FIRST)
    assert paths_of(check_ask("confirm", {**POST, **extra})) == sorted(FIRST)


def test_each_object_has_its_own_bound() -> None:
    options: list[JsonValue] = [
        {"id": "a", "label": "A", **JUNK},
        {"id": "b", "label": "B", **JUNK},
    ]
    errors = check_ask("choice", {**TRIP, "options": options, **JUNK})
    nested = [f"options[{index}].{key}" for index in (0, 1) for key in FIRST]
    assert paths_of(errors) == sorted([*FIRST, *nested])


@pytest.mark.parametrize(
    ("response", "prefix"),
    [
        pytest.param({**declined(), **JUNK}, "", id="the envelope"),
        pytest.param(accepted(JUNK), "content.", id="the content"),
        pytest.param(
            accepted({"files": [{"filename": "a", **JUNK}]}), "content.files[0].", id="a file"
        ),
    ],
)
def test_of_many_unknown_keys_of_an_answer_the_first_are_reported(
    response: JsonValue, prefix: str
) -> None:
    errors = check_answer("files", SCANS, response)
    assert paths_of(errors) == sorted(f"{prefix}{key}" for key in FIRST)


def test_of_many_unknown_fields_of_a_form_the_first_are_reported() -> None:
    errors = check_answer("form", FORM, accepted({"values": {**JUNK, "name": 1}}))
    assert paths_of(errors) == sorted(f"content.values.{key}" for key in FIRST)
    assert paths_of(errors, Code.FIELD_TYPE_MISMATCH) == ["content.values.name"]


def test_unknown_keys_come_in_the_order_sent_and_no_further_than_needed() -> None:
    assert [*unknown_keys({"b": 1, "k": 2, "a": 3}, {"k"})] == ["b", "a"]
    assert [*unknown_keys(JUNK, ())] == FIRST


@pytest.mark.parametrize("item", [None, {}, "f1", {"fileId": "f"}], ids=str)
def test_of_very_many_broken_files_the_first_are_looked_at(item: JsonValue) -> None:
    files = Watched([item] * MANY)
    errors = check_answer("files", SCANS, accepted({"files": files}))
    assert files.looked_at == limits.ITEMS_LOOKED_AT
    assert len(errors) <= limits.FAULTS_REPORTED
    assert errors[-1].path.startswith(f"content.files[{limits.ITEMS_LOOKED_AT - 1}]")


def test_very_many_sound_files_are_counted_and_the_first_looked_at() -> None:
    file: JsonValue = {"fileId": "f", "filename": "f", "mimeType": "image/png", "size": 2**40}
    files: list[JsonValue] = [file] * MANY
    count, *others = reported(check_answer("files", SCANS, accepted({"files": files})))
    assert count == ("content.files", "FILE_COUNT")
    assert others == [
        (f"content.files[{index}].size", "FILE_TOO_LARGE")
        for index in range(limits.ITEMS_LOOKED_AT)
    ]


def test_a_broken_file_among_very_many_sound_ones_is_found_within_the_bound() -> None:
    file: JsonValue = {"fileId": "f", "filename": "f", "mimeType": "image/png", "size": 1}
    files: list[JsonValue] = [*[file] * (limits.ITEMS_LOOKED_AT - 1), 3, 4]
    assert reported(check_answer("files", SCANS, accepted({"files": files}))) == [
        (f"content.files[{limits.ITEMS_LOOKED_AT - 1}]", "INVALID_TYPE")
    ]


def test_the_items_of_an_oversized_list_are_never_touched() -> None:
    options = Watched([None] * 51)
    assert reported(check_ask("choice", {**TRIP, "options": options})) == [("options", "TOO_MANY")]
    assert options.looked_at == 0


def test_a_check_stops_after_so_many_faults_and_looks_at_no_rules() -> None:
    junk: dict[str, JsonValue] = dict.fromkeys(FIRST)
    options: list[JsonValue] = [{"id": "a", "label": "A", **junk}] * limits.OPTIONS_MAX
    errors = check_ask("choice", {**TRIP, "options": options})
    assert len(errors) == limits.FAULTS_REPORTED
    assert {error.code for error in errors} == {"UNKNOWN_KEY"}

    fewer: list[JsonValue] = [{"id": "a", "label": "A", **junk}] * 2
    assert ("options[1].id", "DUPLICATE_ID") in reported(
        check_ask("choice", {**TRIP, "options": fewer})
    )


def test_no_more_faults_are_drawn_than_are_reported() -> None:
    def faults() -> Iterator[Fault]:
        for index in range(limits.FAULTS_REPORTED):
            yield Fault((index,), Code.UNKNOWN_KEY, "", "")
        raise AssertionError

    assert len(in_order(faults())) == limits.FAULTS_REPORTED
    drawn = found(faults())
    assert not lets_rules_run(drawn)
    assert lets_rules_run(drawn[1:])
    assert not lets_rules_run([Fault((), Code.TOO_MANY, "", "")])


def test_a_form_with_nothing_right_in_it_is_reported_whole() -> None:
    option: JsonValue = {"id": "-", "label": " " * (limits.OPTION_LABEL + 1)}
    options: list[JsonValue] = [option] * limits.OPTIONS_MAX
    default: list[JsonValue] = ["x"] * limits.OPTIONS_MAX
    field: JsonValue = {
        "type": "multiselect",
        "id": "-",
        "label": " " * (limits.FIELD_LABEL + 1),
        "helperText": " " * (limits.HELPER_TEXT + 1),
        "options": options,
        "default": default,
    }
    fields: list[JsonValue] = [field] * limits.FIELDS_MAX
    errors = reported(check_ask("form", {"prompt": "", "fields": fields}))
    last = f"fields[{limits.FIELDS_MAX - 1}]"
    for place, codes in {
        f"{last}.options[{limits.OPTIONS_MAX - 1}].id": ("DUPLICATE_ID", "INVALID_FORMAT"),
        f"{last}.options[{limits.OPTIONS_MAX - 1}].label": ("TOO_LONG", "TOO_SHORT"),
        f"{last}.helperText": ("TOO_LONG", "TOO_SHORT"),
        f"{last}.id": ("DUPLICATE_ID", "INVALID_FORMAT"),
        f"{last}.default[{limits.OPTIONS_MAX - 1}]": ("DUPLICATE_ID",),
        "prompt": ("TOO_SHORT",),
    }.items():
        for code in codes:
            assert (place, code) in errors
    assert len(errors) < limits.FAULTS_REPORTED
