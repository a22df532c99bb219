"""What the page looks like in light and dark, and what a screen reader hears."""

import re

from playwright.async_api import Page, expect

from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests.playground.conftest import Open
from tests.playground.phone import Phone
from tests.standard_asks import PLAN, ask_plan


async def colours(page: Page) -> tuple[str, str]:
    """Returns the colours of the page and of the texts on the watch."""
    return await page.evaluate(
        """() => [
            getComputedStyle(document.body).backgroundColor,
            getComputedStyle(document.querySelector(".p-watch-empty")).color,
        ]"""
    )


async def test_the_theme_is_switched_in_every_tab_and_kept(open_playground: Open) -> None:
    opened = await open_playground(in_turn())
    page = opened.page
    switch, root = page.get_by_label("Theme"), page.locator("html")
    await expect(switch).to_have_value("system")
    await expect(Phone(page).watch).to_contain_text("No questions")
    light, on_the_watch = await colours(page)
    other = await opened.visitor.tab()
    await expect(Phone(other).watch).to_contain_text("No questions")

    await switch.select_option("Dark")
    await expect(root).to_have_attribute("data-theme", "dark")
    dark, still_on_the_watch = await colours(page)
    assert dark != light
    assert still_on_the_watch == on_the_watch, "a watch is always dark"
    await expect(other.get_by_label("Theme")).to_have_value("dark")
    assert await colours(other) == [dark, on_the_watch]

    await page.reload()
    await expect(switch).to_have_value("dark")
    await expect(Phone(page).watch).to_contain_text("No questions")
    assert await colours(page) == [dark, on_the_watch]

    await page.emulate_media(color_scheme="dark")
    await switch.select_option("Light")
    assert await colours(page) == [light, on_the_watch]
    await switch.select_option("As the system")
    await expect(root).not_to_have_attribute("data-theme", re.compile(""))
    assert await colours(page) == [dark, on_the_watch]


async def test_a_screen_reader_is_told_of_questions_and_replies(open_playground: Open) -> None:
    opened = await open_playground(in_turn([ask_plan()], [Text("**Team** it is.")]), blocks=False)
    phone = Phone(opened.page)
    told = opened.page.get_by_role("status")
    await phone.say("Set up my plan")
    await expect(told.get_by_text(f"The agent asks: {PLAN['prompt']}")).to_have_count(1)
    await phone.submit.click()
    await expect(told.get_by_text("The agent replied: Team it is.")).to_have_count(1)
