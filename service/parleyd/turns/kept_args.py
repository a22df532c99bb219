"""Arguments of calls in the form in which they are kept (spec turns 3.4.3, 7.4)."""

from decimal import Decimal

from pydantic import JsonValue


def kept_args(args: JsonValue) -> JsonValue:
    """Returns arguments as the database gives them back, so that they are one thing throughout.

    What a person is shown before a restart is then, letter by letter, what runs after it. The keys
    of objects stand in jsonb's order, and a float that is written with an exponent is the whole
    number that it stands for. `args` are storable, and not nested without limit.
    """
    match args:
        case dict():
            keys = sorted(args, key=lambda key: (len(encoded := key.encode()), encoded))
            return {key: kept_args(args[key]) for key in keys}
        case list():
            return [kept_args(item) for item in args]
        case float() if args.is_integer() and "e" in (digits := repr(args)):
            return int(Decimal(digits))
        case float():
            return args + 0.0  # there is no -0.0
        case _:
            return args
