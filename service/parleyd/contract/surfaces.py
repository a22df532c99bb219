"""How much a person can see."""

from typing import Literal, TypeAlias

Surface: TypeAlias = Literal["full", "compact"]
"""`full`: a phone, a browser. `compact`: a watch, a notification, a voice. Belongs to a turn."""
