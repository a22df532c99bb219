"""Pages that an HTML5 parser makes of cleaned HTML, as a browser does."""

from xml.etree.ElementTree import Element

from html5lib.html5parser import (
    parse as parse_html,  # pyright: ignore[reportUnknownVariableType] (its **kwargs have no type)
)

from parleyd.contract.blocks.html import KEPT_ATTRIBUTES, KEPT_TAGS, sanitize_html

_FOREIGN = ("{http://www.w3.org/2000/svg}", "{http://www.w3.org/1998/Math/MathML}")


def _reparsed(page: str) -> list[Element]:
    """Returns the elements that an HTML5 parser finds, as a browser does in a frame."""
    return [*parse_html(page).iter()]


def assert_harmless(clean: str) -> None:
    """Asserts that cleaned HTML runs and loads nothing, as an HTML5 parser reads it in a frame."""
    for page in (clean, f"<!doctype html><meta charset=utf-8><div>{clean}</div>"):
        elements = _reparsed(page)
        assert sum(element.tag.endswith("}meta") for element in elements) == page.count("<meta")
        for element in elements:
            assert not element.tag.startswith(_FOREIGN)
            name = element.tag.rpartition("}")[2]
            assert name in KEPT_TAGS | {"html", "head", "meta", "body"}
            for attribute, value in element.attrib.items():
                assert attribute in KEPT_ATTRIBUTES.get(name, {"charset"} if name == "meta" else ())
                if attribute == "src":
                    assert value.lower().startswith("data:image/")
    assert "<!--" not in clean
    assert sanitize_html(clean) == clean
