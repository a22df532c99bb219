"""Tools named by import path."""

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from parleyd.tools import ToolsUnusable, load_tools

NUMBERS = itertools.count(1)


class Workshop:
    """A folder that the process starts in, with modules of the deployment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, code: str, *, package: bool = False) -> str:
        """Writes a module and returns its name, which no other has."""
        name = f"workshop_{next(NUMBERS)}"
        path = self.folder / name / "__init__.py" if package else self.folder / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"from parleyd.tools import tool\n{dedent(code)}")
        return name


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workshop]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield Workshop(tmp_path)
    for name in [name for name in sys.modules if name.startswith("workshop_")]:
        del sys.modules[name]


SHOP = """
    @tool
    def find_order(order_id: str) -> str:
        "Finds an order."
        return order_id

    @tool
    def cancel_order(order_id: str) -> str:
        "Cancels an order."
        return order_id

    @tool
    def _hidden(order_id: str) -> str:
        "Is not offered."
        return order_id

    TWO = [find_order, (cancel_order,)]
    BY_NAME = {"cancel_order": cancel_order, "find_order": find_order}

    class Shop:
        tools = [cancel_order]

    def plain(order_id: str) -> str:
        "Is no tool."
        return order_id
"""


def loaded(*paths: str, asks_on: bool = True) -> list[str]:
    tools = load_tools(paths, asks_on=asks_on)
    assert [tool.name for tool in tools.values()] == [*tools]
    return [*tools]


def refusal(*paths: str, asks_on: bool = True) -> str:
    with pytest.raises(ToolsUnusable) as raised:
        load_tools(paths, asks_on=asks_on)
    return str(raised.value)


def test_an_attribute_names_a_tool_or_several(workshop: Workshop) -> None:
    shop = workshop.write(SHOP)
    assert loaded(f"{shop}:find_order") == ["find_order"]
    assert loaded(f"{shop}:_hidden") == ["_hidden"]
    assert loaded(f"{shop}:TWO") == ["find_order", "cancel_order"]
    assert loaded(f"{shop}:BY_NAME") == ["cancel_order", "find_order"]
    assert loaded(f"{shop}:Shop.tools") == ["cancel_order"]


def test_a_module_names_all_its_tools(workshop: Workshop) -> None:
    shop = workshop.write(SHOP)
    assert loaded(shop) == ["find_order", "cancel_order"]


def test_a_module_that_says_what_it_exports_names_those_tools(workshop: Workshop) -> None:
    shop = workshop.write(f"__all__ = ['cancel_order', '_hidden', 'plain']\n{dedent(SHOP)}")
    assert loaded(shop) == ["cancel_order", "_hidden"]


def test_tools_that_a_package_imports_are_its_own(workshop: Workshop) -> None:
    shop = workshop.write(SHOP)
    package = workshop.write(f"from {shop} import find_order, find_order as again", package=True)
    assert loaded(package) == ["find_order"]


def test_a_tool_that_is_named_twice_counts_once(workshop: Workshop) -> None:
    shop = workshop.write(SHOP)
    assert loaded(f"{shop}:cancel_order", shop) == ["cancel_order", "find_order"]


def test_no_paths_are_no_tools_and_change_nothing() -> None:
    before = [*sys.path]
    assert loaded() == []
    assert sys.path == before


def test_a_tool_of_anybodys_own_making_is_one(workshop: Workshop) -> None:
    shop = workshop.write("""
        class Own:
            name, description, schema = "own", "Is its own.", {"type": "object"}
            replay_safe, seconds = False, None
            def faults(self, args): return None
            async def needs_approval(self, args, context): return False
            async def run(self, args, context): return 1
        own = Own()
    """)
    assert loaded(shop) == ["own"]


def test_a_tool_that_can_not_tell_what_needs_approval_is_none(workshop: Workshop) -> None:
    shop = workshop.write("""
        class Own:
            name, description, schema = "own", "Is its own.", {"type": "object"}
            replay_safe, seconds = False, None
            def faults(self, args): return None
            async def run(self, args, context): return 1
        own = Own()
    """)
    assert f"`{shop}:own` has a Own, which is no tool" in refusal(f"{shop}:own")


@pytest.mark.parametrize("path", ["", ":", "a:", ":a", "shop tools", "a..b", ".a", "a:b:c"])
def test_a_path_that_is_none_is_refused(workshop: Workshop, path: str) -> None:
    assert workshop.folder.exists()
    assert refusal(path).startswith(f"`{path}` ")


def test_a_module_that_is_not_there_is_named(workshop: Workshop) -> None:
    assert refusal("workshop_none.tools:find") == (
        "`workshop_none.tools:find` names the module `workshop_none.tools`, and there is none: "
        f"install it, put it into {workshop.folder}, or mend the name."
    )
    package = workshop.write("", package=True)
    assert f"names the module `{package}.tools`, and there is none" in refusal(f"{package}.tools")


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import workshop_missing", "ModuleNotFoundError: No module named 'workshop_missing'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def broken(:", "SyntaxError: invalid syntax"),
        ("raise SystemExit(3)", "SystemExit: 3"),
    ],
)
def test_a_module_that_breaks_says_how(workshop: Workshop, code: str, told: str) -> None:
    shop = workshop.write(code)
    text = refusal(f"{shop}:find")
    assert text.startswith(
        f"`{shop}:find` can't be used, since the module `{shop}` fails on import"
    )
    assert told in text


def test_a_function_that_can_not_be_a_tool_says_so_with_its_path(workshop: Workshop) -> None:
    shop = workshop.write("@tool\ndef find(order): 'Finds.'")
    assert refusal(shop) == (
        f"`{shop}`: The parameter `order` of the tool `find` has no type: annotate it, so that the "
        "model is told what to send."
    )


@pytest.mark.parametrize(
    ("attribute", "told"),
    [
        ("find", "names nothing: `{shop}` has no `find`. Mend the name."),
        ("Shop.find", "names nothing: `{shop}` has no `Shop.find`. Mend the name."),
        ("plain", "has a plain function or class, `plain`: decorate the function with @tool."),
        ("Shop", "has a plain function or class, `Shop`: decorate the function with @tool."),
        ("NUMBER", "has a int, which is no tool: name a function decorated with @tool"),
        ("TEXT", "has a str, which is no tool"),
        ("MIXED", "has a plain function or class, `plain`"),
        ("WRONG_KEY", "has the tool `find_order` under the key 'find': make them the same."),
        ("sys", "is a module: write `sys` for all its tools."),
    ],
)
def test_what_is_no_tool_is_refused(workshop: Workshop, attribute: str, told: str) -> None:
    shop = workshop.write(
        dedent(SHOP)
        + dedent("""
            import sys
            NUMBER, TEXT, MIXED, WRONG_KEY = 1, "find", [find_order, plain], {"find": find_order}
        """)
    )
    text = refusal(f"{shop}:{attribute}")
    assert text.startswith(f"`{shop}:{attribute}` ")
    assert told.format(shop=shop) in text


def test_a_module_without_tools_is_refused(workshop: Workshop) -> None:
    shop = workshop.write("def plain(): ...")
    assert refusal(shop) == (
        f"`{shop}` has no tools: decorate a function in it with @tool, or leave it out."
    )
    shop = workshop.write(f"__all__ = ['plain', 'gone']\n{dedent(SHOP)}")
    assert "has no tools" in refusal(shop)


def test_two_tools_of_one_name_are_refused(workshop: Workshop) -> None:
    first, second = workshop.write(SHOP), workshop.write(SHOP)
    assert refusal(first, f"{second}:TWO") == (
        f"Two tools are called `find_order`: one of `{first}` and one of `{second}:TWO`. "
        "Rename one with @tool(name=…), or leave it out."
    )


@pytest.mark.parametrize("name", ["9lives", "a b", "größe", "a" * 65, "a/b", "a\n", "-a"])
def test_a_name_that_no_provider_takes_is_refused(workshop: Workshop, name: str) -> None:
    shop = workshop.write(f"@tool(name={name!r})\ndef find() -> None: 'Finds.'")
    assert f"has a tool called {name!r}, and no tool may be called so" in refusal(shop)


def test_names_of_asks_are_refused_while_asks_are_on(workshop: Workshop) -> None:
    shop = workshop.write("@tool\ndef ask_boss() -> None: 'Asks.'")
    assert refusal(shop) == (
        f"`{shop}` has a tool called `ask_boss`, and while the agent may ask, names that begin "
        "with `ask_` belong to its questions: rename it with @tool(name=…)."
    )
    assert loaded(shop, asks_on=False) == ["ask_boss"]
