"""What is known of files: the port `FileRows`, each call one transaction (spec turns 11)."""

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    CTE,
    BigInteger,
    Connection,
    LargeBinary,
    Text,
    Uuid,
    any_,
    exists,
    func,
    literal,
    literal_column,
    not_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract import limits
from parleyd.contract.errors import FileNotFound, NotOwner
from parleyd.contract.files import File, FileDraft
from parleyd.store.columns import StorableText
from parleyd.store.engine import Database
from parleyd.store.file_tables import file_requests, files
from parleyd.store.statements import given, run
from parleyd.store.tables import asks
from parleyd.turns.file_store import UploadSeen
from parleyd.turns.requests import RequestKey


class PostgresFileRows:
    """Keeps what is known of files in PostgreSQL; fulfils `FileRows`."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._database = Database(engine)

    async def add_file(self, draft: FileDraft, request: RequestKey | None = None) -> File:
        """See `FileRows`. Of two first uploads at once one waits for the other."""
        return await self._database.write(
            lambda connection: _add(connection, draft, request),
            lambda connection: _was_added(connection, draft),
        )

    async def read_upload(self, owner: str, request: RequestKey) -> tuple[File, bytes] | None:
        """See `FileRows`. The file is as it was made, even if it is deleted by now."""
        return await self._database.read(
            lambda connection: _read_upload(connection, owner, request)
        )

    async def find_files(self, owner: str, file_ids: Collection[UUID]) -> Mapping[UUID, File]:
        """See `FileRows`."""

        def find(connection: Connection) -> dict[UUID, File]:
            rows = run(connection, _FIND, owner=owner, files=list(file_ids)).mappings()
            return {row["id"]: File(**row) for row in rows}

        return await self._database.read(find)

    async def find_answered_file(self, service: str, file_id: UUID) -> File | None:
        """See `FileRows`. One query."""

        def find(connection: Connection) -> File | None:
            named = {"content": {"files": [{"fileId": str(file_id)}]}}
            rows = run(connection, _FIND_ANSWERED, file=file_id, service=service, named=named)
            row = rows.mappings().one_or_none()
            return File(**row) if row else None

        return await self._database.read(find)

    async def delete_file(self, owner: str, file_id: UUID) -> File:
        """See `FileRows`."""
        return await self._database.write(
            lambda connection: _delete(connection, owner, file_id),
            lambda connection: run(connection, _DELETED, file=file_id).one_or_none() is not None,
        )

    async def forget_bytes(self, file_ids: Collection[UUID]) -> None:
        """See `FileRows`. A file that is not deleted keeps its bytes."""
        purged = list(file_ids)
        await self._database.write(
            lambda connection: run(connection, _PURGE, files=purged).close(), _is_tried_again
        )

    async def take_leftovers(self, most: int) -> tuple[File, ...]:
        """See `FileRows`. Of processes that ask at the same time each gets files of its own."""

        def take(connection: Connection) -> tuple[File, ...]:
            run(connection, _DELETE_UNUSED, most=most).close()
            rows = run(connection, _LEFTOVERS, most=most).mappings()
            return tuple(File(**row) for row in rows)

        return await self._database.write(take, _is_tried_again)


def used_files(behind: CTE) -> CTE:
    """Notes that the `used_files` given, of `owner`, are referred to, if `behind` has a row.

    Locks them in the order of their ids, so that two turns never wait for each other's.
    """
    unused = (
        select(files.c.id)
        .where(
            files.c.id == any_(given("used_files", ARRAY(Uuid()))),
            files.c.owner == given("owner", Text()),
            files.c.use_time.is_(None),
            exists().select_from(behind),
        )
        .order_by(files.c.id)
        .with_for_update(key_share=True)
        .cte("unused_files")
    )
    return (
        update(files)
        .where(files.c.id == unused.c.id)
        .values(use_time=func.now())
        .returning(files.c.id)
        .cte("used_files")
    )


# ---------------------------------------------------------------- uploads


def _add(connection: Connection, draft: FileDraft, request: RequestKey | None) -> File:
    values = _values(draft)
    if request is None:
        return File(**run(connection, _INSERT, **values).mappings().one())
    key = {"request_id": str(request.id), "digest": request.digest}
    row = run(connection, _INSERT_ONCE, **values, **key).mappings().one_or_none()
    if row:
        return File(**row)
    # The conflict has locked the key's row: it is there until this transaction ends.
    seen = _read_upload(connection, draft.owner, request)
    assert seen, "a request id that is not free has made a file"
    raise UploadSeen(*seen)


def _was_added(connection: Connection, draft: FileDraft) -> bool:
    """Tells whether a file is there, once whoever inserts it has ended.

    The transaction has to be rolled back: where the file is not there, this makes it.
    """
    return run(connection, _PROBE, **_values(draft)).one_or_none() is None


def _values(draft: FileDraft) -> dict[str, Any]:
    return {
        "file": draft.id,
        "owner": draft.owner,
        "filename": draft.filename,
        "storage_key": draft.storage_key,
        "mime_type": draft.mime_type,
        "size": draft.size,
        "sha256": draft.sha256,
    }


def _read_upload(
    connection: Connection, owner: str, request: RequestKey
) -> tuple[File, bytes] | None:
    row = run(connection, _MADE, owner=owner, request_id=str(request.id)).mappings().one_or_none()
    if row is None:
        return None
    values = dict(row)
    return File(**{name: values[name] for name in File.model_fields}), values["request_hash"]


# ---------------------------------------------------------------- deletions


def _delete(connection: Connection, owner: str, file_id: UUID) -> File:
    row = run(connection, _DELETE, owner=owner, file=file_id).mappings().one_or_none()
    if row:
        return File(**row)
    if run(connection, _KNOWN, file=file_id).one_or_none() in {None, (owner,)}:
        raise FileNotFound(file_id)
    raise NotOwner("file")


def _is_tried_again(connection: Connection) -> bool:
    """Answers for a lost COMMIT: the next sweep finds out by itself."""
    del connection
    return False


# ---------------------------------------------------------------- statements

_COLUMNS: Final = [
    files.c.size_bytes.label("size") if name == "size" else files.c[name]
    for name in File.model_fields
]
"""What to select for a `File`."""

_FILE: Final = {
    "id": given("file", Uuid()),
    "owner": given("owner", Text()),
    "filename": given("filename", StorableText()),
    "storage_key": given("storage_key", Text()),
    "mime_type": given("mime_type", Text()),
    "size_bytes": given("size", BigInteger()),
    "sha256": given("sha256", LargeBinary()),
}
_INSERT: Final = insert(files).values(_FILE).returning(*_COLUMNS)
_PROBE: Final = insert(files).values(_FILE).on_conflict_do_nothing().returning(files.c.id)

_COUNTS: Final = file_requests.c.create_time > func.now() - literal(
    timedelta(hours=limits.REQUEST_ID_HOURS)
)
"""Whether a request id still names what it made; later it is as good as free."""

_NEW_KEY: Final = insert(file_requests).values(
    owner=given("owner"),
    request_id=given("request_id"),
    request_hash=given("digest"),
    file_id=given("file"),
)
_KEY: Final = (
    _NEW_KEY.on_conflict_do_update(
        index_elements=[file_requests.c.owner, file_requests.c.request_id],
        set_={
            "request_hash": _NEW_KEY.excluded.request_hash,
            "file_id": _NEW_KEY.excluded.file_id,
            "create_time": func.now(),
        },
        where=not_(_COUNTS),
    )
    .returning(file_requests.c.file_id)
    .cte("new_key")
)
_INSERT_ONCE: Final = (
    insert(files)
    .from_select(list(_FILE), select(*_FILE.values()).select_from(_KEY))
    .returning(*_COLUMNS)
)
"""Takes the request id first. Foreign keys wait for the statement's end, and the file."""

