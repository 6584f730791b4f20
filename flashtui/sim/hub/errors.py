"""How the hub says no: a status, a sentence, and the code the official library goes by."""

from __future__ import annotations

from flashtui.sim.http import Response, json_response


class HubError(Exception):
    """A refusal; `code` becomes the `X-Error-Code` header (RepoNotFound, EntryNotFound, ...)."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message

    def response(self) -> Response:
        """The answer a client gets."""
        headers = {"X-Error-Message": self.message}
        if self.code:
            headers["X-Error-Code"] = self.code
        return json_response(self.status, {"error": self.message}, headers=headers)
