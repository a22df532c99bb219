"""Why a command stops: sentences for whoever typed it, without a traceback."""


class ConfigurationError(Exception):
    """Settings that can't be served. The text is a sentence that says how to mend them."""


class CommandFailed(Exception):
    """A command could not do its work. The text is a sentence that says why."""
