"""What a model is told of arguments that don't fit, and hostile ones."""

import json
import time
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, Field, JsonValue, model_validator

from parleyd.contract import limits
from parleyd.tools import SchemaTool, ToolFailed, host_tool, tool
from parleyd.turns.tools import HostTool
from tests.tools.shop import CONTEXT, find_order, pay, pay_tagged, place_order

HEADING = "The tool did not run: its arguments are wrong. Mend each fault and call it again.\n"


def echo(args: dict[str, JsonValue], context: object) -> JsonValue:
    del context
    return args


find_by_schema: SchemaTool = host_tool(
    name="find_by_schema",
    description="Finds.",
    schema={
        "type": "object",
        "properties": {"order_id": {"type": "string"}},
        "required": ["order_id"],
        "additionalProperties": False,
    },
    run=echo,
)
BOTH: list[HostTool] = [find_order, find_by_schema]


@tool
def measure(
    sizes: Annotated[list[int], Field(max_length=3)],
    by_name: dict[int, str] | None = None,
    either: int | str = 1,
    code: Annotated[str, Field(pattern="^[a-z]+$")] = "a",
    share: float = 0.5,
    *,
    agreed: bool = True,
) -> str:
    """Measures."""
    return repr((sizes, by_name, either, code, share, agreed))


def faults_of(each: HostTool, args: JsonValue) -> list[str]:
    told = each.faults(args)
    assert told is not None
    assert told.startswith(HEADING)
    return told.removeprefix(HEADING).split("\n")


@pytest.mark.parametrize("each", BOTH, ids=lambda each: each.name)
def test_arguments_that_fit_have_no_faults(each: HostTool) -> None:
    assert each.faults({"order_id": "7"}) is None


@pytest.mark.parametrize("each", BOTH, ids=lambda each: each.name)
def test_an_argument_that_is_missing_or_unknown_is_told(each: HostTool) -> None:
    told = faults_of(each, {"order": "7"})
    assert "- `order_id` is missing. Send it." in told
    assert any(line.startswith("- `order` is not known. Leave it out") for line in told)


def test_the_argument_that_was_meant_is_suggested() -> None:
    told = faults_of(find_order, {"orderid": "7"})
    assert "- `orderid` is not known. Leave it out, or write `order_id`." in told


def test_every_fault_is_told_with_its_place_and_value() -> None:
    told = faults_of(
        place_order,
        {
            "lines": [{"goods": 7, "count": 0}, {"goods": "tea", "count": "2", "colour": "red"}],
            "wanted": "2027-13-01",
            "most": "much",
            "size": "huge",
            "how_many": 10,
        },
    )
    assert told == [
        "- `lines[0].goods`: Input should be a valid string. It is 7.",
        "- `lines[0].count`: Input should be greater than or equal to 1. It is 0.",
        '- `lines[1].count`: Input should be a valid integer. It is "2".',
        "- `lines[1].colour` is not known. Leave it out.",
        (
            "- `wanted`: Input should be a valid date in the format YYYY-MM-DD, month value is "
            'outside expected range of 1-12. It is "2027-13-01".'
        ),
        '- `most`: Input should be a valid decimal. It is "much".',
        "- `size`: Input should be 'small' or 'large'. It is \"huge\".",
        "- `how_many`: Input should be less than or equal to 9. It is 10.",
    ]


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ({"sizes": ["1"]}, '- `sizes[0]`: Input should be a valid integer. It is "1".'),
        ({"sizes": [1.5]}, "- `sizes[0]`: Input should be a valid integer. It is 1.5."),
        ({"sizes": [True]}, "- `sizes[0]`: Input should be a valid integer. It is true."),
        ({"sizes": None}, "- `sizes`: Input should be a valid array. It is null."),
        ({"sizes": {"0": 1}}, "- `sizes`: Input should be a valid array. It is an object."),
        ({"sizes": [], "agreed": 1}, "- `agreed`: Input should be a valid boolean. It is 1."),
        ({"sizes": [], "share": "1"}, '- `share`: Input should be a valid number. It is "1".'),
        (
            {"sizes": [], "by_name": {"one": "a"}},
            (
                "- Read as a key: `by_name.one`: Input should be a valid integer, unable to parse "
                'string as an integer. It is "one".'
            ),
        ),
        (
            {"sizes": [], "by_name": {"1": 2}},
            "- `by_name.1`: Input should be a valid string. It is 2.",
        ),
        (
            {"sizes": [], "code": "A"},
            "- `code`: String should match pattern '^[a-z]+$'. It is \"A\".",
        ),
    ],
    ids=str,
)
def test_nothing_is_coerced(args: JsonValue, told: str) -> None:
    assert told in faults_of(measure, args)


