"""What may happen to a turn, and what that needs from outside."""
