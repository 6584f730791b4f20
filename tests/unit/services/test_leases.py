"""Whether the holder of a lease is alive."""

from __future__ import annotations

import os
import platform
import random
import subprocess
import sys

import pytest

from flashtui.services.leases import is_gone, new_owner

HOST = platform.node()


def test_this_process_is_alive_and_its_sessions_differ() -> None:
    rng = random.Random(1)
    first, second = new_owner(rng), new_owner(rng)
    assert first != second
    assert not is_gone(first)


def test_a_process_that_has_ended_is_gone() -> None:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    assert is_gone(f"{done.pid}:{HOST}:x")


def test_of_another_host_nobody_knows() -> None:
    assert not is_gone("4000000:elsewhere:x")


def test_a_process_of_another_user_is_alive() -> None:
    assert not is_gone(f"1:{HOST}:x")


def test_a_number_that_no_process_can_have_is_not_judged() -> None:
    assert not is_gone(f"{10**30}:{HOST}:x")


@pytest.mark.parametrize("owner", ["", "x", "x:y:z", f"{os.getpid()}"])
def test_a_name_of_no_session_holds_nothing(owner: str) -> None:
    assert is_gone(owner)
