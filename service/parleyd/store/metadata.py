"""What all tables share: their metadata, which names constraints, and the defaults of columns."""

from typing import Final

from sqlalchemy import DateTime, MetaData, text

metadata: Final = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "fk": "%(table_name)s_%(column_0_name)s_fkey",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "ck": "%(table_name)s_%(constraint_name)s",
    }
)

NOW: Final = text("now()")
NEW_ID: Final = text("gen_random_uuid()")
EMPTY: Final = text("''")
ZERO: Final = text("0")
ONE: Final = text("1")
TIME: Final = DateTime(timezone=True)
