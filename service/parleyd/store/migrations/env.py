"""Runs migrations on the connection that `store.migrate` hands over."""

from alembic import context
from sqlalchemy import Connection

connection = context.config.attributes["connection"]
assert isinstance(connection, Connection)
context.configure(connection=connection)
with context.begin_transaction():
    context.run_migrations()
