"""Reading from the simulated hub: repository facts, trees, history, and the files themselves."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote

from flashtui.sim.http import Response, json_response
from flashtui.sim.hub.errors import HubError

if TYPE_CHECKING:
    from flashtui.sim.http import Request
    from flashtui.sim.hub.accounts import User
    from flashtui.sim.hub.repos import Blob, Commit, Repo
    from flashtui.sim.hub.surface import Ask, Hub

_PAGE = 1000


def iso(at: float) -> str:
    """A time as the hub prints it, e.g. `2026-06-01T12:00:00.000Z`."""
    text = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.")
    return f"{text}{int(at * 1000) % 1000:03d}Z"


def _facts(repo: Repo, commit: Commit) -> dict[str, Any]:
    return {
        "_id": commit.oid[:24],
        "id": repo.repo_id,
        "author": repo.repo_id.split("/")[0],
        "sha": commit.oid,
        "lastModified": iso(commit.at),
        "createdAt": iso(repo.created_at),
        "private": repo.is_private,
        "gated": False,
        "disabled": False,
        "downloads": 0,
        "likes": 0,
        "tags": [],
    }


def _lfs(blob: Blob) -> dict[str, Any]:
    return {"oid": blob.sha256, "size": len(blob.content), "pointerSize": len(blob.pointer)}


def info(ask: Ask) -> Response:
    """A repository's facts and file names. Source: GET /api/{kind}s/{repo}[/revision/{rev}]."""
    repo = ask.repo()
    commit = ask.commit(ask.rest[0] if ask.rest else "main")
    with_blobs = (ask.request.first("blobs") or "").lower() in {"true", "1"}
    siblings = []
    for path, blob in sorted(commit.files.items()):
        sibling: dict[str, Any] = {"rfilename": path}
        if with_blobs:
            sibling |= {"size": len(blob.content), "blobId": blob.oid}
            if blob.sha256 is not None:
                sibling["lfs"] = {**_lfs(blob), "sha256": blob.sha256}
        siblings.append(sibling)
    return json_response(200, {**_facts(repo, commit), "siblings": siblings})


def list_repos(hub: Hub, request: Request, kind: str, user: User | None) -> Response:
    """The repositories of an author. Source: GET /api/datasets."""
    author, search = request.first("author"), request.first("search")
    rows = []
    for repo in hub.repos.values():
        is_visible = repo.kind == kind and (user is not None or not repo.is_private)
        is_asked = (author is None or repo.repo_id.startswith(f"{author}/")) and (
            search is None or search in repo.repo_id
        )
        commit = repo.find("main")
        if is_visible and is_asked and commit is not None:
            rows.append(_facts(repo, commit))
    limit = request.first("limit")
    return json_response(200, rows[: int(limit)] if limit and limit.isdigit() else rows)


def _file_row(path: str, blob: Blob) -> dict[str, Any]:
    row: dict[str, Any] = {"type": "file", "oid": blob.oid, "size": len(blob.content), "path": path}
    if blob.sha256 is not None:
        row["lfs"] = _lfs(blob)
    return row


def _folders(paths: list[str], root: str) -> list[str]:
    found = set()
    for path in paths:
        inner = path.removeprefix(root).split("/")[:-1]
        for depth in range(1, len(inner) + 1):
            found.add(root + "/".join(inner[:depth]))
    return sorted(found)


def _expanded(row: dict[str, Any], commit: Commit) -> dict[str, Any]:
    last = {"id": commit.oid, "title": commit.title, "date": iso(commit.at)}
    return {**row, "lastCommit": last}


def tree(ask: Ask) -> Response:
    """A folder's content, page by page. Source: GET /api/{kind}s/{repo}/tree/{rev}/{path}."""
    if not ask.rest:
        raise HubError(404, "RevisionNotFound", "Invalid rev id")
    commit = ask.commit(ask.rest[0])
    root = "/".join(ask.rest[1:])
    root = f"{root}/" if root else ""
    paths = [path for path in sorted(commit.files) if path.startswith(root)]
    if root and not paths:
        raise HubError(404, "EntryNotFound", f"{root.rstrip('/')} does not exist")
    recursive = (ask.request.first("recursive") or "").lower() in {"true", "1"}
    folders = _folders(paths, root)
    if not recursive:
        paths = [path for path in paths if "/" not in path.removeprefix(root)]
        folders = [folder for folder in folders if "/" not in folder.removeprefix(root)]
    rows = [{"type": "directory", "oid": commit.oid, "size": 0, "path": f} for f in folders]
    rows += [_file_row(path, commit.files[path]) for path in paths]
    if (ask.request.first("expand") or "").lower() in {"true", "1"}:
        rows = [_expanded(row, commit) for row in rows]
    return _page(ask, rows)


