import os
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from parleyd.app.development_key import ALGORITHM, AUDIENCE, FILE, ISSUER, DevelopmentKey
from parleyd.contract.errors import Unauthenticated
from parleyd.rpc.auth import Authenticator
from parleyd.rpc.callers import Person

HOUR = timedelta(hours=1)


def authenticator(key: DevelopmentKey) -> Authenticator:
    return Authenticator(issuer=ISSUER, audience=AUDIENCE, keys=key.keys, algorithms=[ALGORITHM])


async def owner(checked_with: DevelopmentKey, token: str) -> str:
    caller = await authenticator(checked_with).caller([f"Bearer {token}"])
    assert isinstance(caller, Person)
    return caller.owner


async def test_a_token_speaks_for_its_subject_after_a_restart_too(tmp_path: Path) -> None:
    token = DevelopmentKey.in_folder(tmp_path / "new" / "folder").issue("ada", HOUR)
    assert await owner(DevelopmentKey.in_folder(tmp_path / "new" / "folder"), token) == "ada"


async def test_the_key_of_another_folder_does_not_count(tmp_path: Path) -> None:
    token = DevelopmentKey.in_folder(tmp_path / "one").issue("ada", HOUR)
    with pytest.raises(Unauthenticated, match="not valid"):
        await owner(DevelopmentKey.in_folder(tmp_path / "two"), token)


async def test_a_token_ends_with_its_lifetime_and_is_for_one_audience(tmp_path: Path) -> None:
    key = DevelopmentKey.in_folder(tmp_path)
    with pytest.raises(Unauthenticated, match="expired"):
        await owner(key, key.issue("ada", -HOUR))
    with pytest.raises(Unauthenticated, match="audience"):
        await owner(key, key.issue("ada", HOUR, audience="elsewhere"))


def test_the_file_is_its_owners_alone_and_the_only_one(tmp_path: Path) -> None:
    os.umask(os.umask(0o000))
    DevelopmentKey.in_folder(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600


async def test_processes_that_make_the_key_at_once_share_it(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        keys = list(pool.map(DevelopmentKey.in_folder, [tmp_path] * 16))
    for key in keys[1:]:
        assert await owner(keys[0], key.issue("ada", HOUR)) == "ada"


def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    DevelopmentKey.in_folder(tmp_path)
    (tmp_path / FILE).chmod(0o640)
    with pytest.raises(ValueError, match="chmod 600"):
        DevelopmentKey.in_folder(tmp_path)


def test_a_file_that_is_no_key_is_refused_and_stays(tmp_path: Path) -> None:
    (tmp_path / FILE).touch(mode=0o600)
    (tmp_path / FILE).write_text("no key")
    with pytest.raises(ValueError, match="holds no key"):
        DevelopmentKey.in_folder(tmp_path)
    assert (tmp_path / FILE).read_text() == "no key"
