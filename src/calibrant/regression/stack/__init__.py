"""The stack of calibrators."""
