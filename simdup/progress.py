"""How far a run has come: the function that shows it is passed down to every phase."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from simdup.records import Document

Item = TypeVar("Item")


class Progress(Protocol):
    """Yields the items of a phase unchanged, and shows how many of them are done."""

    def __call__(
        self,
        items: Iterable[Item],
        label: str,
        total: float | None,
        amount: Callable[[Item], float] | None = None,
    ) -> Iterable[Item]:
        """Yield the items. `amount` says how many an item counts for (default: 1).

        `total` is how many all of them count for; None if nobody knows.
        """


@runtime_checkable
class ProgressOfScan(Progress, Protocol):
    """Progress that a scan also tells what it knows before near-duplicates are computed."""

    def tell_known(self, documents: Sequence[Document]) -> None:
        """Tell how many of these documents, which are all, have the content of another one."""


class _Silent:
    """Shows nothing."""

    def __call__(
        self,
        items: Iterable[Item],
        label: str,  # noqa: ARG002
        total: float | None,  # noqa: ARG002
        amount: Callable[[Item], float] | None = None,  # noqa: ARG002
    ) -> Iterable[Item]:
        """Return the items."""
        return items

    def __repr__(self) -> str:  # as `help` shows a default
        return "silent"


#: The default of all functions that can show progress.
silent = _Silent()
