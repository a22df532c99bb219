"""What stops the start: a tool that can't be one."""


class ToolsUnusable(Exception):
    """Tools or hooks that can't be used. The text is a sentence that says how to mend them."""
