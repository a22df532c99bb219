"""The generated stubs of parley.v1."""
