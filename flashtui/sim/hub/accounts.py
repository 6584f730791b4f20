"""Who calls the simulated hub. Source: docs hub/security-tokens; `whoami-v2`."""

from __future__ import annotations

from dataclasses import dataclass

from flashtui.sim.http import Response, json_response
from flashtui.sim.hub.errors import HubError

WRITE_TOKEN, READ_TOKEN = "hf_demo", "hf_demoread"
NAME, ORGANISATION = "flash-demo", "acme"


@dataclass(frozen=True, slots=True)
class User:
    """The one account, as seen by one of its tokens."""

    role: str
    """`write` or `read`."""


def of(token: str | None) -> User | None:
    """The user of a token, None for a call without one.

    Raises:
        HubError: the token is a wrong one.
    """
    if token is None:
        return None
    if token == WRITE_TOKEN:
        return User("write")
    if token == READ_TOKEN:
        return User("read")
    raise HubError(401, "", "Invalid credentials in Authorization header")


def may_write(user: User | None) -> None:
    """Refuse a caller that may not change anything.

    Raises:
        HubError: no token, or one that only reads.
    """
    if user is None:
        raise HubError(401, "", "Invalid username or password.")
    if user.role != "write":
        raise HubError(403, "", "You don't have the required permissions to write here")


def whoami(user: User | None) -> Response:
    """The account behind a token."""
    if user is None:
        raise HubError(401, "", "Invalid username or password.")
    access = {"displayName": "demo", "role": user.role}
    answer = {
        "type": "user",
        "id": "000000000000000000000001",
        "name": NAME,
        "fullname": "Flash Demo",
        "isPro": False,
        "orgs": [{"type": "org", "id": "2", "name": ORGANISATION, "roleInOrg": "admin"}],
        "auth": {"type": "access_token", "accessToken": access},
    }
    return json_response(200, answer)
