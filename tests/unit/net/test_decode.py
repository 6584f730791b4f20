"""Any bytes become a JSON value or one typed error."""

from __future__ import annotations

import contextlib
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashtui.domain.errors import MalformedReply
from flashtui.net.decode import json_body, json_object, malformed, snippet
from flashtui.net.exchange import Reply
from tests.fakes import T0


def reply(body: bytes, status: int = 200) -> Reply:
    return Reply(status, body, {}, T0)


def test_prices_keep_every_digit() -> None:
    assert json_object(reply(b'{"dph": 0.3412345}'), "vast", "x") == {"dph": Decimal("0.3412345")}


def test_nan_and_infinity_are_unknown() -> None:
    assert json_body(reply(b"[NaN, Infinity, -Infinity]"), "vast", "x") == [None, None, None]


def test_control_characters_inside_texts_are_let_through() -> None:
    assert json_body(reply(b'{"msg": "a\x01\nb"}'), "vast", "x") == {"msg": "a\x01\nb"}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"<!DOCTYPE html><title>Login</title>", "web page"),
        (b"<html>x", "web page"),
        (b'{"a": 1', "not whole"),
        (b'{"a": 1}garbage', "not whole"),
        (b"API requests too frequent", "not whole"),
        (b"[" * 100_000, "not whole"),
        (b"9" * 5000, "not whole"),
        (b"\xff\xfe{", "not whole"),
    ],
)
def test_what_is_not_json_is_said_in_words(body: bytes, words: str) -> None:
    with pytest.raises(MalformedReply, match=words):
        json_body(reply(body), "vast", "search offers")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"[]", "list"),
        (b'"x"', "text"),
        (b"1.5", "number"),
        (b"null", "null"),
        (b"true", "true or"),
    ],
)
def test_another_kind_of_value_is_not_an_object(body: bytes, kind: str) -> None:
    with pytest.raises(MalformedReply, match=kind):
        json_object(reply(body), "vast", "search offers")


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(body: bytes) -> None:
    with contextlib.suppress(MalformedReply):
        json_body(reply(body), "vast", "x")


def test_an_error_never_quotes_a_success() -> None:
    """A listing holds tokens and start scripts; cut off, it must not be quoted."""
    body = b'{"instances": [{"jupyter_token": "jt_FAKE'
    with pytest.raises(MalformedReply) as caught:
        json_body(reply(body), "vast", "list instances")
    assert "jt_FAKE" not in str(caught.value)
    assert snippet(reply(body)) == ""
    assert "jt_FAKE" not in str(malformed(reply(body), "odd", "vast", "x"))


def test_a_snippet_of_an_error_is_one_short_clean_line() -> None:
    assert snippet(reply(b"oops\x1b[31m\r\nred", 500)) == "oops red"
    assert len(snippet(reply(b"x" * 10_000, 500))) <= 200
    assert snippet(reply(b"<html><title>502 Bad Gateway</title><p>long", 502)) == "502 Bad Gateway"
