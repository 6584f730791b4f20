"""Writing to the simulated hub: repositories, commits, branches and tags."""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, Any

from flashtui.sim.http import Response, json_response
from flashtui.sim.hub import accounts
from flashtui.sim.hub.errors import HubError
from flashtui.sim.hub.repos import Blob

if TYPE_CHECKING:
    from flashtui.sim.http import Request
    from flashtui.sim.hub.accounts import User
    from flashtui.sim.hub.surface import Ask, Hub

INLINE_BYTES = 100 * 1024 * 1024
"""Up to this size a file goes inline. The live hub sends files over 10 MB, and some extensions, as large
files through its own storage protocol, which is not simulated."""


def _body(request: Request) -> dict[str, Any]:
    try:
        body = json.loads(request.body or b"{}")
    except ValueError as error:
        raise HubError(400, "", "Invalid JSON body") from error
    if not isinstance(body, dict):
        raise HubError(400, "", "Invalid JSON body")
    return body


def _repo_name(body: dict[str, Any]) -> str:
    organisation = body.get("organization") or accounts.NAME
    name = body.get("name")
    if not isinstance(name, str) or not name:
        raise HubError(400, "", "name is required")
    if organisation not in {accounts.NAME, accounts.ORGANISATION}:
        message = f'You don\'t have the rights to create here under the namespace "{organisation}"'
        raise HubError(403, "", message)
    return f"{organisation}/{name}"


def create_repo(hub: Hub, request: Request, user: User | None) -> Response:
    """Make a repository; 409 where it exists. Source: POST /api/repos/create."""
    accounts.may_write(user)
    body = _body(request)
    kind, repo_id = body.get("type") or "model", _repo_name(body)
    folder = "" if kind == "model" else f"{kind}s/"
    url = f"{request.base_url}/{folder}{repo_id}"
    if (kind, repo_id) in hub.repos:
        answer = {"error": f"You already created this {kind} repo", "url": url}
        return json_response(409, answer)
    visibility = body.get("visibility")
    is_private = bool(body.get("private")) or visibility == "private"
    hub.make(repo_id, kind, is_private=is_private, at=hub.now)
    return json_response(200, {"url": url, "name": repo_id, "id": repo_id})


def delete_repo(hub: Hub, request: Request, user: User | None) -> Response:
    """Delete a repository with everything in it. Source: DELETE /api/repos/delete."""
    accounts.may_write(user)
    body = _body(request)
    if hub.repos.pop((body.get("type") or "model", _repo_name(body)), None) is None:
        raise HubError(404, "RepoNotFound", "Repository not found")
    return Response(200)


def settings(ask: Ask) -> Response:
    """Change the visibility. Source: PUT /api/{kind}s/{repo}/settings."""
    repo, body = ask.writable(), _body(ask.request)
    repo.is_private = bool(body.get("private", body.get("visibility") == "private"))
    return json_response(200, {"private": repo.is_private})


def preupload(ask: Ask) -> Response:
    """Say how each file is to be sent. Source: POST /api/{kind}s/{repo}/preupload/{rev}."""
    ask.writable()
    commit = ask.commit(ask.rest[0] if ask.rest else "main")
    rows = []
    for file in _body(ask.request).get("files", []):
        path = str(file.get("path"))
        known = commit.files.get(path)
        is_small = int(file.get("size") or 0) <= INLINE_BYTES
        rows.append(
            {
                "path": path,
                "uploadMode": "regular" if is_small else "lfs",
                "shouldIgnore": False,
                "oid": known.etag if known is not None else None,
            }
        )
    return json_response(200, {"files": rows})


