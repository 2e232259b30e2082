"""A Result as one self-contained HTML page: no network, light and dark, for screens, phones and paper."""

from .page import render, write

__all__ = ["render", "write"]
