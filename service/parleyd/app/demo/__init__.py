"""The demonstration: a phone and a watch, two clients of a real service."""