def commit(ask: Ask) -> Response:
    """Apply one commit, sent as lines of JSON. Source: POST /api/{kind}s/{repo}/commit/{rev}."""
    repo = ask.writable()
    branch = ask.rest[0] if ask.rest else "main"
    if branch not in repo.branches:
        raise HubError(404, "RevisionNotFound", f"Invalid rev id: {branch}")
    head = repo.find(branch)
    files = dict(head.files) if head else {}
    title = ""
    for line in ask.request.body.splitlines():
        if not line.strip():
            continue
        entry = _entry(line)
        key, value = entry["key"], entry["value"]
        if key == "header":
            title = str(value.get("summary") or "")
            parent = value.get("parentCommit")
            if parent is not None and head is not None and parent != head.oid:
                raise HubError(
                    412, "", "A commit has happened since. Please refresh and try again."
                )
        else:
            _apply(ask, files, key, value)
    if not title:
        raise HubError(400, "", "Commit summary is required")
    made = repo.commit(branch, title, files, ask.hub.now)
    folder = "" if repo.kind == "model" else f"{repo.kind}s/"
    url = f"{ask.request.base_url}/{folder}{repo.repo_id}/commit/{made.oid}"
    answer = {"success": True, "commitOid": made.oid, "commitUrl": url, "hookOutput": ""}
    return json_response(200, answer)


def _entry(line: bytes) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except ValueError as error:
        raise HubError(400, "", "Invalid commit line") from error
    if not isinstance(entry, dict) or not {"key", "value"} <= set(entry):
        raise HubError(400, "", "Invalid commit line")
    return entry


def _apply(ask: Ask, files: dict[str, Blob], key: str, value: dict[str, Any]) -> None:
    path = str(value.get("path") or "").strip("/")
    if not path or ".." in path.split("/"):
        raise HubError(400, "", f"Invalid path: {path}")
    if key == "file":
        files[path] = Blob(_content(value))
    elif key == "lfsFile":
        files[path] = _uploaded(ask, str(value.get("oid")))
    elif key == "deletedFile":
        if path not in files:
            raise HubError(404, "EntryNotFound", "A file with this name doesn't exist")
        del files[path]
    elif key == "deletedFolder":
        for name in [name for name in files if name.startswith(f"{path}/")]:
            del files[name]
    else:
        ask.hub.world.strict.record("hub", "unknown_field", f"commit key {key}")
        raise HubError(400, "", f"Unknown commit key: {key}")


def _uploaded(ask: Ask, oid: str) -> Blob:
    content = ask.hub.uploads.get(oid)
    if content is None:
        raise HubError(400, "", f"LFS object {oid} was not uploaded")
    return Blob(content, oid)


def _content(value: dict[str, Any]) -> bytes:
    text = str(value.get("content") or "")
    if value.get("encoding") != "base64":
        return text.encode()
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise HubError(400, "", "Invalid base64 content") from error


def make_branch(ask: Ask) -> Response:
    """Make a branch at a revision. Source: POST /api/{kind}s/{repo}/branch/{name}."""
    repo, name = ask.writable(), "/".join(ask.rest)
    if name in repo.branches:
        raise HubError(409, "", f"Reference already exists: refs/heads/{name}")
    start = _body(ask.request).get("startingPoint") or "main"
    repo.branches[name] = ask.commit(str(start)).oid
    return Response(201)


def drop_branch(ask: Ask) -> Response:
    """Delete a branch. Source: DELETE /api/{kind}s/{repo}/branch/{name}."""
    repo, name = ask.writable(), "/".join(ask.rest)
    if name == "main" or name not in repo.branches:
        raise HubError(404, "RevisionNotFound", f"Invalid rev id: {name}")
    del repo.branches[name]
    return Response(200)


def make_tag(ask: Ask) -> Response:
    """Tag a revision. Source: POST /api/{kind}s/{repo}/tag/{rev}."""
    repo, name = ask.writable(), str(_body(ask.request).get("tag") or "")
    if not name or name in repo.tags:
        raise HubError(409, "", f"Reference already exists: refs/tags/{name}")
    repo.tags[name] = ask.commit("/".join(ask.rest)).oid
    return Response(201)
