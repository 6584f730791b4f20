"""Checks request bodies against the documented shape, naming every field that breaks it.

A small stand-in for the JSON schema of docs api-reference-v2/openapi.json: enough to refuse what the
service refuses with 422, in its own words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


@dataclass(frozen=True, slots=True)
class Shape:
    """What one value must look like.

    Attributes:
        kind: JSON type name.
        fields: of an object; None allows any member.
        required: names that must be present.
        items: of an array.
        values: of an object with free names (a map).
        low, high: bounds of a number, or of the length of a text or list.
        choices: the closed list of texts.
        pattern: regular expression a text must match.
        nullable: whether null is accepted too.
    """

    kind: str
    fields: Mapping[str, Shape] | None = None
    required: tuple[str, ...] = ()
    items: Shape | None = None
    values: Shape | None = None
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    pattern: str = ""
    nullable: bool = False


TEXT = Shape("string")
NAME = Shape("string", low=1)
TEXTS = Shape("array", items=TEXT)
FLAG = Shape("boolean")
CUDA = Shape("array", items=Shape("string", pattern=r"^\d+\.\d+$"))
CONTAINER: Mapping[str, Shape] = {
    "args": TEXT,
    "disk": Shape("integer", low=1),
    "env": Shape("object", values=TEXT),
    "image": TEXT,
    "ports": TEXTS,
    "registry": Shape("string", nullable=True),
}


@dataclass(slots=True)
class Findings:
    """What is wrong with a body.

    Attributes:
        errors: sentences as the service prints them.
        unknown: the names of fields the documentation does not have.
    """

    errors: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def check(value: Any, shape: Shape) -> Findings:
    """Compare a body with its shape."""
    found = Findings()
    _visit(value, shape, "$", found)
    return found


def _visit(value: Any, shape: Shape, where: str, found: Findings) -> None:
    if value is None and shape.nullable:
        return
    is_bool = isinstance(value, bool)
    if not isinstance(value, _KINDS[shape.kind]) or (is_bool and shape.kind != "boolean"):
        found.errors.append(f"{where}: got {_kind_of(value)}, want {shape.kind}")
    elif isinstance(value, dict):
        _visit_object(value, shape, where, found)
    elif isinstance(value, list):
        _visit_list(value, shape, where, found)
    elif isinstance(value, str):
        _visit_text(value, shape, where, found)
    elif isinstance(value, (int, float)) and not is_bool:
        _check_bounds(value, shape, where, found)


def _visit_object(value: dict[str, Any], shape: Shape, where: str, found: Findings) -> None:
    missing = [name for name in shape.required if name not in value]
    if missing:
        names = ", ".join(f"'{name}'" for name in missing)
        found.errors.append(f"{where}: missing properties {names}")
    for name, member in value.items():
        if shape.values is not None:
            _visit(member, shape.values, f"{where}.{name}", found)
        elif shape.fields is None:
            continue
        elif name in shape.fields:
            _visit(member, shape.fields[name], f"{where}.{name}", found)
        else:
            found.unknown.append(f"{where}.{name}")
            found.errors.append(f"{where}: additional properties '{name}' not allowed")


def _visit_list(value: list[Any], shape: Shape, where: str, found: Findings) -> None:
    _check_bounds(len(value), shape, where, found)
    for index, item in enumerate(value):
        if shape.items is not None:
            _visit(item, shape.items, f"{where}[{index}]", found)


def _visit_text(value: str, shape: Shape, where: str, found: Findings) -> None:
    _check_bounds(len(value), shape, where, found)
    if shape.choices and value not in shape.choices:
        names = ", ".join(f"'{choice}'" for choice in shape.choices)
        found.errors.append(f"{where}: value must be one of {names}")
    if shape.pattern and not re.search(shape.pattern, value):
        found.errors.append(f"{where}: does not match pattern {shape.pattern}")


def _check_bounds(value: float, shape: Shape, where: str, found: Findings) -> None:
    if shape.low is not None and value < shape.low:
        found.errors.append(f"{where}: minimum: got {value}, want {shape.low:g}")
    if shape.high is not None and value > shape.high:
        found.errors.append(f"{where}: maximum: got {value}, want {shape.high:g}")


def _kind_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return next((kind for kind, types in _KINDS.items() if isinstance(value, types)), "value")
