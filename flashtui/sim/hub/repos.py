"""Repositories of the simulated hub: files, commits and branches, in memory.

Ids are git's own (`blob`, the size, a zero byte and the bytes, under SHA-1), because the official library compares them with
what it computes locally to skip files that have not changed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

KEPT_COMMITS = 300
"""Older commits of a branch are forgotten: a heartbeat is a commit, and memory must stay flat."""


@dataclass(frozen=True, slots=True)
class Blob:
    """The content of one file.

    `sha256` is set where it was uploaded as a large file: its id then is that of the pointer.
    """

    content: bytes
    sha256: str | None = None

    @property
    def oid(self) -> str:
        """Git's id of the blob, or of the pointer that stands for it."""
        data = self.content if self.sha256 is None else self.pointer
        return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()

    @property
    def pointer(self) -> bytes:
        """What git keeps in place of a large file."""
        text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{self.sha256}\nsize {len(self.content)}\n"
        return text.encode()

    @property
    def etag(self) -> str:
        """What the library takes as the identity of the content."""
        return self.sha256 or self.oid


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit with the whole tree it leads to."""

    oid: str
    parent: str | None
    title: str
    at: float
    files: dict[str, Blob]


@dataclass(slots=True)
class Repo:
    """One repository; `main` always exists."""

    repo_id: str
    kind: str
    """`dataset`, `model` or `space`."""
    is_private: bool
    created_at: float
    commits: list[Commit] = field(default_factory=list)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    def begin(self) -> None:
        """Make the first, empty commit."""
        if not self.commits:
            self.commit("main", "initial commit", {}, self.created_at)

    def commit(self, branch: str, title: str, files: dict[str, Blob], at: float) -> Commit:
        """Add a commit that leads to these files."""
        parent = self.branches.get(branch)
        text = (
            f"{self.kind}/{self.repo_id}/{parent}/{title}/{at!r}/{len(self.commits)}/"
            + "/".join(f"{path}:{blob.oid}" for path, blob in sorted(files.items()))
        )
        oid = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
        made = Commit(oid, parent, title, at, files)
        self.commits.append(made)
        self.branches[branch] = oid
        self._forget_old()
        return made

    def _forget_old(self) -> None:
        if len(self.commits) <= KEPT_COMMITS:
            return
        named = {*self.branches.values(), *self.tags.values()}
        surplus = len(self.commits) - KEPT_COMMITS
        self.commits = [
            commit
            for index, commit in enumerate(self.commits)
            if index >= surplus or commit.oid in named
        ]

    def find(self, revision: str) -> Commit | None:
        """The commit of a branch, a tag, or a (shortened) id; None for an unknown revision."""
        wanted = revision.removeprefix("refs/heads/")
        oid = (
            self.branches.get(wanted)
            or self.tags.get(wanted.removeprefix("refs/tags/"))
            or revision
        )
        if len(oid) < 7:
            return None
        return next((c for c in reversed(self.commits) if c.oid.startswith(oid)), None)

    def as_of(self, branch: str, at: float) -> Commit | None:
        """The commit a branch stood at some time ago."""
        commit = self.find(branch)
        while commit is not None and commit.at > at:
            commit = self.find(commit.parent) if commit.parent else None
        return commit

    def history(self, commit: Commit) -> list[Commit]:
        """A commit and its ancestors, newest first."""
        found = [commit]
        while (parent := found[-1].parent) and (before := self.find(parent)):
            found.append(before)
        return found
