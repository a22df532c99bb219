"""The storage ports on PostgreSQL."""
