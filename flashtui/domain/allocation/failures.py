"""The ways in which an allocation says no; all are relatives of the seeds' one error."""

from __future__ import annotations

from flashtui.domain.errors import ConfigError, NothingFits, ProviderError
from flashtui.domain.gpu import UnsupportedGpuError


class UnknownProviderError(UnsupportedGpuError, ConfigError):
    """The job names a provider that does not exist."""


class ProviderNotAvailable(UnsupportedGpuError, ConfigError):
    """The job names a provider that cannot be asked here: no key, or offline."""


class SearchFailed(UnsupportedGpuError, ProviderError):
    """No provider that was asked could answer: nothing is known about what fits; try again."""


class NothingFitsError(UnsupportedGpuError, NothingFits):
    """No class or offer can hold the job under its conditions."""


class SoldOut(NothingFitsError):
    """Classes that fit exist, but nothing of them is on offer now; try again."""