def test_each_form_of_a_union_says_what_it_lacks() -> None:
    assert faults_of(measure, {"sizes": [], "either": []}) == [
        "- Read as int: `either`: Input should be a valid integer. It is a list.",
        "- Read as str: `either`: Input should be a valid string. It is a list.",
    ]
    assert faults_of(pay, {"by": {"kind": "card"}}) == [
        "- Read as Card: `by.number` is missing. Send it.",
        "- Read as Transfer: `by.kind`: Input should be 'transfer'. It is \"card\".",
        "- Read as Transfer: `by.iban` is missing. Send it.",
    ]


def test_a_tag_is_asked_for() -> None:
    assert faults_of(pay_tagged, {"by": {}}) == ["- `by`: its 'kind' is missing. Send it."]
    assert faults_of(pay_tagged, {"by": {"kind": "c" * 1000}}) == [
        f"- `by`: its 'kind' is \"{'c' * 39}…\". Send one of 'card', 'transfer'."
    ]
    assert faults_of(pay_tagged, {"by": {"kind": "card"}}) == [
        "- Read as card: `by.number` is missing. Send it."
    ]


@pytest.mark.parametrize("number", [3.0, -0.0, 2.0**53], ids=str)
async def test_a_whole_number_may_be_written_with_a_point(number: float) -> None:
    assert measure.faults({"sizes": [number]}) is None
    told = await measure.run({"sizes": [number]}, CONTEXT)
    assert isinstance(told, str)
    assert told.startswith(f"([{int(number)}]")


async def test_a_number_stays_a_float_where_one_is_wanted() -> None:
    told = await measure.run({"sizes": [], "share": 2.0}, CONTEXT)
    assert isinstance(told, str)
    assert "2.0" in told


@pytest.mark.parametrize("each", BOTH, ids=lambda each: each.name)
@pytest.mark.parametrize("args", [[], ["7"], "order_id", 7, True, None], ids=repr)
async def test_arguments_are_an_object(each: HostTool, args: JsonValue) -> None:
    (told,) = faults_of(each, args)
    assert told.startswith("- The arguments are ")
    assert told.endswith(" Send them as an object.")
    with pytest.raises(ToolFailed, match="Send them as an object"):
        await each.run(args, CONTEXT)


def nested(levels: int) -> JsonValue:
    value: JsonValue = "deep"
    for _ in range(levels):
        value = [value]
    return {"order_id": value}


@pytest.mark.parametrize("each", BOTH, ids=lambda each: each.name)
@pytest.mark.parametrize("levels", [limits.CALL_LEVELS, 1000, 100_000])
def test_arguments_nested_too_deep_are_refused(each: HostTool, levels: int) -> None:
    assert faults_of(each, nested(levels)) == [
        "- The arguments have more than 64 levels. Send fewer."
    ]


@pytest.mark.parametrize("each", BOTH, ids=lambda each: each.name)
def test_arguments_just_within_the_depth_are_checked_as_any(each: HostTool) -> None:
    (told,) = faults_of(each, nested(limits.CALL_LEVELS - 1))
    assert told.startswith("- `order_id`: ")
    assert told.endswith("It is a list.")


@pytest.mark.parametrize("each", BOTH, ids=lambda each: each.name)
def test_text_that_can_not_be_stored_does_not_come_back(each: HostTool) -> None:
    told = each.faults({"order_id": ["\0\ud800"], "a\0b": 1, "\udfff": "\ud83d"})
    assert told
    told.encode()
    assert "\0" not in told
    assert "`a\ufffdb` is not known" in told


