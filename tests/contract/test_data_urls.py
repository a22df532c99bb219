"""Base64 data URLs (spec asks FI4)."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parleyd.contract.data_urls import (
    DataUrl,
    data_url_bytes,
    is_data_url,
    read_data_url,
    to_data_url,
)

PNG = "image/png"


@pytest.mark.parametrize(
    ("url", "media_type", "data"),
    [
        pytest.param("data:image/png;base64,iVBORw0KGgo=", PNG, b"\x89PNG\r\n\x1a\n", id="plain"),
        pytest.param("data:image/png;base64,", PNG, b"", id="no bytes"),
        pytest.param("data:image/png;base64,AA==", PNG, b"\0", id="one byte"),
        pytest.param("data:image/png;base64,AB==", PNG, b"\0", id="bits left over"),
        pytest.param("data:image/png;base64,AAA=", PNG, b"\0\0", id="two bytes"),
        pytest.param("data:image/png;base64,+/+/", PNG, b"\xfb\xff\xbf", id="both signs"),
        pytest.param("data:image/png;BaSe64,AAAA", PNG, bytes(3), id="the encoding in any case"),
        pytest.param(
            "data:\u3000Image/PNG\ufeff;base64,AAAA",
            PNG,
            bytes(3),
            id="the type trimmed, in capitals",
        ),
        pytest.param("data:image/png;;;a=b;base64,AAAA", PNG, bytes(3), id="pieces in between"),
        pytest.param("data:x;base64;base64,AAAA", "x", bytes(3), id="the encoding twice"),
        pytest.param("data:base64;base64,AAAA", "base64", bytes(3), id="a type of that name"),
        pytest.param("data:no type;base64,AAAA", "no type", bytes(3), id="a type that is none"),
    ],
)
def test_a_base64_data_url_is_read(url: str, media_type: str, data: bytes) -> None:
    assert is_data_url(url)
    assert read_data_url(url) == DataUrl(media_type, len(data))
    assert data_url_bytes(url) == data


BAD_HEADERS = [
    pytest.param("", id="nothing"),
    pytest.param("https://files.example.org/dot.png", id="a remote URL"),
    pytest.param("DATA:image/png;base64,AAAA", id="a scheme in capitals"),
    pytest.param(" data:image/png;base64,AAAA", id="a space before"),
    pytest.param("data:image/png;base64", id="no comma"),
    pytest.param("data:image/png,AAAA", id="no encoding"),
    pytest.param("data:image/png,;base64,AAAA", id="an encoding after the first comma"),
    pytest.param("data:image/png;base64;x=y,AAAA", id="an encoding that is not last"),
    pytest.param("data:image/png; base64,AAAA", id="a space before the encoding"),
    pytest.param("data:image/png;base64 ,AAAA", id="a space behind the encoding"),
    pytest.param("data:image/png;base32,AAAA", id="another encoding"),
    pytest.param("data:base64,AAAA", id="one piece"),
    pytest.param("data:;base64,AAAA", id="no type"),
    pytest.param("data: \ufeff;base64,AAAA", id="a blank type"),
    pytest.param("data:image/png;ba\u017fe64,AAAA", id="a long s"),
]


@pytest.mark.parametrize("url", BAD_HEADERS)
def test_a_bad_header_makes_no_data_url(url: str) -> None:
    assert not is_data_url(url)
    with pytest.raises(ValueError, match="no base64 data URL"):
        read_data_url(url)
    with pytest.raises(ValueError, match="no base64 data URL"):
        data_url_bytes(url)


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param("A", id="one character"),
        pytest.param("AAA", id="three characters"),
        pytest.param("AAAAA", id="five characters"),
        pytest.param("AAAAA=", id="a sign that fills nothing up"),
        pytest.param("AAAA=", id="a sign too many"),
        pytest.param("A===", id="three signs"),
        pytest.param("====", id="four signs"),
        pytest.param("AAAA====", id="four signs at the end"),
        pytest.param("AA==AAAA", id="signs in the middle"),
        pytest.param("=AAA", id="a sign in front"),
        pytest.param("AA=A", id="a sign before the last"),
        pytest.param("AA-_", id="the other alphabet"),
        pytest.param("AAA\n", id="a newline at the end"),
        pytest.param("AA A", id="a space"),
        pytest.param("AA%3D", id="a percent sign"),
        pytest.param("AAA,", id="a comma"),
        pytest.param("AAA\0", id="U+0000"),
        pytest.param("AAA\u0661", id="an Arabic digit"),
        pytest.param("AAA\uff21", id="a wide letter"),
        pytest.param("AAA\ud83d", id="an unpaired surrogate"),
        pytest.param("A" * 400_000 + "!AAA", id="a fault at the far end"),
    ],
)
def test_a_bad_payload_makes_no_data_url(payload: str) -> None:
    url = f"data:image/png;base64,{payload}"
    assert not is_data_url(url)
    with pytest.raises(ValueError, match="no base64 data URL"):
        data_url_bytes(url)


def test_a_megabyte_of_pieces_is_a_header_too() -> None:
    assert is_data_url("data:a" + ";" * 1_000_000 + "base64,AAAA")


@given(st.binary(max_size=200))
def test_bytes_travel_in_a_data_url_and_back(data: bytes) -> None:
    url = to_data_url("text/plain", data)
    assert is_data_url(url)
    assert read_data_url(url) == DataUrl("text/plain", len(data))
    assert data_url_bytes(url) == data


@given(st.text(st.sampled_from("Aa0+/=-,\n"), max_size=9))
def test_a_payload_is_base64_or_no_payload(payload: str) -> None:
    url = f"data:x;base64,{payload}"
    try:
        data = base64.b64decode(payload.encode(), validate=True)
        # The library lets one sign too many pass where none is due.
        strict = len(payload) % 4 == 0
    except ValueError:
        assert not is_data_url(url)
    else:
        assert is_data_url(url) == strict
        if strict:
            assert read_data_url(url).size == len(data)
