"""Objects that the settings name by import path: `module:attribute`."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

from parleyd.tools.unusable import ToolsUnusable


def module_named(path: str, module: str) -> ModuleType:
    """Imports a module. The folder the process started in counts as on the path, before others.

    Raises:
        ToolsUnusable: There is no such module, or it can't be imported. `path` is how it was named.
    """
    folder = str(Path.cwd())
    if folder not in sys.path and "" not in sys.path:
        sys.path.insert(0, folder)
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name and (module == error.name or module.startswith(f"{error.name}.")):
            raise ToolsUnusable(
                f"`{path}` names the module `{module}`, and there is none: install it, put it into "
                f"{folder}, or mend the name."
            ) from error
        raise _broken(path, module, error) from error
    # A module that leaves the interpreter would end the start without a word.
    except (Exception, SystemExit) as error:
        raise _broken(path, module, error) from error


def object_named(path: str) -> object:
    """Returns what `module:attribute` names; the attribute may have dots.

    Raises:
        ToolsUnusable: The path is malformed, its module can't be imported, or there is no such
            attribute.
    """
    module, colon, attributes = path.partition(":")
    if not (colon and module and attributes):
        raise ToolsUnusable(f"`{path}` is no import path: write `module:attribute`.")
    found: object = module_named(path, module)
    for name in attributes.split("."):
        try:
            found = getattr(found, name)
        except AttributeError as error:
            raise ToolsUnusable(
                f"`{path}` names nothing: `{module}` has no `{attributes}`. Mend the name."
            ) from error
    return found


def _broken(path: str, module: str, error: BaseException) -> ToolsUnusable:
    if isinstance(error, ToolsUnusable):
        return ToolsUnusable(f"`{path}`: {error}")
    return ToolsUnusable(
        f"`{path}` can't be used, since the module `{module}` fails on import: "
        f"{type(error).__name__}: {error}. Mend it there."
    )
