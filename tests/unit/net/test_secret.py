"""Nothing secret in any text."""

from __future__ import annotations

import io
import logging

import pytest

from flashtui.net.secret import RedactingFilter, Redactor, Secret

KEY = "canary/key+0123456789"


@pytest.fixture
def redactor() -> Redactor:
    it = Redactor()
    it.register(Secret(KEY))
    return it


@pytest.mark.parametrize(
    "text",
    [
        f"key is {KEY}.",
        "…?api_key=canary%2Fkey%2B0123456789&x",
        "…?api_key=canary/key%2B0123456789",
        "rpa_TESTKEY000 went wrong",
        "hf_FAKETOKEN000",
        "Authorization: Bearer something-else-entirely",
        '{"jupyter_token": "jt_FAKE0123"}',
        '{"instance_api_key":"0123abcd"}',
        "image_login='-u me -p hunter2 host'",
        "http://user:hunter2@proxy:3128",
    ],
)
def test_registered_values_and_known_shapes_go(redactor: Redactor, text: str) -> None:
    cleaned = redactor.clean(text)
    assert "[redacted]" in cleaned
    for secret in ("canary", "TESTKEY", "FAKE", "something-else", "0123abcd", "hunter2"):
        assert secret not in cleaned


def test_ordinary_text_stays(redactor: Redactor) -> None:
    text = "vast: destroy of 4242 not confirmed; https://host.example/a:b@c"
    assert redactor.clean(text) == text


def test_a_very_short_value_does_not_black_out_words(redactor: Redactor) -> None:
    redactor.register("a")
    assert redactor.clean("a machine") == "a machine"


def test_the_longer_of_two_overlapping_keys_goes_first(redactor: Redactor) -> None:
    redactor.register("abcdef")
    redactor.register("abcdef-and-more")
    assert redactor.clean("<abcdef-and-more>") == "<[redacted]>"


def test_log_records_are_redacted_with_their_traceback(redactor: Redactor) -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(RedactingFilter(redactor))
    log = logging.getLogger("tests.redaction")
    log.propagate = False
    log.addHandler(handler)
    try:
        raise ValueError(KEY)  # noqa: TRY301
    except ValueError:
        log.exception("failed with %s", KEY, stack_info=True)
    assert "failed with [redacted]" in stream.getvalue()
    assert "ValueError: [redacted]" in stream.getvalue()
    assert KEY not in stream.getvalue()
