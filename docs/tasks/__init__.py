"""Whole tasks, each in fifteen lines or fewer, and the made data that they are run on."""
