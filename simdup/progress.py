"""Showing how far a run is: a function that is passed down, and one that shows nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Item = TypeVar("Item")


class Progress(Protocol):
    """Is given the items of a phase and gives them on, showing how far it is."""

    def __call__(
        self,
        items: Iterable[Item],
        label: str,
        total: float | None,
        amount: Callable[[Item], float] | None = None,
    ) -> Iterable[Item]:
        """The items, unchanged. `amount` says how much of `total`, if that is known, one is: 1."""


def silent(
    items: Iterable[Item],
    label: str,  # noqa: ARG001
    total: float | None,  # noqa: ARG001
    amount: Callable[[Item], float] | None = None,  # noqa: ARG001
) -> Iterable[Item]:
    """Progress that nobody sees."""
    return items
