"""Adds the datasets that tools register for the charts and tables of documents."""

from alembic import op

revision = "0005"
down_revision = "0004"

_STATEMENTS = (
    """
    CREATE TABLE datasets (
      id              text        PRIMARY KEY
                                  CONSTRAINT datasets_id_can_be_written
                                    CHECK (id ~ '^[A-Za-z0-9_-]{1,80}$'),
      owner           text        NOT NULL,
      conversation_id uuid        NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
      columns         jsonb       NOT NULL,
      rows            bytea       NOT NULL,
      row_count       integer     NOT NULL
                                  CONSTRAINT datasets_rows_counted CHECK (row_count >= 0),
      create_time     timestamptz NOT NULL DEFAULT now(),
      expire_time     timestamptz
    )
    """,
    "CREATE INDEX datasets_by_owner ON datasets (owner)",
    "CREATE INDEX datasets_of_conversation ON datasets (conversation_id, create_time DESC)",
    """
    CREATE INDEX datasets_expiring ON datasets (expire_time) WHERE expire_time IS NOT NULL
    """,
)


def upgrade() -> None:
    """Makes the table."""
    for statement in _STATEMENTS:
        op.execute(statement)
