"""A fake Gemini for each test, and the real adapter that talks to it."""

from collections.abc import AsyncIterator

import pytest

from parleyd.models.gemini import GeminiModel
from tests.models.fake_gemini import FakeGemini

KEY = "AIza-very-secret"


@pytest.fixture
async def server() -> AsyncIterator[FakeGemini]:
    fake = FakeGemini()
    async with fake.serving():
        yield fake


@pytest.fixture
async def gemini(server: FakeGemini) -> AsyncIterator[GeminiModel]:
    model = GeminiModel("gemini-test", KEY, base_url=server.url)
    yield model
    await model.aclose()
