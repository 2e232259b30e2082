"""``python -m calibrant.cli``."""

import sys

from . import main

sys.exit(main())
