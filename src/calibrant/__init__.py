"""calibrant takes the predictions any model already makes and returns predictions you can bet on, with the evidence.

What each room below shows in its ``__all__`` can be imported from here; pictures and reports are loaded when they are
first asked for.
"""

from typing import TYPE_CHECKING, Any

from . import adapters, calibration, classification, distributions, metrics, regression, select, store
from ._version import __version__
from .adapters import *
from .calibration import *
from .classification import *
from .distributions import *
from .regression import *
from .select import *
from .store import *

if TYPE_CHECKING:
    from . import displays
    from .report.writing import report

__all__ = ["__version__", "displays", "metrics", "report"]
__all__ += adapters.__all__
__all__ += calibration.__all__
__all__ += classification.__all__
__all__ += distributions.__all__
__all__ += regression.__all__
__all__ += select.__all__
__all__ += store.__all__


def __getattr__(name: str) -> Any:
    """Load pictures and reports when they are first asked for."""
    if name in ("displays", "report"):
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
