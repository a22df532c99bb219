"""Adds the todo lists that the demo agent's tools work on."""

from alembic import op

revision = "0004"
down_revision = "0003"

_STATEMENTS = (
    """
    CREATE TABLE demo_todo_lists (
      owner       text        PRIMARY KEY,
      create_time timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT demo_todo_lists_owner_given CHECK (owner <> '')
    )
    """,
    """
    CREATE TABLE demo_todos (
      id              bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      owner           text        NOT NULL REFERENCES demo_todo_lists (owner) ON DELETE CASCADE,
      text            text        NOT NULL CONSTRAINT demo_todos_text_shown_whole
                                    CHECK (char_length(text) BETWEEN 1 AND 200),
      done            boolean     NOT NULL DEFAULT false,
      idempotency_key text,
      create_time     timestamptz NOT NULL DEFAULT now(),
      done_time       timestamptz,
      CONSTRAINT demo_todos_time_when_done CHECK (done = (done_time IS NOT NULL)),
      UNIQUE (owner, idempotency_key)
    )
    """,
)


def upgrade() -> None:
    """Makes the tables."""
    for statement in _STATEMENTS:
        op.execute(statement)
