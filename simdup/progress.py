"""Showing how far a run is: a function that is passed down, and one that shows nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

Item = TypeVar("Item")


class Progress(Protocol):
    """Is given the items of a phase and gives them on, showing how far it is."""

    def __call__(self, items: Iterable[Item], label: str, total: int | None) -> Iterable[Item]:
        """The items, unchanged; `total` of them, if that is known."""


def silent(items: Iterable[Item], label: str, total: int | None) -> Iterable[Item]:  # noqa: ARG001
    """Progress that nobody sees."""
    return items
