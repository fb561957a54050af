"""The mutants of a module: its source with one small change in a function.

Comparisons, arithmetic, conditions and whole numbers are changed, parts of conditions are left
out, and statements that change something are deleted. Constants of a module are not: they say
how much is done at a time, or were measured (tests/bench). Nor are texts and error messages.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_OTHER: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr,
}  # fmt: skip
_OTHER_NAME = {"min": "max", "max": "min", "any": "all", "all": "any"}
_OTHER_NAME |= {"minimum": "maximum", "maximum": "minimum", "left": "right", "right": "left"}

# Fields of nodes that say what something is.
_NEVER_RUN = {"annotation", "returns", "decorator_list"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: bytes `begin` to `end` of the source become `new`."""

    line: int
    begin: int
    end: int
    new: str
    text: str
    """The function, and its line with the change in brackets: as it stays when lines move."""

    def applied(self, source: str) -> str:
        """The source with the change."""
        data = source.encode()
        return (data[: self.begin] + self.new.encode() + data[self.end :]).decode()


def mutants_of(source: str) -> list[Mutant]:
    """Every mutant of a module, in the order of its lines."""
    lines = source.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    found = {}
    for function, whole in _functions(ast.parse(source)):
        for node, new in _changes(whole):
            begin = starts[node.lineno - 1] + node.col_offset
            end = starts[node.end_lineno - 1] + node.end_col_offset
            text = ast.unparse(new)
            text = f"({text})" if isinstance(new, ast.expr) and " " in text else text
            before = lines[node.lineno - 1][: node.col_offset].decode().lstrip()
            after = lines[node.end_lineno - 1][node.end_col_offset :].decode().rstrip()
            shown = f"{function}: {before}[{ast.unparse(node)} -> {text}]{after}"
            found[begin, end, text] = Mutant(node.lineno, begin, end, text, shown)
    return sorted(found.values(), key=lambda each: each.begin)


def _functions(node: ast.AST, inside: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Every function and method of a module, with its name; not those within functions."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.FunctionDef(name):
                yield inside + name, child
            case ast.ClassDef(name):
                yield from _functions(child, f"{inside}{name}.")


def _changes(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, ast.expr | ast.stmt]]:
    """Every part of a function that may be changed, and what may stand in its place."""
    match node:
        case ast.Raise() | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return
        case ast.keyword("strict"):  # of `zip`: it only checks the program
            return
        case ast.If(test):
            yield from ((test, ast.Constant(value=is_so)) for is_so in (True, False))
        case ast.comprehension(ifs=tests):
            yield from ((test, ast.Constant(value=True)) for test in tests)
        case ast.stmt() if _does_something(node):
            yield node, ast.Pass()
        case ast.expr():
            yield from ((node, new) for new in _alternatives(node))
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and name not in _NEVER_RUN:
                yield from _changes(child)


def _alternatives(node: ast.expr) -> Iterator[ast.expr]:
    """What may stand in the place of an expression."""
    match node:
        case ast.Compare(left, operators, others):
            for i, operator in enumerate(operators):
                other = [*operators[:i], _OTHER[type(operator)](), *operators[i + 1 :]]
                yield ast.Compare(left, other, others)
        case ast.BinOp(left, operator, right) if type(operator) in _OTHER:
            yield ast.BinOp(left, _OTHER[type(operator)](), right)
            if isinstance(operator, ast.BitAnd | ast.BitOr):
                yield from (left, right)
        case ast.BoolOp(operator, values):
            yield ast.BoolOp(_OTHER[type(operator)](), values)
            for i in range(len(values)):
                rest = [*values[:i], *values[i + 1 :]]
                yield ast.BoolOp(operator, rest) if len(rest) > 1 else rest[0]
        case ast.UnaryOp(ast.Not() | ast.USub() | ast.Invert(), operand):
            yield operand
        case ast.IfExp(_, body, other):
            yield from (body, other)
        case ast.Constant() | ast.Call():
            yield from _other_values(node)


def _other_values(node: ast.expr) -> Iterator[ast.expr]:
    """What may stand in the place of a constant or a call."""
    match node:
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            yield from (ast.Constant(value + 1), ast.Constant(value - 1))
        case ast.Constant(str(value)) if value in {"left", "right"}:
            yield ast.Constant(_OTHER_NAME[value])
        case ast.Call(ast.Name(name), arguments, keywords) if name in _OTHER_NAME:
            yield ast.Call(ast.Name(_OTHER_NAME[name]), arguments, keywords)
        case ast.Call(ast.Attribute(value, name), arguments, keywords) if name in _OTHER_NAME:
            yield ast.Call(ast.Attribute(value, _OTHER_NAME[name]), arguments, keywords)


def _does_something(node: ast.stmt) -> bool:
    """Whether the function goes on without this statement, and is another."""
    match node:
        case ast.Expr(ast.Call()) | ast.AugAssign() | ast.Continue() | ast.Delete():
            return True
        case ast.Assign([ast.Attribute() | ast.Subscript()]):
            return True
        case ast.Assign(targets, value):
            return bool(_names(*targets) & _names(value))
    return False


def _names(*nodes: ast.AST) -> set[str]:
    every = (each for node in nodes for each in ast.walk(node))
    return {each.id for each in every if isinstance(each, ast.Name)}
