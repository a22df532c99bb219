"""The rules of block documents on the command line: `parleyd blocks`."""
