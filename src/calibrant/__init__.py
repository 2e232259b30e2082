"""calibrant takes the predictions any model already makes and returns predictions you can bet on, with the evidence.

What each room below shows in its ``__all__`` can be imported from here.
"""

from . import adapters, calibration, classification, displays, distributions, metrics, regression, select, store
from ._version import __version__
from .adapters import *
from .calibration import *
from .classification import *
from .distributions import *
from .regression import *
from .select import *
from .store import *

__all__ = ["__version__", "displays", "metrics"]
__all__ += adapters.__all__
__all__ += calibration.__all__
__all__ += classification.__all__
__all__ += distributions.__all__
__all__ += regression.__all__
__all__ += select.__all__
__all__ += store.__all__
