"""Graphs of ONNX operators in double precision: arithmetic, look-up among sorted knots, the normal law."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._checks import Array

Value = Any  # name of a value in the graph, or numbers
OPSET, FORMAT = 17, 8  # read by every onnxruntime from 1.12 on

# Rational approximations of the normal distribution function by W. J. Cody, Math. Comp. 23 (1969) 631-637, as in
# ANORM of SPECFUN, ACM TOMS 19 (1993) 22-32; the highest power first.
_CENTRE, _FAR, _END = 0.67448975, 32**0.5, 40.0
_CENTRAL = (
    (0.065682337918207449113, 2.2352520354606839287, 161.02823106855587881, 1067.6894854603709582,
     18154.981253343561249),
    (1.0, 47.20258190468824187, 976.09855173777669322, 10260.932208618978205, 45507.789335026729956),
)  # fmt: skip
_MIDDLE = (
    (1.0765576773720192317e-8, 0.39894151208813466764, 8.8831497943883759412, 93.506656132177855979,
     597.27027639480026226, 2494.5375852903726711, 6848.1904505362823326, 11602.651437647350124, 9842.7148383839780218),
    (1.0, 22.266688044328115691, 235.38790178262499861, 1519.377599407554805, 6485.558298266760755,
     18615.571640885098091, 34900.952721145977266, 38912.003286093271411, 19685.429676859990727),
)  # fmt: skip
_TAIL = (
    (0.02307344176494017303, 0.21589853405795699, 0.1274011611602473639, 0.022235277870649807,
     0.001421619193227893466, 2.9112874951168792e-5),
    (1.0, 1.28426009614491121, 0.468238212480865118, 0.0659881378689285515, 0.00378239633202758244,
     7.29751555083966205e-5),
)  # fmt: skip


class Graph:
    """Operators one after another; a call adds one and returns the name of its result."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.tables: list[Any] = []

    def __call__(self, operator: str, *inputs: Value, name: str | None = None, **attributes: Any) -> str:
        """Add an operator on values and numbers."""
        names = [value if isinstance(value, str) else self.table(value) for value in inputs]
        result = name or f"value{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, names, [result], **attributes))
        return result

    def table(self, values: Any) -> str:
        """Numbers that the graph holds: integers as they are, all others in double precision."""
        array = np.asarray(values)
        array = array.astype(np.int64 if array.dtype.kind == "i" else np.float64)
        self.tables.append(self.onnx.numpy_helper.from_array(array, f"table{len(self.tables)}"))
        return str(self.tables[-1].name)

    def polynomial(self, x: Value, coefficients: tuple[float, ...]) -> Value:
        """Horner's rule, the highest power first."""
        value: Value = coefficients[0]
        for coefficient in coefficients[1:]:
            value = self("Add", self("Mul", value, x), coefficient)
        return value

    def ratio(self, x: Value, pair: tuple[tuple[float, ...], tuple[float, ...]]) -> str:
        """One polynomial over another."""
        return self("Div", self.polynomial(x, pair[0]), self.polynomial(x, pair[1]))

    def rank(self, knots: Array, x: Value) -> Value:
        """How many of the sorted knots are at or below x: a binary search, one Gather for each halving."""
        rounds = len(knots).bit_length()
        padded = self.table(np.concatenate([knots, np.full(2**rounds - 1 - len(knots), np.nan)]))
        found: Value = self.table(0)
        for step in (2**i for i in reversed(range(rounds))):
            passed = self("LessOrEqual", self("Gather", padded, self("Add", found, step - 1)), x)
            found = self("Where", passed, self("Add", found, step), found)
        return found

    # ---- the normal law ----
    def normal_tail(self, size: Value) -> str:
        r""":math:`\Phi(-s)` for s >= 0."""
        near = self("Min", size, _END)
        sixteenth = self("Div", self("Floor", self("Mul", near, 16.0)), 16.0)  # its square is exact
        rest = self("Mul", self("Sub", near, sixteenth), self("Add", near, sixteenth))
        powers = [self("Exp", self("Mul", value, -0.5)) for value in (self("Mul", sixteenth, sixteenth), rest)]
        outer = self("Mul", self("Mul", *powers), self._mills(size))
        return self("Where", self("LessOrEqual", size, _CENTRE), self._central(size), outer)

    def log_normal_tail(self, size: Value) -> str:
        r""":math:`\log\Phi(-s)` for s >= 0."""
        outer = self("Add", self("Mul", self("Mul", size, -0.5), size), self("Log", self._mills(size)))
        return self("Where", self("LessOrEqual", size, _CENTRE), self("Log", self._central(size)), outer)

    def _central(self, size: Value) -> str:
        r""":math:`\Phi(-s)` for s near 0."""
        size = self("Min", size, _CENTRE)
        return self("Sub", 0.5, self("Mul", size, self.ratio(self("Mul", size, size), _CENTRAL)))

    def _mills(self, size: Value) -> str:
        r""":math:`\Phi(-s)\,e^{s^2/2}` for s not near 0."""
        middle = self.ratio(self("Min", self("Max", size, _CENTRE), _FAR), _MIDDLE)
        size = self("Max", size, _FAR)
        square = self("Div", self("Div", 1.0, size), size)
        less = self("Mul", square, self.ratio(square, _TAIL))
        tail = self("Div", self("Sub", 1 / np.sqrt(2 * np.pi), less), size)
        return self("Where", self("LessOrEqual", size, _FAR), middle, tail)

    def normal_both(self, z: Value) -> tuple[str, str]:
        r""":math:`\Phi(z)` and :math:`\Phi(-z)`."""
        tail, upper = self.normal_tail(self("Abs", z)), self("Greater", z, 0.0)
        rest = self("Sub", 1.0, tail)
        return self("Where", upper, rest, tail), self("Where", upper, tail, rest)

    def normal_logs(self, z: Value) -> tuple[str, str]:
        r""":math:`\log\Phi(z)` and :math:`\log\Phi(-z)`."""
        size, upper = self("Abs", z), self("Greater", z, 0.0)
        log_tail, rest = self.log_normal_tail(size), self("Log", self("Sub", 1.0, self.normal_tail(size)))
        return self("Where", upper, rest, log_tail), self("Where", upper, log_tail, rest)

    # ---- the whole ----
    def model(self, inputs: list[str], outputs: dict[str, list[Any]], notes: dict[str, str]) -> bytes:
        """A checked model of columns, as bytes."""
        onnx, helper = self.onnx, self.onnx.helper
        double = onnx.TensorProto.DOUBLE
        columns = [helper.make_tensor_value_info(name, double, ["rows"]) for name in inputs]
        results = [helper.make_tensor_value_info(name, double, shape) for name, shape in outputs.items()]
        graph = helper.make_graph(self.nodes, "calibrator", columns, results, self.tables)
        opset = helper.make_opsetid("", OPSET)
        model = helper.make_model(graph, opset_imports=[opset], ir_version=FORMAT, producer_name="calibrant")
        helper.set_model_props(model, notes)
        onnx.checker.check_model(model)
        return bytes(model.SerializeToString())
