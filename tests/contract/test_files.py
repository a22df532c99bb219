"""The rules of a files ask and of its answer (spec asks 8.2)."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.answers import accepted, check_answer
from parleyd.contract.asks.kinds import check_ask
from parleyd.contract.data_urls import to_data_url
from parleyd.contract.file_types import TYPES_BY_ACCEPT, AcceptValue
from tests.contract.reported import reported
from tests.contract.valid_files import answered_files, file_asks

SHIP = "\U0001f6a2"
ACCEPT: list[JsonValue] = [*get_args(AcceptValue)]
SCANS: dict[str, JsonValue] = {"prompt": "Send the scans.", "accept": ["image", "text"]}
MIN_RANGE = ("minFiles", "RANGE_INVALID")
MAX_RANGE = ("maxFiles", "RANGE_INVALID")

Faults = list[tuple[str, str]]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, id="without bounds"),
        pytest.param({"accept": ACCEPT}, id="everything"),
        pytest.param({"accept": ["json"]}, id="one type"),
        pytest.param({"minFiles": 1, "maxFiles": 1.0}, id="exactly one"),
        pytest.param({"minFiles": 10}, id="a minimum like the implied maximum"),
        pytest.param({"maxFiles": 1}, id="a maximum like the implied minimum"),
        pytest.param(
            {"title": "Scans", "submitLabel": "Send", "allowDecline": False}, id="shared keys"
        ),
    ],
)
def test_a_valid_files_ask_has_no_errors(changes: dict[str, JsonValue]) -> None:
    assert check_ask("files", {**SCANS, **changes}) == ()


@pytest.mark.parametrize(
    ("changes", "errors"),
    [
        pytest.param({"accept": "pdf"}, [("accept", "INVALID_TYPE")], id="no list"),
        pytest.param({"accept": []}, [("accept", "TOO_FEW")], id="nothing taken"),
        pytest.param(
            {"accept": ["pdf"] * 6}, [("accept", "TOO_MANY")], id="a long list: no repeats"
        ),
        pytest.param(
            {"accept": ["PDF", None, 3, ["pdf"], "image/png"]},
            [(f"accept[{index}]", "INVALID_ENUM") for index in range(5)],
            id="values there are not",
        ),
        pytest.param(
            {"accept": ["pdf", "csv", "pdf", "pdf", "csv"]},
            [(f"accept[{index}]", "DUPLICATE_ID") for index in (2, 3, 4)],
            id="every repeat",
        ),
        pytest.param(
            {"accept": ["pdf", "pdf", "docx"]},
            [("accept[2]", "INVALID_ENUM")],
            id="an unknown value hides a repeat",
        ),
        pytest.param({"minFiles": 0}, [MIN_RANGE], id="a minimum of none"),
        pytest.param({"maxFiles": 11}, [MAX_RANGE], id="a maximum above ten"),
        pytest.param({"minFiles": 11}, [MIN_RANGE], id="a minimum above all: one error, not two"),
        pytest.param(
            {"minFiles": 11, "maxFiles": 11}, [MAX_RANGE, MIN_RANGE], id="both above all: one each"
        ),
        pytest.param({"minFiles": 3, "maxFiles": 2}, [MIN_RANGE], id="bounds that contradict"),
        pytest.param({"maxFiles": 0}, [MAX_RANGE, MIN_RANGE], id="below the implied minimum"),
        pytest.param(
            {"minFiles": True, "maxFiles": None},
            [("maxFiles", "INVALID_TYPE"), ("minFiles", "INVALID_TYPE")],
            id="what is no number",
        ),
        pytest.param(
            {"minFiles": 3, "maxFiles": 2, "accept": ["csv", "csv"], "types": [], "prompt": ""},
            [
                ("accept[1]", "DUPLICATE_ID"),
                MIN_RANGE,
                ("prompt", "TOO_SHORT"),
                ("types", "UNKNOWN_KEY"),
            ],
            id="all rules at once, beside faults of shape",
        ),
    ],
)
def test_what_is_wrong_with_a_files_ask_is_reported(
    changes: dict[str, JsonValue], errors: Faults
) -> None:
    assert reported(check_ask("files", {**SCANS, **changes})) == errors


def test_files_are_not_offered_on_the_compact_surface() -> None:
    with pytest.raises(ValueError, match="does not offer files"):
        check_ask("files", SCANS, "compact")


DOT = "data:image/png;base64,iVBORw0KGgo="
FIRST = "content.files[0]"


def upload(**changes: JsonValue) -> dict[str, JsonValue]:
    """Returns a file that was uploaded before."""
    return {"fileId": "f1", "filename": "s.png", "mimeType": "image/png", "size": 8, **changes}


def inline(**changes: JsonValue) -> dict[str, JsonValue]:
    """Returns a file whose bytes are in the answer."""
    return {"url": DOT, "filename": "dot.png", "mimeType": "image/png", "size": 8, **changes}


def without(file: dict[str, JsonValue], *keys: str) -> dict[str, JsonValue]:
    return {key: value for key, value in file.items() if key not in keys}


def errors_of(*files: JsonValue, **ask: JsonValue) -> Faults:
    asked = {**SCANS, **ask}
    assert check_ask("files", asked) == ()
    return reported(check_answer("files", asked, accepted({"files": [*files]})))


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(upload(), id="an upload"),
        pytest.param(inline(), id="a data URL"),
        pytest.param(upload(filename="f" * limits.FILENAME), id="the longest name"),
        pytest.param(upload(filename="../a b\n.png"), id="any name"),
        pytest.param(upload(fileId="f" * limits.FILE_ID), id="the longest id"),
        pytest.param(upload(fileId=" "), id="a blank id is a string"),
        pytest.param(upload(size=0), id="no bytes declared"),
        pytest.param(upload(size=8.0), id="a size with a point"),
        pytest.param(upload(size=limits.FILE_BYTES), id="a size at the cap"),
        pytest.param(inline(size=0), id="a declared size below the real one"),
        pytest.param(inline(size=limits.FILE_BYTES), id="a declared size above it"),
        pytest.param(inline(url="data:image/png;base64,"), id="an empty data URL"),
        pytest.param(inline(url="data: Image/PNG ;q;BASE64,AAAA"), id="a header in other words"),
    ],
)
def test_a_file_that_fits_has_no_errors(file: dict[str, JsonValue]) -> None:
    assert errors_of(file) == []
    assert errors_of(file, file, maxFiles=2) == []


@pytest.mark.parametrize(
    ("content", "errors"),
    [
        pytest.param({}, [("content.files", "MISSING_REQUIRED")], id="no list"),
        pytest.param({"files": None}, [("content.files", "INVALID_TYPE")], id="a null"),
        pytest.param(
            {"files": {"0": upload()}}, [("content.files", "INVALID_TYPE")], id="an object"
        ),
        pytest.param(
            {"files": [], "note": "x"},
            [("content.note", "UNKNOWN_KEY")],
            id="an unknown key hides the count",
        ),
        pytest.param(
            {"files": ["f1", None, upload(), 3]},
            [(f"content.files[{index}]", "INVALID_TYPE") for index in (0, 1, 3)],
            id="files that are no objects",
        ),
    ],
)
def test_a_content_keeps_its_shape(content: dict[str, JsonValue], errors: Faults) -> None:
    assert reported(check_answer("files", SCANS, accepted(content))) == errors


@pytest.mark.parametrize(
    ("file", "errors"),
    [
        pytest.param(
            {},
            [(f"{FIRST}.{key}", "MISSING_REQUIRED") for key in ("filename", "mimeType", "size")],
            id="nothing, and no word of the reference",
        ),
        pytest.param(upload(filename=" "), [(f"{FIRST}.filename", "TOO_SHORT")], id="blank name"),
        pytest.param(
            upload(filename="f" * (limits.FILENAME - 1) + SHIP),
            [(f"{FIRST}.filename", "TOO_LONG")],
            id="a long name",
        ),
        pytest.param(upload(mimeType=""), [(f"{FIRST}.mimeType", "TOO_SHORT")], id="no type"),
        pytest.param(
            upload(mimeType="t" * (limits.MIME_TYPE + 1)),
            [(f"{FIRST}.mimeType", "TOO_LONG")],
            id="a long type",
        ),
        pytest.param(upload(fileId=""), [(f"{FIRST}.fileId", "TOO_SHORT")], id="no id"),
        pytest.param(
            upload(fileId="f" * (limits.FILE_ID + 1)),
            [(f"{FIRST}.fileId", "TOO_LONG")],
            id="a long id",
        ),
        pytest.param(upload(size=-1), [(f"{FIRST}.size", "RANGE_INVALID")], id="below zero"),
        pytest.param(upload(size=0.5), [(f"{FIRST}.size", "INVALID_TYPE")], id="half a byte"),
        pytest.param(upload(size="8"), [(f"{FIRST}.size", "INVALID_TYPE")], id="a digit"),
        pytest.param(
            upload(mime_type="x"), [(f"{FIRST}.mime_type", "UNKNOWN_KEY")], id="snake case"
        ),
        pytest.param(
            without(upload(), "fileId"), [(FIRST, "MISSING_REQUIRED")], id="without a reference"
        ),
        pytest.param(
            {**upload(), "url": DOT}, [(f"{FIRST}.url", "INVALID_FORMAT")], id="both references"
        ),
        pytest.param(
            {**upload(), "url": ""},
            [(f"{FIRST}.url", "INVALID_FORMAT")],
            id="both, whatever the url holds",
        ),
        pytest.param(inline(url=""), [(f"{FIRST}.url", "INVALID_FORMAT")], id="an empty url"),
        pytest.param(
            inline(url="https://files.example.org/dot.png"),
            [(f"{FIRST}.url", "INVALID_FORMAT")],
            id="a remote url",
        ),
        pytest.param(
            inline(url=DOT[:-1]), [(f"{FIRST}.url", "INVALID_FORMAT")], id="a character short"
        ),
        pytest.param(inline(url=None), [(f"{FIRST}.url", "INVALID_TYPE")], id="a null url"),
        pytest.param(
            {**upload(fileId=None), "url": "x"},
            [(f"{FIRST}.fileId", "INVALID_TYPE")],
            id="a wrong type skips the reference",
        ),
        pytest.param(
            {"filename": "", "mimeType": "", "size": -1, "path": "/tmp"},
            [
                (FIRST, "MISSING_REQUIRED"),
                (f"{FIRST}.filename", "TOO_SHORT"),
                (f"{FIRST}.mimeType", "TOO_SHORT"),
                (f"{FIRST}.path", "UNKNOWN_KEY"),
                (f"{FIRST}.size", "RANGE_INVALID"),
            ],
            id="other faults do not",
        ),
        pytest.param(
            {**upload(fileId=""), "url": "x"},
            [(f"{FIRST}.fileId", "TOO_SHORT"), (f"{FIRST}.url", "INVALID_FORMAT")],
            id="an id of no length is an id",
        ),
    ],
)
def test_the_faults_of_a_file_hide_those_of_the_rules(
    file: dict[str, JsonValue], errors: Faults
) -> None:
    wrong_by_rule = upload(mimeType="text/html", size=10**12)
    assert errors_of(file, wrong_by_rule, maxFiles=1) == errors


def test_a_blocking_fault_skips_the_reference_of_its_own_file_alone() -> None:
    assert errors_of({"filename": "a"}, without(upload(), "fileId"), inline(url="x"), "f1") == [
        (f"{FIRST}.mimeType", "MISSING_REQUIRED"),
        (f"{FIRST}.size", "MISSING_REQUIRED"),
        ("content.files[1]", "MISSING_REQUIRED"),
        ("content.files[2].url", "INVALID_FORMAT"),
        ("content.files[3]", "INVALID_TYPE"),
    ]


@pytest.mark.parametrize(
    ("count", "bounds", "fits"),
    [
        pytest.param(0, {}, False, id="none"),
        pytest.param(1, {}, True, id="one"),
        pytest.param(10, {}, True, id="ten"),
        pytest.param(11, {}, False, id="eleven"),
        pytest.param(1, {"minFiles": 2}, False, id="below the minimum"),
        pytest.param(2, {"minFiles": 2.0}, True, id="at the minimum"),
        pytest.param(3, {"maxFiles": 3}, True, id="at the maximum"),
        pytest.param(4, {"maxFiles": 3}, False, id="above the maximum"),
    ],
)
def test_files_are_counted(count: int, bounds: dict[str, JsonValue], *, fits: bool) -> None:
    expected = [] if fits else [("content.files", "FILE_COUNT")]
    assert errors_of(*[upload()] * count, **bounds) == expected


def test_no_files_are_no_answer_even_where_the_ask_may_be_skipped() -> None:
    assert errors_of(allowDecline=True) == [("content.files", "FILE_COUNT")]


@pytest.mark.parametrize("accept", get_args(AcceptValue))
def test_a_file_has_one_of_the_accepted_types(accept: AcceptValue) -> None:
    refused = [(f"{FIRST}.mimeType", "FILE_TYPE_NOT_ACCEPTED")]
    for value, types in TYPES_BY_ACCEPT.items():
        for mime_type in types:
            expected = [] if value == accept else refused
            assert errors_of(upload(mimeType=mime_type), accept=[accept]) == expected
            everything = errors_of(upload(mimeType=mime_type), accept=ACCEPT)
            assert everything == []


@pytest.mark.parametrize(
    "mime_type", ["IMAGE/PNG", "image/png; q=1", " image/png", "image/svg+xml", "image/*", "png"]
)
def test_a_type_is_compared_as_sent(mime_type: str) -> None:
    assert errors_of(upload(mimeType=mime_type)) == [
        (f"{FIRST}.mimeType", "FILE_TYPE_NOT_ACCEPTED")
    ]


@pytest.mark.parametrize(
    ("header", "mime_type", "fits"),
    [
        pytest.param("image/png", "image/png", True, id="the same"),
        pytest.param("\u2003IMAGE/PNG ", "image/png", True, id="the same in the end"),
        pytest.param("image/png", "image/gif", False, id="another image"),
        pytest.param("image/x-png", "image/png", False, id="another name"),
        pytest.param("image/png\x85", "image/png", False, id="U+0085 is no white space"),
    ],
)
def test_a_data_url_has_the_declared_type(header: str, mime_type: str, *, fits: bool) -> None:
    expected = [] if fits else [(f"{FIRST}.url", "MIME_MISMATCH")]
    file = inline(url=f"data:{header};base64,AAAA", mimeType=mime_type)
    assert errors_of(file) == expected


def test_the_larger_of_declared_and_real_size_meets_the_cap() -> None:
    def with_cap(cap: int, *files: JsonValue) -> Faults:
        response = accepted({"files": [*files]})
        return reported(check_answer("files", SCANS, response, cap))

    too_large = (f"{FIRST}.size", "FILE_TOO_LARGE")
    assert with_cap(8, inline()) == []
    assert with_cap(7, inline()) == [too_large]
    assert with_cap(7, inline(size=0)) == [too_large]
    assert with_cap(7, inline(size=9.0)) == [too_large]
    assert with_cap(8, inline(size=9)) == [too_large]
    assert with_cap(8, upload(size=9)) == [too_large]
    assert with_cap(10**400, upload(size=10**300)) == []
    assert with_cap(8, upload(), upload(size=2**63)) == [
        ("content.files[1].size", "FILE_TOO_LARGE")
    ]


def test_a_data_url_of_the_largest_size_is_measured_to_the_byte() -> None:
    def of_size(size: int) -> JsonValue:
        return inline(url=to_data_url("image/png", bytes(size)), size=0)

    assert errors_of(of_size(limits.FILE_BYTES)) == []
    assert errors_of(of_size(limits.FILE_BYTES + 1)) == [(f"{FIRST}.size", "FILE_TOO_LARGE")]


def test_all_rules_are_reported_together() -> None:
    bad = inline(mimeType="text/html", size=10**12)
    assert errors_of(bad, bad, maxFiles=1) == [
        ("content.files", "FILE_COUNT"),
        *(
            (f"content.files[{index}].{key}", code)
            for index in (0, 1)
            for key, code in (
                ("mimeType", "FILE_TYPE_NOT_ACCEPTED"),
                ("size", "FILE_TOO_LARGE"),
                ("url", "MIME_MISMATCH"),
            )
        ),
    ]


def test_a_refused_type_is_told_what_is_taken() -> None:
    response = accepted({"files": [upload(mimeType="text/html")]})
    (error,) = check_answer("files", {**SCANS, "accept": ["csv", "pdf"]}, response)
    assert error.fix.endswith('whose type is one of "application/pdf", "text/csv".')


@given(file_asks(), st.data())
def test_any_files_of_the_accepted_types_answer(
    ask: dict[str, JsonValue], data: st.DataObject
) -> None:
    content = data.draw(answered_files(ask))
    assert check_answer("files", ask, accepted(content)) == ()
    sizes = {error.code for error in check_answer("files", ask, accepted(content), -1)}
    assert sizes == {"FILE_TOO_LARGE"}
