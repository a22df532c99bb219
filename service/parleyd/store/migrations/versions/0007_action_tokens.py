"""Finds action tokens whose time is over, and the asks of a service by whom they were put to."""

from alembic import op

revision = "0007"
down_revision = "0006"

_STATEMENTS = (
    "CREATE INDEX action_tokens_end ON action_tokens (expire_time)",
    """
    CREATE INDEX asks_of_service ON asks (created_by_service, owner)
      WHERE created_by_service IS NOT NULL
    """,
)


def upgrade() -> None:
    """Makes the indexes."""
    for statement in _STATEMENTS:
        op.execute(statement)
