"""What to relax to get a fit: every wish is given up in turn, and what the job would then get is named."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flashtui.domain.allocation.wording import named
from flashtui.domain.rules import LEAST_DISK_GB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from flashtui.domain.allocation.values import Candidate, ProviderBook
    from flashtui.domain.allocation.wish import Wish
    from flashtui.domain.market import ReasonCode

    Best = Callable[[Wish, Sequence[ProviderBook]], Candidate | None]

_RULES: tuple[tuple[ReasonCode, str], ...] = (
    ("reliability", "relax the rule on reliability"),
    ("bandwidth", "relax the rule on download speed"),
    ("not_verified", "let in machines that are not verified"),
    ("not_datacenter", "let in machines outside data centres"),
    ("cuda", "let in hosts with an older CUDA"),
)


def remedies(
    wish: Wish, asked: Sequence[ProviderBook], books: Sequence[ProviderBook], best: Best
) -> tuple[str, ...]:
    """Sentences that help, those that would give a fit at once first.

    Args:
        wish: what nothing fits.
        asked: the books it was held against.
        books: all of them.
        best: what another wish would get from some books; None: nothing.
    """
    found = [
        f"{words}: {named(candidate)}"
        for words, other, from_books in _relaxed(wish, asked, books)
        if (candidate := best(other, from_books)) is not None
    ]
    largest = max((gpu.vram_gb for gpu in wish.classes.values()), default=0)
    if wish.need_gb > largest:
        found.append(
            f"{wish.need_gb} GB is more than every managed class has ({largest} GB): "
            "make the job smaller (max_length, group_size, lora_rank, max_tokens)"
        )
    for book in books:
        if not book.available:
            found.append(f"add a provider: {book.why_not or book.provider}")
        elif book.failed:
            found.append(f"ask {book.provider} again: {book.why_not or 'it did not answer'}")
    return tuple(found)


def _relaxed(
    wish: Wish, asked: Sequence[ProviderBook], books: Sequence[ProviderBook]
) -> Iterator[tuple[str, Wish, Sequence[ProviderBook]]]:
    if not wish.unvalidated:
        yield "allow classes that are not validated", replace(wish, unvalidated=True), asked
    everyone = [book for book in books if book.available]
    if len(everyone) > len(asked):
        yield "ask every provider", wish, everyone
    if wish.cap is not None:
        yield "raise the price limit", replace(wish, cap=None), asked
    if wish.product is not None:
        yield "leave the product open", replace(wish, product=None), asked
    if wish.disk_gb > LEAST_DISK_GB:
        smaller = replace(wish, disk_gb=LEAST_DISK_GB)
        yield f"ask for less disk than {wish.disk_gb} GB", smaller, asked
    yield "plan fewer hours", _without(wish, "ends_too_soon"), asked
    if wish.machines:
        yield "let in excluded machines", _without(wish, "excluded_machine"), asked
    for code, words in _RULES:
        yield words, _without(wish, code), asked


def _without(wish: Wish, code: ReasonCode) -> Wish:
    return replace(wish, ignored=wish.ignored | {code})
