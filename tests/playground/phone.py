"""The page as a person meets it: by what things are called, not by how they are made."""

import re
from typing import Final

from playwright.async_api import Locator, Page, expect

SUBMITTING: Final = re.compile("^(Submit|Go|Send it)$")


class Phone:
    """The page in one tab: the chat, and the watch beside it."""

    def __init__(self, page: Page) -> None:
        self.page = page

    @property
    def box(self) -> Locator:
        """Where the person writes."""
        return self.page.get_by_role("textbox", name="Message to the agent")

    @property
    def messages(self) -> Locator:
        """All that was said and done, and what is asked."""
        return self.page.get_by_role("region", name="Messages")

    @property
    def question(self) -> Locator:
        """The question that waits."""
        return self.page.get_by_role("region", name="Question from the agent")

    @property
    def watch(self) -> Locator:
        """The screen of the watch."""
        return self.page.get_by_role("region", name="Questions on the watch")

    @property
    def submit(self) -> Locator:
        """The button that sends an answer off."""
        return self.question.get_by_role("button", name=SUBMITTING)

    @property
    def answered(self) -> Locator:
        """The lines of questions that are done with."""
        return self.messages.get_by_role("group").filter(has=self.page.locator("summary"))

    def button(self, name: str) -> Locator:
        """Returns a button of the question."""
        return self.question.get_by_role("button", name=name, exact=True)

    def line(self, text: str | re.Pattern[str]) -> Locator:
        """Returns the lines of the chat with this in them."""
        return self.messages.get_by_role("listitem").filter(has_text=text)

    async def say(self, text: str) -> None:
        """Sends a message, once the agent has done with the last one."""
        await self.box.fill(text)
        await expect(self.page.get_by_role("button", name="Send", exact=True)).to_be_enabled()
        await self.box.press("Enter")

    async def sees(self, text: str) -> None:
        """Waits until something is said once."""
        await expect(self.messages.get_by_text(text).first).to_be_visible()

    async def is_asked(self, prompt: str) -> None:
        """Waits for a question."""
        await expect(self.question).to_contain_text(prompt)

    async def is_asked_nothing(self) -> None:
        """Waits until no question waits."""
        await expect(self.question).to_have_count(0)