def _page(ask: Ask, rows: list[dict[str, Any]]) -> Response:
    cursor = ask.request.first("cursor")
    start = int(cursor) if cursor and cursor.isdigit() else 0
    limit = ask.request.first("limit")
    size = min(int(limit), _PAGE) if limit and limit.isdigit() else _PAGE
    response = json_response(200, rows[start : start + size])
    if start + size < len(rows):
        base = f"{ask.request.base_url}{ask.request.raw_path.split('?')[0]}"
        kept = "&".join(
            f"{name}={quote(values[0])}"
            for name, values in ask.request.query.items()
            if name != "cursor"
        )
        mark = f"{kept}&" if kept else ""
        response.headers["Link"] = f'<{base}?{mark}cursor={start + size}>; rel="next"'
    return response


def paths_info(ask: Ask) -> Response:
    """Facts of single paths. Source: POST /api/{kind}s/{repo}/paths-info/{rev}, form or JSON body."""
    commit = ask.commit(ask.rest[0] if ask.rest else "main")
    wanted = _paths(ask.request)
    rows: list[dict[str, Any]] = []
    for path in wanted:
        if path in commit.files:
            rows.append(_file_row(path, commit.files[path]))
        elif any(name.startswith(f"{path.rstrip('/')}/") for name in commit.files):
            rows.append(
                {"type": "directory", "oid": commit.oid, "size": 0, "path": path.rstrip("/")}
            )
    return json_response(200, rows)


def _paths(request: Request) -> list[str]:
    if "json" in request.headers.get("content-type", ""):
        found = json.loads(request.body or b"{}").get("paths", [])
        return [found] if isinstance(found, str) else list(found)
    return parse_qs(request.body.decode()).get("paths", [])


def commits(ask: Ask) -> Response:
    """History, newest first. Source: GET /api/{kind}s/{repo}/commits/{rev}."""
    history = ask.repo().history(ask.commit(ask.rest[0] if ask.rest else "main"))
    rows = [
        {
            "id": commit.oid,
            "title": commit.title,
            "message": "",
            "date": iso(commit.at),
            "authors": [{"user": "flash-demo"}],
        }
        for commit in history
    ]
    return _page(ask, rows)


def refs(ask: Ask) -> Response:
    """Branches and tags. Source: GET /api/{kind}s/{repo}/refs."""
    repo = ask.repo()

    def rows(names: dict[str, str], folder: str) -> list[dict[str, str]]:
        return [
            {"name": name, "ref": f"refs/{folder}/{name}", "targetCommit": oid}
            for name, oid in names.items()
        ]

    answer = {"branches": rows(repo.branches, "heads"), "tags": rows(repo.tags, "tags")}
    return json_response(200, {**answer, "converts": []})


def auth_check(ask: Ask) -> Response:
    """Whether the caller may read the repository."""
    ask.repo()
    return Response(200)


def resolve(ask: Ask) -> Response:
    """A file, whole or in part. Source: HEAD and GET /{kind}s/{repo}/resolve/{rev}/{path}."""
    if ask.request.method not in {"GET", "HEAD"}:
        raise HubError(405, "", "Method not allowed")
    commit, blob = ask.blob(ask.rest[0], "/".join(ask.rest[1:]))
    headers = {
        "Content-Type": "application/octet-stream",
        "ETag": f'"{blob.etag}"',
        "X-Repo-Commit": commit.oid,
        "Accept-Ranges": "bytes",
    }
    if blob.sha256 is not None:
        headers |= {"X-Linked-Size": str(len(blob.content)), "X-Linked-ETag": f'"{blob.sha256}"'}
    if ask.request.headers.get("if-none-match", "").strip('"') == blob.etag:
        return Response(304, b"", headers)
    asked = re.fullmatch(r"bytes=(\d+)-(\d*)", ask.request.headers.get("range", ""))
    if asked is None:
        return Response(200, blob.content, headers)
    size = len(blob.content)
    start = int(asked[1])
    end = min(int(asked[2]) if asked[2] else size - 1, size - 1)
    if start >= size:
        return Response(416, b"", {**headers, "Content-Range": f"bytes */{size}"})
    headers["Content-Range"] = f"bytes {start}-{end}/{size}"
    return Response(206, blob.content[start : end + 1], headers)
