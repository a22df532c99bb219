import re
from base64 import urlsafe_b64decode

from parleyd.app.ids import RandomIds
from parleyd.contract import limits

CALL_ID = re.compile(r"call_[0-9A-HJKMNP-TV-Z]{26}")


def test_row_ids_are_random_and_differ() -> None:
    made = {RandomIds().uuid() for _ in range(100)}
    assert len(made) == 100
    assert {each.version for each in made} == {4}


def test_call_ids_are_ulids_and_differ() -> None:
    made = {RandomIds().call_id() for _ in range(100)}
    assert len(made) == 100
    assert all(CALL_ID.fullmatch(each) for each in made)


def test_secrets_are_256_random_bits_and_differ() -> None:
    made = {RandomIds().secret() for _ in range(100)}
    assert len(made) == 100
    assert {len(urlsafe_b64decode(f"{each}=")) for each in made} == {32}
    assert {len(each) for each in made} == {limits.ACTION_TOKEN_CHARACTERS}
