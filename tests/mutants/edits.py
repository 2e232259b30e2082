"""The small changes that can be made to one source file: what a slip of the hand would do."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

_ARITHMETIC = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Pow: "*"}
_COMPARISONS = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "=="}
_SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Pow: "**",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.And: "and", ast.Or: "or",
}  # fmt: skip
_OPPOSITES = {"min": "max", "minimum": "maximum", "argmin": "argmax", "nanmin": "nanmax", "fmin": "fmax"}
_OPPOSITES |= {high: low for low, high in _OPPOSITES.items()}
_NO_PLACE = ("cast", "TypeVar", "warn", "isinstance", "issubclass")  # calls that hold types and messages
# Arguments that may be swapped without a difference, or never without an error.
_NOT_SWAPPED = {
    *_OPPOSITES, *_NO_PLACE, "getattr", "hasattr", "setattr", "dot", "hypot", "add", "multiply", "logaddexp",
    "array_equal", "allclose", "isclose", "gcd", "union1d", "intersect1d", "logical_and", "logical_or",
}  # fmt: skip

_Definition = ast.Module | ast.ClassDef | ast.FunctionDef


@dataclass(frozen=True)
class Edit:
    """Bytes ``start`` to ``end`` of a file become ``text``; ``key`` stays the same when other lines change."""

    kind: str
    start: int
    end: int
    text: str
    function: str
    block: int | None  # line at which the innermost block of statements begins; None outside functions
    line: int
    key: str


@dataclass(frozen=True)
class _Place:
    """Where the walk stands: the function, its block, and the statement or condition that is the host."""

    function: str
    block: int | None
    host: ast.AST | None
    bound: frozenset[str] = frozenset()  # names that keep a value when an assignment is dropped
    nested: bool = False  # within a branch or loop


def edits(source: str) -> list[Edit]:
    """All edits of a source text, in the order of the text."""
    found = _Edits(source)
    found.visit(ast.parse(source), _Place("", None, None))
    return found.found


def applied(source: str, edit: Edit) -> str:
    """The source text with one edit made."""
    raw = source.encode()
    return (raw[: edit.start] + edit.text.encode() + raw[edit.end :]).decode()


def blocks(function: ast.AST) -> Iterator[list[ast.stmt]]:
    """Every list of statements within a node: bodies, branches, handlers."""
    for node in ast.walk(function):
        for name in ("body", "orelse", "finalbody"):
            statements = getattr(node, name, None)
            if isinstance(statements, list) and statements:
                yield statements


def without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements after the docstring."""
    first = body[0]
    return body[1:] if isinstance(first, ast.Expr) and _is_string(first.value) else body


