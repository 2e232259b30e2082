"""``python -m calibrant.cli``."""

import sys

from .app import main

sys.exit(main())
