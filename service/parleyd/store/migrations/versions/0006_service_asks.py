"""Lets the request of a service's ask be told from another one with its id."""

from alembic import op

revision = "0006"
down_revision = "0005"

_STATEMENTS = (
    """
    ALTER TABLE asks
      ADD COLUMN service_request_hash bytea,
      ADD CONSTRAINT asks_service_request_hashed
        CHECK ((service_request_id IS NULL) = (service_request_hash IS NULL))
    """,
    """
    CREATE INDEX asks_service_request_time ON asks (create_time)
      WHERE service_request_id IS NOT NULL
    """,
)


def upgrade() -> None:
    """Makes the column, its rule and the index."""
    for statement in _STATEMENTS:
        op.execute(statement)
