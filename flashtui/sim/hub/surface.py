"""The Hugging Face hub of the simulator: as much as the official library needs for dataset repositories.

Sources: docs huggingface.co/docs/hub/api, the OpenAPI description it links to, and the requests that
`huggingface_hub` sends (hf_api, _commit_api, file_download). Tokens: `hf_demo` writes, `hf_demoread` only
reads; any other token is a wrong one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from flashtui.sim.http import Response, json_response
from flashtui.sim.hub import accounts, files, lfs, writes
from flashtui.sim.hub.errors import HubError
from flashtui.sim.hub.feeds import Feeds
from flashtui.sim.hub.repos import Blob, Commit, Repo

if TYPE_CHECKING:
    from flashtui.sim.http import Request
    from flashtui.sim.world import World

KINDS = {"datasets": "dataset", "models": "model", "spaces": "space"}


class Hub:
    """All repositories, and uploads that are not committed yet."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.now = world.time.start
        self.repos: dict[tuple[str, str], Repo] = {}
        self.uploads: dict[str, bytes] = {}

    def make(self, repo_id: str, kind: str, *, is_private: bool, at: float) -> Repo:
        """Make a repository with its first commit; an existing one is returned as it is."""
        found = self.repos.get((kind, repo_id))
        if found is None:
            found = Repo(repo_id, kind, is_private, at)
            found.begin()
            self.repos[kind, repo_id] = found
        return found


