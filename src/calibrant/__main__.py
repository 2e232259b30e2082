"""``python -m calibrant``: the command line."""

import runpy

runpy.run_module("calibrant.cli", run_name="__main__")
