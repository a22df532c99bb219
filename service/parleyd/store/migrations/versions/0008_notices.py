"""Adds what the deployment's receiver is to be told of asks."""

from alembic import op

revision = "0008"
down_revision = "0007"

_STATEMENTS = (
    """
    CREATE TABLE notices (
      id            uuid        PRIMARY KEY DEFAULT gen_random_uuid(),
      ask_id        uuid        NOT NULL REFERENCES asks (id) ON DELETE CASCADE,
      kind          text        NOT NULL
                                CONSTRAINT notices_kind_known CHECK (kind IN ('asked','resolved')),
      state         text        NOT NULL DEFAULT 'due'
                                CONSTRAINT notices_state_known
                                  CHECK (state IN ('waiting','due','sent','dropped','dead')),
      attempts      integer     NOT NULL DEFAULT 0,
      next_time     timestamptz NOT NULL DEFAULT now(),
      claimed_until timestamptz,
      last_error    text,
      create_time   timestamptz NOT NULL DEFAULT now(),
      end_time      timestamptz,
      UNIQUE (ask_id, kind),
      CONSTRAINT notices_end_waited_for CHECK (kind = 'resolved' OR state <> 'waiting'),
      CONSTRAINT notices_time_when_ended
        CHECK ((state IN ('sent','dropped','dead')) = (end_time IS NOT NULL)),
      CONSTRAINT notices_claimed_when_due CHECK (claimed_until IS NULL OR state = 'due')
    )
    """,
    "CREATE INDEX notices_due ON notices (next_time) WHERE state = 'due'",
    "CREATE INDEX notices_waiting ON notices (ask_id) WHERE state = 'waiting'",
    "CREATE INDEX notices_ended ON notices (end_time) WHERE end_time IS NOT NULL",
)


def upgrade() -> None:
    """Makes the table."""
    for statement in _STATEMENTS:
        op.execute(statement)