class _Edits:
    def __init__(self, source: str) -> None:
        self.raw = source.encode()
        self.starts = [0]
        for line in self.raw.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.found: list[Edit] = []
        self.seen: dict[str, int] = {}

    def span(self, node: ast.AST) -> tuple[int, int]:
        return (
            self.starts[node.lineno - 1] + node.col_offset,
            self.starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def source_of(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.raw[start:end].decode()

    def add(self, kind: str, span: tuple[int, int], text: str, place: _Place, line: int) -> None:
        host = ast.unparse(place.host) if place.host is not None else ""
        key = "|".join((place.function, kind, host, text))
        self.seen[key] = self.seen.get(key, -1) + 1
        self.found.append(Edit(kind, *span, text, place.function, place.block, line, f"{key}|{self.seen[key]}"))

    def visit(self, node: ast.AST, place: _Place) -> None:
        """Make the edits of a node and go on to the parts that may be edited."""
        for kind, span, text in self.of_node(node, place):
            self.add(kind, span, text, place, node.lineno)
        for child, its_place in _parts(node, place):
            self.visit(child, its_place)

    def of_node(self, node: ast.AST, place: _Place) -> Iterator[tuple[str, tuple[int, int], str]]:
        """The edits of this node itself: what kind, where, and the new text."""
        match node:
            case ast.BinOp() if type(node.op) in _ARITHMETIC and not _is_text(node):
                yield "operator", self.between(node.left, node.right, node.op), _ARITHMETIC[type(node.op)]
            case ast.AugAssign() if type(node.op) in _ARITHMETIC:
                sign = _SIGNS[type(node.op)] + "="
                yield "operator", self.gap(node.target, node.value, sign), _ARITHMETIC[type(node.op)] + "="
                yield "dropped line", self.span(node), "pass"
            case ast.Compare():
                yield from self.of_comparison(node)
            case ast.BoolOp():
                text = "or" if isinstance(node.op, ast.And) else "and"
                yield "and/or", self.between(node.values[0], node.values[1], node.op), text
            case ast.UnaryOp(op=ast.Not()):
                yield "dropped not", self.span(node), f"({self.source_of(node.operand)})"
            case ast.Constant():
                if (text := _other_constant(node.value)) is not None:
                    yield "constant", self.span(node), text
            case ast.Call() | ast.Tuple():
                yield from self.of_sequence(node)
            case ast.stmt() if _may_be_dropped(node, place):
                yield "dropped line", self.span(node), "pass"

    def of_comparison(self, node: ast.Compare) -> Iterator[tuple[str, tuple[int, int], str]]:
        left = node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            if type(op) in _COMPARISONS:
                yield "comparison", self.between(left, right, op), _COMPARISONS[type(op)]
            left = right

    def of_sequence(self, node: ast.Call | ast.Tuple) -> Iterator[tuple[str, tuple[int, int], str]]:
        if isinstance(node, ast.Call):
            name = _called(node)
            if name in _OPPOSITES:
                end = self.span(node.func)[1]
                yield "min/max", (end - len(name), end), _OPPOSITES[name]
            items = [] if name in _NOT_SWAPPED else node.args
        else:
            items = (
                []
                if all(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in node.elts)
                else node.elts
            )
        if len(items) >= 2 and not any(isinstance(one, ast.Starred) for one in items[:2]):
            first, second = items[:2]
            if self.source_of(first) != self.source_of(second):
                (start, end), (next_start, next_end) = self.span(first), self.span(second)
                middle = self.raw[end:next_start].decode()
                yield "swapped", (start, next_end), self.source_of(second) + middle + self.source_of(first)

    def between(self, left: ast.AST, right: ast.AST, op: ast.AST) -> tuple[int, int]:
        return self.gap(left, right, _SIGNS[type(op)])

    def gap(self, left: ast.AST, right: ast.AST, sign: str) -> tuple[int, int]:
        """Where the sign stands between two operands."""
        start, end = self.span(left)[1], self.span(right)[0]
        place = self.raw.index(sign.encode(), start, end)
        return place, place + len(sign)


def _parts(node: ast.AST, place: _Place) -> Iterator[tuple[ast.AST, _Place]]:
    """The children that may be edited, each with its place; types, docstrings and messages are left out."""
    if isinstance(node, _Definition):
        yield from _of_definition(node, place)
        return
    if _is_out_of_bounds(node, place):
        return
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "type", "pattern") or _makes_no_difference(node, name):
            continue
        inside = isinstance(value, list) and value and isinstance(value[0], ast.stmt)
        block = value[0].lineno if inside and place.block is not None else place.block
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                host = child if isinstance(node, ast.stmt) and _is_compound(node) else place.host
                nested = place.nested or bool(inside)
                yield child, _Place(place.function, block, child if inside else host, place.bound, nested)


def _of_definition(
    node: ast.Module | ast.ClassDef | ast.FunctionDef, place: _Place
) -> Iterator[tuple[ast.AST, _Place]]:
    name = place.function
    if not isinstance(node, ast.Module):
        name = f"{name}.{node.name}" if name else node.name
    body = without_docstring(node.body)
    is_function = isinstance(node, ast.FunctionDef)
    block = body[0].lineno if is_function and body else place.block
    if is_function:
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            yield default, _Place(name, block, node.args)
    bound = frozenset(_bound_twice(node)) if is_function else frozenset()
    for statement in body:
        yield statement, _Place(name, block, statement, bound)


def _bound_twice(function: ast.FunctionDef) -> Iterator[str]:
    """Names that keep a value when one of their assignments is dropped."""
    seen = {one.arg for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            if node.id in seen:
                yield node.id
            seen.add(node.id)


def _may_be_dropped(node: ast.stmt, place: _Place) -> bool:
    match node:
        case ast.Return():
            return place.nested
        case ast.Expr(value=ast.Call()) | ast.Raise() | ast.Continue() | ast.Break():
            return True
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return True
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name in place.bound
    return False


def _is_compound(node: ast.stmt) -> bool:
    return isinstance(node, ast.If | ast.For | ast.While | ast.With | ast.Try | ast.Match)


def _is_out_of_bounds(node: ast.AST, place: _Place) -> bool:
    match node:
        case ast.Raise() | ast.Import() | ast.ImportFrom() | ast.JoinedStr():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.Assign(value=ast.Subscript()):
            return not place.function  # the name of a type
    return isinstance(node, ast.Call) and _called(node) in _NO_PLACE


def _makes_no_difference(node: ast.AST, field: str) -> bool:
    """Whether this is the right side of ``x in (a, b)``, in any order the same, or ``strict`` of a zip."""
    if isinstance(node, ast.keyword):
        return node.arg == "strict"
    return isinstance(node, ast.Compare) and field == "comparators" and isinstance(node.ops[0], ast.In | ast.NotIn)


def _is_text(node: ast.BinOp) -> bool:
    return any(isinstance(side, ast.JoinedStr) or _is_string(side) for side in (node.left, node.right))


def _is_string(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _other_constant(value: object) -> str | None:
    """Another number; the tiny and the huge, which stand for 0 and for infinity, are left alone."""
    if isinstance(value, bool):
        return str(not value)
    if isinstance(value, int):
        return str(2 * value if value >= 10 else value + 1)
    if not isinstance(value, float) or not (value == 0 or 1e-6 <= abs(value) <= 1e6):
        return None
    return {0.0: "1.0", 0.5: "0.75"}.get(value, repr(2 * value))
