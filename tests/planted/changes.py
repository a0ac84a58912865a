"""Faults in Python functions: each is one change of the source, compiled and put in the place of the running code."""

from __future__ import annotations

import ast
import copy
import gc
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec


class Mutant(msgspec.Struct, frozen=True):
    """One change of one function of one file."""

    file: str
    """Below harness/operators."""
    function: str
    """Qualified, without ``<locals>``."""
    line: int
    change: str
    """``x < y → x <= y``."""
    number: int
    """Among the mutants of the file."""

    @property
    def key(self) -> tuple[str, str, str]:
        """What a list of survivors names it by; lines move, these do not."""
        return self.file, self.function, self.change


_COMPARISONS = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt,),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt,),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.Pow: ast.Mult,
}
_CALLS = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "floor": "ceil",
    "ceil": "floor",
    "rint": "floor",
    "argmax": "argmin",
    "argmin": "argmax",
    "less": "less_equal",
    "less_equal": "less",
    "greater": "greater_equal",
    "greater_equal": "greater",
    "any": "all",
    "all": "any",
    "zeros": "ones",
    "ones": "zeros",
    "zeros_like": "ones_like",
    "ones_like": "zeros_like",
    "sum": "max",
    "prod": "sum",
}
_CLAMPS = {"clip", "minimum", "maximum", "abs", "sorted", "reversed"}


def mutants(path: Path, name: str) -> Iterator[tuple[Mutant, ast.Module]]:
    """Every mutant of a file, each with the changed module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    places = list(_nodes(tree))
    number = 0
    for place, (function, node, *_) in enumerate(places):
        for new in _changes(copy.deepcopy(node)):
            before, after = (
                _short(ast.unparse(node)),
                "left out" if isinstance(new, ast.Pass) else _short(ast.unparse(new)),
            )
            if before == after:
                continue
            changed = copy.deepcopy(tree)
            _, old, parent, field, index = list(_nodes(changed))[place]
            placed = ast.fix_missing_locations(ast.copy_location(new, old))
            if index is None:
                setattr(parent, field, placed)
            else:
                getattr(parent, field)[index] = placed
            yield Mutant(name, function, node.lineno, f"{before} → {after}", number), changed
            number += 1


def _short(text: str, most: int = 90) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _nodes(tree: ast.Module) -> Iterator[tuple[str, ast.AST, ast.AST, str, int | None]]:
    """Every statement and expression inside a function's body: the function's name, the node, and where it hangs."""

    def walk(node: ast.AST, name: str, *, inside: bool) -> Iterator[tuple[str, ast.AST, ast.AST, str, int | None]]:
        for field, value in ast.iter_fields(node):
            if field in ("decorator_list", "annotation", "returns") or isinstance(value, ast.arguments):
                continue
            listed = isinstance(value, list)
            for index, child in enumerate(value if listed else [value]):
                if not isinstance(child, ast.AST):
                    continue
                is_function = isinstance(child, ast.FunctionDef | ast.Lambda)
                own = getattr(child, "name", "lambda") if is_function or isinstance(child, ast.ClassDef) else ""
                below = f"{name}.{own}".lstrip(".") if own else name
                if inside and isinstance(child, ast.expr | ast.stmt):
                    yield name, child, node, field, index if listed else None
                yield from walk(child, below, inside=inside or is_function)

    yield from walk(tree, "", inside=False)


def _changes(node: Any) -> Iterator[ast.AST]:
    """What may stand in the place of a node, one for each fault."""

    def having(**fields: Any) -> ast.AST:
        changed = copy.copy(node)
        for name, value in fields.items():
            setattr(changed, name, value)
        return changed

    match node:
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                for other in _COMPARISONS.get(type(op), ()):
                    yield having(ops=[*ops[:i], other(), *ops[i + 1 :]])
        case ast.BinOp(op=op) if type(op) in _OPERATORS:
            yield having(op=_OPERATORS[type(op)]())
        case ast.BoolOp(op=op):
            yield having(op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.USub() | ast.Not()):
            yield node.operand
        case ast.Constant(value=bool(value)):
            yield having(value=not value)
        case ast.Constant(value=int(value) | float(value)):
            yield having(value=value + 1)
            if value:
                yield having(value=value - 1)
        case ast.If() | ast.IfExp():
            yield having(test=ast.UnaryOp(ast.Not(), node.test))
            yield having(test=ast.Constant(True))
            yield having(test=ast.Constant(False))
        case ast.Slice():
            for bound in ("lower", "upper"):
                if (value := getattr(node, bound)) is not None:
                    yield having(**{bound: ast.BinOp(value, ast.Add(), ast.Constant(1))})
                    yield having(**{bound: None})
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in _CALLS:
            yield having(func=ast.Attribute(value, _CALLS[name], ast.Load()))
        case ast.Call(func=ast.Name(id=name)) if name in _CALLS:
            yield having(func=ast.Name(_CALLS[name], ast.Load()))
        case ast.AugAssign() | ast.Assign(targets=[ast.Subscript()]):
            yield ast.Pass()
        case _:
            pass
    if isinstance(node, ast.Call) and node.args:
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in _CLAMPS:
            yield node.args[0]


class Swap:
    """Functions in memory, by the code that they run."""

    def __init__(self, below: Path) -> None:
        self._live: dict[types.CodeType, list[types.FunctionType]] = {}
        for found in gc.get_objects():
            if isinstance(found, types.FunctionType) and found.__code__.co_filename.startswith(str(below)):
                self._live.setdefault(found.__code__, []).append(found)

    def put(self, old: types.CodeType, new: types.CodeType) -> int:
        """Let every function whose code changed run the new one; how many there are."""
        count = 0
        for function in self._live.get(old, ()):
            if function.__code__.co_freevars == new.co_freevars:
                function.__code__ = new
                count += 1
        olds = [c for c in old.co_consts if isinstance(c, types.CodeType)]
        news = [c for c in new.co_consts if isinstance(c, types.CodeType)]
        if [c.co_name for c in olds] == [c.co_name for c in news]:
            for one, other in zip(olds, news, strict=True):
                if one != other or one in self._live:
                    count += self.put(one, other)
        return count


def compiled(path: Path, tree: ast.Module | None = None) -> types.CodeType:
    """The code of a module as it was imported, or of a changed tree of it."""
    return compile(tree if tree is not None else path.read_bytes(), str(path), "exec", dont_inherit=True)
