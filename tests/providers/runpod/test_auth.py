"""Keys: which one is asked for what, and what is learnt about them."""

from __future__ import annotations

import pytest

from flashtui.domain.errors import AuthRejected, ScopeRejected
from flashtui.domain.secret import Secret
from flashtui.providers.runpod.auth import FINGERPRINT, Access, KeyRing

A, B = Secret("rpa_TESTKEYA000"), Secret("rpa_TESTKEYB000")


def test_the_first_key_is_for_prices_and_account() -> None:
    assert KeyRing([A, B]).first.secret == A


def test_no_key_is_an_error_that_says_so() -> None:
    with pytest.raises(AuthRejected, match="RUNPOD_API_KEY") as caught:
        _ = KeyRing([]).first
    assert caught.value.kind == "no_key"
    assert not KeyRing([])


def test_a_resource_is_asked_for_with_its_owners_key_only() -> None:
    ring = KeyRing([A, B])
    data = {FINGERPRINT: B.fingerprint()}
    assert [key.secret for key in ring.for_resource(data, "e1")] == [B]


def test_without_an_owner_every_key_is_asked() -> None:
    assert [key.secret for key in KeyRing([A, B]).for_resource({}, "e1")] == [A, B]


def test_a_key_that_showed_a_resource_is_taken_for_its_owner() -> None:
    ring = KeyRing([A, B])
    ring.saw(ring.keys[1], ["e1"])
    ring.saw(ring.keys[0], ["e1"])
    assert [key.secret for key in ring.for_resource({}, "e1")] == [B]


def test_a_resource_of_a_key_that_is_not_set_any_more_is_named() -> None:
    ring = KeyRing([A])
    with pytest.raises(AuthRejected, match="e1 belongs to an API key") as caught:
        ring.for_resource({FINGERPRINT: B.fingerprint()}, "e1")
    assert B.reveal() not in str(caught.value)


def test_what_a_key_may_do_is_learnt_from_answers() -> None:
    ring = KeyRing([A])
    key = ring.first
    assert ring.access(key) is Access.UNKNOWN
    ring.worked(key, writing=False)
    assert ring.access(key) is Access.UNKNOWN
    ring.refused(key, ScopeRejected("no"), writing=False)
    assert ring.access(key) is Access.UNKNOWN
    ring.refused(key, ScopeRejected("no"), writing=True)
    assert ring.access(key) is Access.READ
    ring.worked(key, writing=True)
    assert ring.access(key) is Access.WRITE
    ring.refused(key, AuthRejected("no"), writing=False)
    assert ring.access(key) is Access.BAD
    ring.worked(key, writing=False)
    assert ring.access(key) is Access.UNKNOWN


def test_keys_are_told_apart_by_their_tails_only_where_there_are_several() -> None:
    assert KeyRing([A]).named(KeyRing([A]).first) == ""
    ring = KeyRing([A, B])
    assert ring.named(ring.keys[1]) == " ...B000"


def test_a_short_key_is_named_without_showing_it() -> None:
    ring = KeyRing([Secret("short"), B])
    assert "short" not in ring.keys[0].name
