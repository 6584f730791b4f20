"""Which provider, class and offer a job would get, at what price, and why not the others.

Pure: everything it decides from is handed in.
"""

from __future__ import annotations

from flashtui.domain.allocation.cheapest import cheapest_class
from flashtui.domain.allocation.failures import (
    NothingFitsError,
    ProviderNotAvailable,
    SearchFailed,
    SoldOut,
    UnknownProviderError,
)
from flashtui.domain.allocation.planning import allocate_from, allocation_of, plan
from flashtui.domain.allocation.values import (
    Allocation,
    AllocationReport,
    AllocationRequest,
    Candidate,
    Exclusion,
    FailureKind,
    ProviderBook,
    book_from_sheet,
)
from flashtui.domain.allocation.wording import allocation_summary
from flashtui.domain.sizing import Sizing, SizingPart

__all__ = [
    "Allocation",
    "AllocationReport",
    "AllocationRequest",
    "Candidate",
    "Exclusion",
    "FailureKind",
    "NothingFitsError",
    "ProviderBook",
    "ProviderNotAvailable",
    "SearchFailed",
    "Sizing",
    "SizingPart",
    "SoldOut",
    "UnknownProviderError",
    "allocate_from",
    "allocation_of",
    "allocation_summary",
    "book_from_sheet",
    "cheapest_class",
    "plan",
]
