"""What is wrong with a job file: every problem at once, each with its key and its line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtui.domain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class JobProblem:
    """One thing that is wrong.

    Attributes:
        key: dotted; empty for the file as a whole.
        line: from 1; None: could not be found.
        column: from 1, for a text that is not TOML; None otherwise.
    """

    key: str
    message: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = "" if self.line is None else f"line {self.line}"
        if self.column is not None:
            place += f", column {self.column}"
        return ": ".join(part for part in (place, self.key, self.message) if part)


class JobFileError(ConfigError):
    """The job file cannot be used; ``problems`` has one entry for each thing to change."""

    def __init__(self, problems: Sequence[JobProblem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)
