"""Adds what repeated requests, limits and the clearing of old rows look up."""

from alembic import op

revision = "0002"
down_revision = "0001"

_STATEMENTS = (
    """
    CREATE TABLE conversation_requests (
      owner           text        NOT NULL,
      request_id      text        NOT NULL,
      request_hash    bytea       NOT NULL,
      conversation_id uuid        NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
      create_time     timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (owner, request_id)
    )
    """,
    "CREATE INDEX conversation_requests_time ON conversation_requests (create_time)",
    """
    CREATE INDEX turns_running_by_conversation ON turns (conversation_id)
      WHERE state = 'running'
    """,
    "CREATE INDEX turns_request_time ON turns (create_time) WHERE request_id IS NOT NULL",
    "CREATE INDEX turn_events_first ON turn_events (create_time) WHERE sequence = 1",
)


def upgrade() -> None:
    """Makes the table and the indexes."""
    for statement in _STATEMENTS:
        op.execute(statement)
