"""The command line: ``calibrant fit | apply | evaluate | compare | report | inspect | demo``."""

from .app import main

__all__ = ["main"]
