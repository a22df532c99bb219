"""Adds what uploads, repeated ones too, and the sweep of files look up."""

from alembic import op

revision = "0003"
down_revision = "0002"

_STATEMENTS = (
    """
    ALTER TABLE files
      ADD use_time   timestamptz,
      ADD purge_time timestamptz,
      ADD CONSTRAINT files_purged_when_deleted
        CHECK (purge_time IS NULL OR delete_time IS NOT NULL)
    """,
    """
    CREATE INDEX files_unused ON files (create_time)
      WHERE use_time IS NULL AND delete_time IS NULL
    """,
    """
    CREATE INDEX files_leftover ON files (delete_time)
      WHERE delete_time IS NOT NULL AND purge_time IS NULL
    """,
    """
    CREATE TABLE file_requests (
      owner        text        NOT NULL,
      request_id   text        NOT NULL,
      request_hash bytea       NOT NULL,
      file_id      uuid        NOT NULL REFERENCES files (id) ON DELETE CASCADE,
      create_time  timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (owner, request_id)
    )
    """,
    "CREATE INDEX file_requests_time ON file_requests (create_time)",
)


def upgrade() -> None:
    """Makes the columns, the table and the indexes."""
    for statement in _STATEMENTS:
        op.execute(statement)
