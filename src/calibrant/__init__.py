"""calibrant takes the predictions any model already makes and returns predictions you can bet on, with the evidence.

What each room below shows in its ``__all__`` can be imported from here; pictures are loaded when first asked for.
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

__all__ = ["__version__", "displays", "metrics"]
__all__ += adapters.__all__
__all__ += calibration.__all__
__all__ += classification.__all__
__all__ += distributions.__all__
__all__ += regression.__all__
__all__ += select.__all__
__all__ += store.__all__


def __getattr__(name: str) -> Any:
    """Load the pictures when they are first asked for."""
    if name == "displays":
        from importlib import import_module

        return import_module(f"{__name__}.displays")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
