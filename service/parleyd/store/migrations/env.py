"""Runs migrations on the connection that `store.migrate` hands over."""

from alembic import context
from sqlalchemy import Connection

from parleyd.store.tables import metadata

connection = context.config.attributes["connection"]
assert isinstance(connection, Connection)
context.configure(connection=connection, target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