@pytest.mark.parametrize("each", [measure, find_order], ids=lambda each: each.name)
async def test_text_is_handed_on_in_storable_form(each: HostTool) -> None:
    args: JsonValue = (
        {"order_id": "a\0\ud800b"}
        if each is find_order
        else {"sizes": [], "by_name": {"1": "a\0\ud800b"}}
    )
    assert each.faults(args) is None
    assert "a\ufffd\ufffdb" in str(await each.run(args, CONTEXT))


@pytest.mark.parametrize("each", BOTH, ids=lambda each: each.name)
def test_values_and_keys_are_quoted_short(each: HostTool) -> None:
    long = "x" * 100_000
    told = each.faults({"order_id": [long], long: long, "y" * 50: 10**4000})
    assert told
    assert len(told) < 1000
    assert "x" * (limits.QUOTE + 1) not in told


@pytest.mark.parametrize("each", BOTH, ids=lambda each: each.name)
def test_of_very_many_faults_the_first_are_told(each: HostTool) -> None:
    start = time.monotonic()
    told = faults_of(each, {f"key{number}": number for number in range(100_000)})
    assert len(told) == limits.FAULTS_TOLD + 1
    assert told[-1] == f"- There are {100_001 - limits.FAULTS_TOLD} more."
    assert time.monotonic() - start < 20


def test_very_many_wrong_items_are_told_in_a_few_lines() -> None:
    @tool
    def count(numbers: list[int]) -> int:
        """Counts."""
        return len(numbers)

    numbers: list[JsonValue] = ["x"] * 50_000
    told = faults_of(count, {"numbers": numbers})
    assert len(told) == limits.FAULTS_TOLD + 1


@pytest.mark.parametrize("number", [10**400, -(10**4000), 1e308], ids=["400", "4000", "1e308"])
async def test_numbers_of_any_size_are_whole_numbers(number: float) -> None:
    @tool
    def digits(number: int) -> int:
        """Counts."""
        return len(str(number))

    args: JsonValue = {"number": int(number)}
    assert digits.faults(args) is None
    assert await digits.run(args, CONTEXT) == len(str(int(number)))


@pytest.mark.parametrize("each", BOTH, ids=lambda each: each.name)
def test_a_number_with_more_digits_than_python_writes_is_refused(each: HostTool) -> None:
    assert each.faults({"order_id": 10**5000}) is not None


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")], ids=str)
def test_what_is_no_number_is_null(value: float) -> None:
    (told,) = faults_of(measure, {"sizes": [], "share": value})
    assert told == "- `share`: Input should be a valid number. It is null."


def test_checking_leaves_the_arguments_as_they_are() -> None:
    args: dict[str, Any] = {"sizes": [3.0, "\0"], "by_name": {"1": "\0"}}
    before = json.dumps(args)
    measure.faults(args)
    find_by_schema.faults(args)
    assert json.dumps(args) == before


class Range(BaseModel):
    low: int
    high: int

    @model_validator(mode="after")
    def _in_order(self) -> "Range":
        if self.low > self.high:
            raise ValueError("low is above high: swap them.")
        return self


def test_the_words_of_a_validator_of_its_own_are_told() -> None:
    @tool
    def pick(within: Range) -> int:
        """Picks."""
        return within.low

    assert faults_of(pick, {"within": {"low": 2, "high": 1}}) == [
        "- `within`: low is above high: swap them. It is an object."
    ]


def _break(value: str) -> str:
    raise KeyError(value)


async def test_a_validator_that_breaks_is_a_fault_of_the_tool() -> None:
    @tool
    def look(at: Annotated[str, AfterValidator(_break)]) -> str:
        """Looks."""
        return at

    told = look.faults({"at": "secret"})
    assert told == "The tool did not run: it failed to check its arguments. Go on without it."
    with pytest.raises(KeyError):
        await look.run({"at": "secret"}, CONTEXT)
