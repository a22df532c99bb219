import re

from parleyd.app.ids import RandomIds

CALL_ID = re.compile(r"call_[0-9A-HJKMNP-TV-Z]{26}")


def test_row_ids_are_random_and_differ() -> None:
    made = {RandomIds().uuid() for _ in range(100)}
    assert len(made) == 100
    assert {each.version for each in made} == {4}


def test_call_ids_are_ulids_and_differ() -> None:
    made = {RandomIds().call_id() for _ in range(100)}
    assert len(made) == 100
    assert all(CALL_ID.fullmatch(each) for each in made)
