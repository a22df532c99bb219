"""Where the service runs, which decides what is allowed; `Settings` has this field too."""

from typing import Literal

from pydantic import BaseModel


class Environment(BaseModel):
    """Somebody's own machine, or anywhere else."""

    environment: Literal["development", "production"] = "production"
    """In development the service signs tokens itself and listens on this machine alone."""

    @property
    def development(self) -> bool:
        """Tells whether this is somebody's own machine."""
        return self.environment == "development"
