"""The language-model port, one file a vendor."""
