"""The base of every value the layers pass to each other."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen value with a closed set of fields, checked strictly: nothing is coerced."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