@dataclass(frozen=True, slots=True)
class Ask:
    """One request about a repository, its path taken apart.

    Attributes:
        rest: path segments after the repository's name, each percent-decoded by itself.
        user: whose token was sent, None without one.
    """

    hub: Hub
    request: Request
    kind: str
    repo_id: str
    rest: tuple[str, ...]
    user: accounts.User | None

    def repo(self) -> Repo:
        """The repository.

        Raises:
            HubError: there is none, or it is private and the caller has no token.
        """
        found = self.hub.repos.get((self.kind, self.repo_id))
        if found is None or (found.is_private and self.user is None):
            raise HubError(
                401 if self.user is None else 404, "RepoNotFound", "Repository not found"
            )
        return found

    def writable(self) -> Repo:
        """The repository, for a caller that may change it.

        Raises:
            HubError: no such repository, or the token may only read.
        """
        found = self.repo()
        accounts.may_write(self.user)
        return found

    def commit(self, revision: str) -> Commit:
        """The commit a revision names.

        Raises:
            HubError: there is none.
        """
        found = self.repo().find(revision)
        if found is None:
            raise HubError(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        fault = self.hub.world.faults.take("stale_listing", "hub", self.request.route)
        if fault is not None:
            age = fault.number_arg("age_s", 60.0)
            found = self.repo().as_of(revision, self.hub.now - age) or found
        return found

    def blob(self, revision: str, path: str) -> tuple[Commit, Blob]:
        """One file at a revision.

        Raises:
            HubError: no such file.
        """
        commit = self.commit(revision)
        blob = commit.files.get(path)
        if blob is None:
            raise HubError(404, "EntryNotFound", f'{path} does not exist on "{revision}"')
        return commit, blob


_Answer = Callable[[Ask], Response]

_ON_REPO: dict[tuple[str, str], _Answer] = {
    ("GET", ""): files.info,
    ("GET", "revision"): files.info,
    ("GET", "tree"): files.tree,
    ("POST", "paths-info"): files.paths_info,
    ("GET", "commits"): files.commits,
    ("GET", "refs"): files.refs,
    ("GET", "auth-check"): files.auth_check,
    ("POST", "preupload"): writes.preupload,
    ("POST", "commit"): writes.commit,
    ("POST", "branch"): writes.make_branch,
    ("DELETE", "branch"): writes.drop_branch,
    ("POST", "tag"): writes.make_tag,
    ("PUT", "settings"): writes.settings,
}
"""`/api/{kind}s/{namespace}/{name}/{operation}` by method and operation."""


_CONSTANT: dict[tuple[str, str], dict[str, object]] = {
    ("POST", "validate-yaml"): {"errors": [], "warnings": []},
    ("GET", "agent-harnesses"): {"standardEnvVars": [], "harnesses": {}},
}
"""Routes the official library calls by the way, with the one answer they have here."""


class HubSurface:
    """Dispatches the hub's API and its file addresses."""

    name = "hub"

    def __init__(self, world: World) -> None:
        self.hub = Hub(world)
        self._feeds = Feeds(self.hub, world.scenario.table("hub"))

    def handle(self, request: Request) -> Response:
        """Answer one request of the hub."""
        try:
            user = accounts.of(request.bearer())
            return self._dispatch(request, user)
        except HubError as error:
            return error.response()

    def _dispatch(self, request: Request, user: accounts.User | None) -> Response:
        path = urlsplit(request.raw_path).path
        parts = tuple(unquote(part) for part in path.strip("/").split("/"))
        if parts[0] == "api":
            return self._api(request, parts[1:], user)
        if parts[0] == "_lfs":
            return lfs.store(self.hub, request, parts)
        kind = "model"
        if parts[0] in KINDS:
            kind, parts = KINDS[parts[0]], parts[1:]
        if len(parts) >= 2 and parts[1].endswith(".git"):
            name = parts[1].removesuffix(".git")
            ask = Ask(self.hub, request, kind, f"{parts[0]}/{name}", parts[2:], user)
            if parts[2:] == ("info", "lfs", "objects", "batch"):
                return lfs.batch(ask)
        elif len(parts) >= 5 and parts[2] in {"resolve", "raw"}:
            ask = Ask(self.hub, request, kind, f"{parts[0]}/{parts[1]}", parts[3:], user)
            return files.resolve(ask)
        return self._unknown(request)

    def _api(
        self, request: Request, parts: tuple[str, ...], user: accounts.User | None
    ) -> Response:
        head = parts[0] if parts else ""
        if (request.method, head) == ("GET", "whoami-v2"):
            return accounts.whoami(user)
        constant = _CONSTANT.get((request.method, head))
        if constant is not None:
            return json_response(200, constant)
        if head == "repos" and len(parts) == 2:
            return self._repos(request, parts[1], user)
        if head not in KINDS:
            return self._unknown(request)
        if len(parts) == 1 and request.method == "GET":
            return files.list_repos(self.hub, request, KINDS[head], user)
        answer = _ON_REPO.get((request.method, parts[3] if len(parts) > 3 else ""))
        if answer is None or len(parts) < 3:
            return self._unknown(request)
        ask = Ask(self.hub, request, KINDS[head], f"{parts[1]}/{parts[2]}", parts[4:], user)
        return answer(ask)

    def _repos(self, request: Request, what: str, user: accounts.User | None) -> Response:
        if (request.method, what) == ("POST", "create"):
            return writes.create_repo(self.hub, request, user)
        if (request.method, what) == ("DELETE", "delete"):
            return writes.delete_repo(self.hub, request, user)
        return self._unknown(request)

    def _unknown(self, request: Request) -> Response:
        self.hub.world.strict.record("hub", "unknown_route", request.route)
        return json_response(404, {"error": "Sorry, we can't find the page you are looking for."})

    def advance(self, now: float) -> None:
        """Let the scenario's runs write their heartbeats up to now."""
        self.hub.now = max(self.hub.now, now)
        self._feeds.advance(now)

    def prices(self, at: float) -> list[dict[str, object]]:
        """Nothing is sold here."""
        del at
        return []

    def state(self) -> list[dict[str, Any]]:
        """Every repository with its newest commit and the number of its files."""
        rows = []
        for repo in self.hub.repos.values():
            commit = repo.find("main")
            files_now = len(commit.files) if commit else 0
            row = {"kind": repo.kind, "id": repo.repo_id, "files": files_now}
            rows.append({**row, "sha": commit.oid if commit else None})
        return rows