_MADE: Final = (
    select(*_COLUMNS, file_requests.c.request_hash)
    .join_from(file_requests, files, files.c.id == file_requests.c.file_id)
    .where(
        file_requests.c.owner == given("owner"),
        file_requests.c.request_id == given("request_id"),
        _COUNTS,
    )
)

_FIND: Final = select(*_COLUMNS).where(
    files.c.id == any_(given("files", ARRAY(Uuid()))),
    files.c.owner == given("owner"),
    files.c.delete_time.is_(None),
)
_FIND_ANSWERED: Final = select(*_COLUMNS).where(
    files.c.id == given("file"),
    files.c.delete_time.is_(None),
    exists().where(
        asks.c.created_by_service == given("service"),
        asks.c.owner == files.c.owner,
        asks.c.kind == literal_column("'files'"),
        asks.c.answer.contains(given("named", asks.c.answer.type)),
    ),
)
"""The person's own files alone: an answer names no others."""

_DELETE: Final = (
    update(files)
    .where(
        files.c.id == given("file"),
        files.c.owner == given("owner"),
        files.c.delete_time.is_(None),
    )
    .values(delete_time=func.now())
    .returning(*_COLUMNS)
)
_KNOWN: Final = select(files.c.owner).where(
    files.c.id == given("file"), files.c.delete_time.is_(None)
)
_DELETED: Final = (
    select(files.c.id)
    .where(files.c.id == given("file"), files.c.delete_time.is_not(None))
    .with_for_update(key_share=True)
)

_UNUSED: Final = (
    select(files.c.id)
    .where(
        files.c.use_time.is_(None),
        files.c.delete_time.is_(None),
        files.c.create_time < func.now() - literal(timedelta(hours=limits.UNUSED_FILE_HOURS)),
    )
    .order_by(files.c.create_time)
    .limit(given("most"))
    .with_for_update(skip_locked=True)
    .cte("unused")
)
_DELETE_UNUSED: Final = (
    update(files)
    .where(files.c.id == _UNUSED.c.id)
    .values(delete_time=func.now())
    .returning(files.c.id)
)
_LEFTOVERS: Final = (
    select(*_COLUMNS)
    .where(files.c.delete_time.is_not(None), files.c.purge_time.is_(None))
    .order_by(files.c.delete_time)
    .limit(given("most"))
    .with_for_update(skip_locked=True)
)
_PURGE: Final = (
    update(files)
    .where(
        files.c.id == any_(given("files", ARRAY(Uuid()))),
        files.c.delete_time.is_not(None),
        files.c.purge_time.is_(None),
    )
    .values(purge_time=func.now())
    .returning(files.c.id)
)
