"""Which evaluation of an oracle over balls is under way: its precision, and the branches it takes."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

import flint
import numpy as np
from flint import arb

from harness.errors import ConformanceError
from harness.spec.element_types import ElementType

SCALE = 60
"""The s pass carries its radii times 2^-60, so that they stay linear, and no formula leaves its domain for them."""


class BranchesDiffer(ConformanceError):
    """An oracle asked for other decisions at the working precision than in its exact evaluation."""

    advice = "Decide on values only through harness.numbers.branches, never by a comparison of balls."


class Pass:
    """One evaluation over balls; it records the decisions of its branches, or replays those of ``exact``."""

    def __init__(self, exact: Pass | None = None, *, spread: int | None = None) -> None:
        self.decisions: list[np.ndarray] = exact.decisions if exact else []
        self.unsure = False
        """Whether a decision was taken on balls that overlap: more bits may turn it."""
        self.spread = spread
        """In the s pass the bits that the working precision has."""
        self.neighbours: list[tuple[np.ndarray, np.ndarray]] = []
        """In the r pass, for each decision, the least and the greatest that an honest evaluation may come to."""
        self._replays = iter(exact.decisions) if exact else None

    @property
    def exact(self) -> bool:
        """Whether decisions are made here rather than replayed."""
        return self._replays is None

    def decide(
        self, decision: Callable[[], np.ndarray], around: Callable[[], tuple[np.ndarray, np.ndarray]] | None = None
    ) -> np.ndarray:
        """What ``decision`` returns, or returned at this place of the exact evaluation. Raises BranchesDiffer.

        ``around`` gives the least and the greatest decisions within 4 radii, where there are such.
        """
        if self._replays is None:
            made = decision()
            self.decisions.append(made)
            return made
        made = next(self._replays, None)
        if made is None:
            raise BranchesDiffer(f"The exact evaluation took {len(self.decisions)} decisions, this one wants more.")
        if self.spread is None:
            self.neighbours.append(around() if around else (made, made))
        return made

    def variants(self) -> list[Pass]:
        """Passes that replay the least and the greatest of the neighbours; none where all are what was decided."""
        if all(a is b or np.array_equal(a, b) for a, b in self.neighbours):
            return []
        return [Pass(_Decisions(list(side))) for side in zip(*self.neighbours, strict=True)]


class _Decisions(Pass):
    """Decisions to be replayed, wherever they come from."""

    def __init__(self, decisions: list[np.ndarray]) -> None:
        super().__init__()
        self.decisions = decisions


_current: ContextVar[Pass | None] = ContextVar("pass", default=None)


def current() -> Pass | None:
    """The pass that is under way; None in the float64 evaluation and outside of any."""
    return _current.get()


@contextmanager
def running(run: Pass, bits: int) -> Generator[None]:
    """Evaluate as ``run`` at ``bits`` bits inside the block."""
    token = _current.set(run)
    try:
        with precision(bits):
            yield
    finally:
        _current.reset(token)


@contextmanager
def precision(bits: int) -> Generator[None]:
    """Let balls be rounded to ``bits`` bits inside the block."""
    before = flint.ctx.prec
    flint.ctx.prec = bits
    try:
        yield
    finally:
        flint.ctx.prec = before


@contextmanager
def computed_in(of: ElementType | None) -> Generator[float]:
    """Lets roundings be measured as those of a type that has fewer bits; gives what it may lose of the smallest.

    A part of a formula may be computed in another type than the outputs have.
    """
    run = current()
    if run and not run.exact and run.spread is None and of and of.format and of.format.precision < flint.ctx.prec:
        with precision(of.format.precision):
            yield of.tiny
    else:
        yield 0.0


def unit(bits: int) -> arb:
    """The ball of 1 with the radius 2^-(bits + 60) of the s pass: times it, an exact value carries its own last bit."""
    return arb(1, (1, -bits - SCALE))
