"""calibrant takes the predictions any model already makes and returns predictions you can bet on, with the evidence.

What each room below shows in its ``__all__`` can be imported from here; a room is loaded when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__ as __version__

if TYPE_CHECKING:
    from . import decisions as decisions
    from . import displays as displays
    from . import metrics as metrics
    from .adapters import *
    from .calibration import *
    from .classification import *
    from .distributions import *
    from .forecasters import *
    from .monitor import *
    from .regression import *
    from .report.writing import report as report
    from .select import *
    from .series import *
    from .store import *

_OPEN = (
    "distributions", "adapters", "calibration", "regression", "classification", "select", "series", "forecasters",
    "monitor", "store",
)  # fmt: skip
_OWN = ("__version__", "decisions", "displays", "metrics", "report")


def __getattr__(name: str) -> Any:
    """Load a room, or what the first room shows that has it, when it is first asked for."""
    if name == "__all__":
        return [*_OWN, *(each for room in _OPEN for each in import_module(f"{__name__}.{room}").__all__)]
    if name in _OWN:
        return import_module(f"{__name__}.{name}")
    if not name.startswith("_"):
        for room in _OPEN:
            module = import_module(f"{__name__}.{room}")
            if name == room or name in module.__all__:
                return globals().setdefault(name, module if name == room else getattr(module, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """All that can be imported from here."""
    return sorted({*globals(), *__getattr__("__all__"), *_OPEN})
