"""Which model answers: Gemini where there is a key, else the demo agent in development."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING, Final

from parleyd.app.settings import DEMO_MODEL, GEMINI_MODEL, Settings
from parleyd.models.demo import DemoModel
from parleyd.turns.model import Model

if TYPE_CHECKING:
    from parleyd.models.gemini import GeminiModel

DEMO_PAUSE_SECONDS: Final = 0.02


def models_of(settings: Settings, stack: AsyncExitStack) -> tuple[Model | None, Model | None]:
    """Returns the model and, where it is another one, that of titles."""
    if settings.uses_gemini:
        assert settings.gemini_api_key
        key, gemini = settings.gemini_api_key.get_secret_value(), _gemini(settings)
        model = gemini(settings.model or GEMINI_MODEL, key)
        stack.push_async_callback(model.aclose)
        if not settings.title_model:
            return model, None
        title_model = gemini(settings.title_model, key)
        stack.push_async_callback(title_model.aclose)
        return model, title_model
    if settings.model == DEMO_MODEL or settings.development:
        return DemoModel(pause=DEMO_PAUSE_SECONDS), None
    return None, None


def _gemini(settings: Settings) -> "Callable[[str, str], GeminiModel]":
    """Returns what makes a model from its name and a provider's key."""
    from parleyd.models.gemini import GeminiModel  # noqa: PLC0415 - half a second, for a key alone

    return partial(
        GeminiModel,
        base_url=str(settings.gemini_base_url) if settings.gemini_base_url else None,
        idle_seconds=settings.model_idle_seconds,
    )


def model_of_key(settings: Settings) -> Callable[[str], Model] | None:
    """Returns what makes the model of a turn that brings its own key, if that is allowed."""
    if not settings.allow_caller_keys:
        return None
    return partial(_gemini(settings), settings.model or GEMINI_MODEL)
