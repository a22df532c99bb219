"""The contract of asks on the command line: `parleyd asks`."""
