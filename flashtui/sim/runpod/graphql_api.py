"""POST /graphql of the simulated RunPod: parse, check, authorise, execute, and answer as it does.

Sources: docs sdks/graphql/configurations (key in the header or `?api_key=`), recordings of errors: an
unknown field is a 400 with GRAPHQL_VALIDATION_FAILED, a failed resolver is a 200 with `errors` and
whatever data there is. Introspection is off on the live service.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashtui.sim.http import Response, json_response
from flashtui.sim.runpod.account import OWNER_OF_KEY, READ_ONLY_KEY
from flashtui.sim.runpod.problem import ProblemError
from flashtui.sim.runpod.quirks import CATCH_ALL

if TYPE_CHECKING:
    from graphql import DocumentNode, ExecutionResult, GraphQLError, GraphQLSchema

    from flashtui.sim.http import Request
    from flashtui.sim.runpod.account import RunpodState

PUBLIC_ROOTS = frozenset({"gpuTypes", "dataCenters", "countryCodes", "cpuFlavors"})
"""Answered without a key."""
_KEPT_DOCUMENTS = 128
_KEPT_ANSWERS = 64


class GraphqlApi:
    """One schema, built when the first request comes; parsed documents and public answers are kept."""

    def __init__(self, state: RunpodState) -> None:
        self._state = state
        self._schema: GraphQLSchema | None = None
        self._documents: OrderedDict[str, DocumentNode | Response] = OrderedDict()
        self._answers: OrderedDict[tuple[object, ...], bytes] = OrderedDict()

    def handle(self, request: Request) -> Response:
        """Answer one operation."""
        if request.method != "POST":
            self._state.world.strict.record("runpod", "unknown_method", request.route)
            return json_response(405, {"errors": [{"message": "GraphQL wants POST"}]})
        try:
            body = json.loads(request.body)
        except ValueError:
            body = None
        query = body.get("query") if isinstance(body, dict) else None
        if not isinstance(query, str):
            return _errors(
                400, "POST body missing, invalid Content-Type, or JSON object", "BAD_REQUEST"
            )
        document = self._parsed(query)
        if isinstance(document, Response):
            return Response(document.status, document.body, dict(document.headers))
        return self._authorised(request, document, body, query)

    def _authorised(
        self, request: Request, document: DocumentNode, body: dict[str, Any], query: str
    ) -> Response:
        key = request.bearer() or request.first("api_key")
        roots = _roots(document)
        is_public = roots <= PUBLIC_ROOTS
        if not is_public and key is not None and key not in OWNER_OF_KEY:
            return Response(401, b"", {"Content-Type": "application/json"})
        ordered = self._ordered_failure(request)
        if ordered is not None:
            return ordered
        if is_public:
            return self._spoiled(self._public(document, body, query), request)
        owner = OWNER_OF_KEY.get(key or "")
        caller = Caller(self._state, owner, request.route, can_write=key != READ_ONLY_KEY)
        return self._spoiled(self._finished(self._execute(document, body, caller)), request)

    def _public(self, document: DocumentNode, body: dict[str, Any], query: str) -> Response:
        """Market reads are the same for everybody within a tick, so they are computed once."""
        state = self._state
        variables = json.dumps(body.get("variables"), sort_keys=True)
        marks = (state.market.tick(state.now), state.market.blocked(), len(state.cards()))
        key = (query, variables, body.get("operationName"), *marks)
        answer = self._answers.get(key)
        if answer is None:
            result = self._execute(document, body, Caller(state, None, "", can_write=False))
            response = self._finished(result)
            if response.status != 200:
                return response
            answer = response.body
            self._answers[key] = answer
            if len(self._answers) > _KEPT_ANSWERS:
                self._answers.popitem(last=False)
        return Response(200, answer, {"Content-Type": "application/json"})

    # -- documents -------------------------------------------------------------------------------

    def _parsed(self, query: str) -> DocumentNode | Response:
        kept = self._documents.get(query)
        if kept is None:
            kept = self._parse(query)
            self._documents[query] = kept
            if len(self._documents) > _KEPT_DOCUMENTS:
                self._documents.popitem(last=False)
        if isinstance(kept, Response):
            self._state.world.strict.record("runpod", "graphql", kept.body.decode()[:300])
        return kept

    def _parse(self, query: str) -> DocumentNode | Response:
        from graphql import GraphQLSyntaxError, parse, validate

        try:
            document = parse(query)
        except GraphQLSyntaxError as error:
            return _errors(400, error.message, "GRAPHQL_PARSE_FAILED")
        if "__schema" in query or "__type(" in query:
            return _errors(400, "GraphQL introspection is not allowed", "GRAPHQL_VALIDATION_FAILED")
        problems = validate(self.schema(), document)
        if problems:
            return _errors(400, [_shown(p) for p in problems], "GRAPHQL_VALIDATION_FAILED")
        return document

    def schema(self) -> GraphQLSchema:
        """The schema, built once."""
        if self._schema is None:
            from graphql import build_schema

            text = Path(__file__).with_name("schema.graphql").read_text(encoding="utf-8")
            self._schema = build_schema(text, assume_valid_sdl=True)
        return self._schema

    def _execute(
        self, document: DocumentNode, body: dict[str, Any], caller: Caller
    ) -> ExecutionResult:
        from graphql import execute_sync

        from flashtui.sim.runpod.graphql_roots import Roots

        variables = body.get("variables")
        return execute_sync(
            self.schema(),
            document,
            root_value=Roots(caller),
            variable_values=variables if isinstance(variables, dict) else {},
            operation_name=body.get("operationName"),
        )

    # -- answers ---------------------------------------------------------------------------------

    @staticmethod
    def _finished(result: ExecutionResult) -> Response:
        errors = [_shown(error) for error in result.errors or ()]
        if result.data is None and errors and not any("path" in error for error in errors):
            # Variables that do not fit are refused before anything runs.
            return _errors(400, errors, "BAD_USER_INPUT")
        answer: dict[str, Any] = {}
        if errors:
            answer["errors"] = errors
        answer["data"] = result.data
        return json_response(200, answer)

    def _ordered_failure(self, request: Request) -> Response | None:
        take = self._state.world.faults.take
        if take("graphql_validation", "runpod", request.route) is not None:
            message = 'Cannot query field "clientBalance" on type "User".'
            return _errors(400, message, "GRAPHQL_VALIDATION_FAILED")
        if take("graphql_errors", "runpod", request.route) is not None:
            error = {"message": CATCH_ALL, "extensions": {"code": "INTERNAL_SERVER_ERROR"}}
            return json_response(200, {"errors": [error], "data": None})
        if take("graphql_empty_errors", "runpod", request.route) is not None:
            return json_response(200, {"errors": [], "data": None})
        return None

    def _spoiled(self, response: Response, request: Request) -> Response:
        if response.status != 200:
            return response
        if self._state.world.faults.take("graphql_partial", "runpod", request.route) is None:
            return response
        answer = json.loads(response.body)
        spoil(answer)
        return json_response(200, answer)


def spoil(answer: dict[str, Any]) -> None:
    """Lose half of the data, as the live service does when one of its own sources fails."""
    data = answer.get("data")
    if not isinstance(data, dict):
        return
    for name, value in data.items():
        if isinstance(value, list) and value:
            data[name] = [item if index % 2 == 0 else None for index, item in enumerate(value)]
            path: list[object] = [name, 1]
        elif isinstance(value, dict):
            last = list(value)[-1]
            value[last] = None
            path = [name, last]
        else:
            continue
        code = {"code": "INTERNAL_SERVER_ERROR"}
        answer["errors"] = [{"message": "timeout", "path": path, "extensions": code}]
        return


class Caller:
    """Who asks, and what the asker may do."""

    def __init__(
        self, state: RunpodState, owner: str | None, route: str, *, can_write: bool
    ) -> None:
        self.state = state
        self.route = route
        self._owner = owner
        self._can_write = can_write

    def reader(self) -> str:
        """The account that reads.

        Raises:
            ProblemError: no key was sent.
        """
        if self._owner is None:
            raise ProblemError(401, "Unauthorized")
        return self._owner

    def writer(self) -> str:
        """The account that changes something.

        Raises:
            ProblemError: no key, or one that may only read.
        """
        owner = self.reader()
        if not self._can_write:
            raise ProblemError(403, "Forbidden: this API key cannot perform this action")
        return owner


_CODES = {401: "UNAUTHENTICATED", 403: "FORBIDDEN"}


def _shown(error: GraphQLError) -> dict[str, Any]:
    shown: dict[str, Any] = {"message": error.message}
    if error.path:
        shown["path"] = list(error.path)
    if error.locations:
        shown["locations"] = [{"line": p.line, "column": p.column} for p in error.locations]
    cause = error.original_error
    if isinstance(cause, ProblemError):
        shown["extensions"] = {"code": _CODES.get(cause.status, "INTERNAL_SERVER_ERROR")}
    elif error.path:
        shown["extensions"] = {"code": "INTERNAL_SERVER_ERROR"}
    return shown


def _errors(status: int, problems: str | list[dict[str, Any]], code: str) -> Response:
    rows = [{"message": problems}] if isinstance(problems, str) else problems
    return json_response(
        status, {"errors": [{**row, "extensions": {"code": code}} for row in rows]}
    )


def _roots(document: DocumentNode) -> frozenset[str]:
    """The root fields of every operation in a document, fragments included."""
    from graphql import FieldNode, OperationDefinitionNode

    names: set[str] = set()
    for definition in document.definitions:
        if not isinstance(definition, OperationDefinitionNode):
            continue
        for selection in definition.selection_set.selections:
            names.add(selection.name.value if isinstance(selection, FieldNode) else "fragment")
    return frozenset(names)
