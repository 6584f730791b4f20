"""Settings: environment before file before default, each with its source; keys found, checked and never shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashtui.domain.errors import ConfigError
from flashtui.domain.rules import Rules
from flashtui.settings import SPECS, Settings, is_loopback, vram_headroom
from flashtui.settings.bounds import number

LOOPBACK = {
    "FLASHTUI_VAST_URL": "http://127.0.0.1:9/vast",
    "FLASHTUI_RUNPOD_GRAPHQL_URL": "http://localhost:9/graphql",
    "FLASHTUI_RUNPOD_REST_URL": "http://[::1]:9/v2",
    "FLASHTUI_RUNPOD_JOBS_URL": "http://127.0.0.1:9/jobs",
    "HF_ENDPOINT": "http://127.0.0.1:9/hub",
    "FLASHTUI_CLOCK_URL": "http://127.0.0.1:9/time",
}


class World:
    """A home of its own, and a flashtui directory in it."""

    def __init__(self, root: Path) -> None:
        self.user = root / "user"
        self.home = root / "flashtui"
        self.user.mkdir()
        self.home.mkdir()

    def load(self, **env: str) -> Settings:
        return Settings.load({"HOME": str(self.user), "FLASHTUI_HOME": str(self.home), **env})

    def config(self, text: str | bytes, mode: int = 0o600) -> Path:
        path = self.home / "config.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(mode)
        return path

    def file(self, name: str, text: str) -> Path:
        path = self.user / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def _keys(settings: Settings, provider: str) -> list[str]:
    return [key.reveal() for key in settings.api_keys(provider)]


def test_defaults(world: World) -> None:
    settings = world.load()
    assert (settings.vast_url, settings.hf_endpoint) == (
        "https://console.vast.ai",
        "https://huggingface.co",
    )
    assert settings.runpod_graphql_url == "https://api.runpod.io/graphql"
    assert settings.runpod_rest_url == "https://api.runpod.io/v2"
    assert settings.runpod_jobs_url == "https://api.runpod.ai/v2"
    assert (settings.poll_seconds, settings.vram_headroom) == (45.0, 1.1)
    assert settings.rules == Rules(0.995, 200.0, 60, True, True)
    assert settings.preference == ("runpod", "vast")
    assert not any([settings.skip_net, settings.ascii, settings.no_color, settings.read_only])
    assert not any([settings.mouse, settings.simulated, settings.warnings, settings.theme])
    assert {settings.source(spec.name) for spec in SPECS} == {"default"}


def test_every_setting_of_the_table_is_a_field(world: World) -> None:
    settings = world.load()
    for spec in SPECS:
        owner: object = settings.rules if spec.name.startswith("rules.") else settings
        assert getattr(owner, spec.name.removeprefix("rules.")) == spec.default
        assert spec.doc.endswith(".")


def test_environment_beats_file_beats_default(world: World) -> None:
    world.config('poll_seconds = 60\ntheme = " contrast "\n[vast]\nurl = "https://file.example"\n')
    settings = world.load(FLASHTUI_VAST_URL="https://env.example", FLASHTUI_THEME="")
    assert (settings.vast_url, settings.source("vast_url")) == (
        "https://env.example",
        "FLASHTUI_VAST_URL",
    )
    assert (settings.poll_seconds, settings.source("poll_seconds")) == (60.0, "config.toml")
    assert settings.theme == "contrast"
    assert settings.source("mouse") == "default"


def test_the_whole_file(world: World) -> None:
    world.config(
        'preference = ["Vast", " runpod ", "vast", ""]\nmouse = true\nvram_headroom = 1.25\n'
        "[rules]\nreliability = 0.9\ninet_down_mbps = 50\ndisk_gb = 80\nverified = false\n"
        'datacenter = false\n[plugins.lambda]\napi_key = "lambda-key-000"\nregion = "eu"\n'
    )
    settings = world.load()
    assert settings.preference == ("vast", "runpod")
    assert settings.rules == Rules(0.9, 50.0, 80, False, False)
    assert (settings.mouse, settings.vram_headroom) == (True, 1.25)
    assert settings.plugins == {"lambda": {"region": "eu"}}
    assert _keys(settings, "lambda") == ["lambda-key-000"]


def test_the_command_line_has_the_last_word(world: World) -> None:
    settings = world.load(FLASHTUI_THEME="dark").with_options(theme="light", ascii=None, mouse=True)
    assert (settings.theme, settings.source("theme")) == ("light", "command line")
    assert (settings.mouse, settings.source("ascii")) == (True, "default")


@pytest.mark.parametrize(
    ("raw", "used"),
    [("0", 5.0), ("-5", 5.0), ("0.001", 5.0), ("1e9", 3600.0), ("abc", 45.0), ("nan", 45.0)],
)
def test_a_senseless_interval_is_replaced_and_said(world: World, raw: str, used: float) -> None:
    """C152: never polling without pause."""
    settings = world.load(FLASHTUI_POLL_SECONDS=raw)
    assert settings.poll_seconds == used
    assert len(settings.warnings) == 1
    assert settings.warnings[0].startswith(f"FLASHTUI_POLL_SECONDS='{raw}' is ")
    assert settings.warnings[0].endswith(f"{used:g}")


def test_a_senseless_timeout_and_a_far_rule_are_replaced_too(world: World) -> None:
    world.config("[rules]\nreliability = 2\ndisk_gb = 0\n")
    settings = world.load(FLASHTUI_DB_TIMEOUT="NaN", TZ="Mars/Base")
    assert (settings.db_timeout_s, settings.rules.reliability, settings.rules.disk_gb) == (
        10.0,
        1.0,
        1,
    )
    assert isinstance(settings.rules.disk_gb, int)
    assert len(settings.warnings) == 3


@pytest.mark.parametrize(
    ("raw", "factor"),
    [
        ("1.25", 1.25),
        (" 1.0 ", 1.0),
        ("", 1.1),
        ("abc", 1.1),
        ("0", 1.1),
        ("-2", 1.1),
        ("inf", 1.1),
    ],
)
def test_headroom_of_the_environment(world: World, raw: str, factor: float) -> None:
    assert vram_headroom({"FLASH_VRAM_HEADROOM": raw}) == factor
    settings = world.load(FLASH_VRAM_HEADROOM=raw)
    assert settings.vram_headroom == factor
    assert bool(settings.warnings) is (factor == 1.1 and bool(raw))


def test_headroom_without_an_environment_is_the_process_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FLASH_VRAM_HEADROOM", "1.5")
    assert vram_headroom() == 1.5


@pytest.mark.parametrize("raw", [True, None, [1], "1e999", 10**400])
def test_what_is_no_number_is_none(raw: object) -> None:
    assert number(raw) is None


@given(st.text())
def test_any_headroom_text_is_a_usable_factor(raw: str) -> None:
    assert 0 < vram_headroom({"FLASH_VRAM_HEADROOM": raw}) <= 10


@pytest.mark.parametrize(
    ("raw", "on", "warned"),
    [("1", True, 0), ("TRUE", True, 0), ("0", False, 0), ("off", False, 0), ("oui", True, 1)],
)
def test_switches_in_the_environment(world: World, raw: str, on: bool, warned: int) -> None:
    settings = world.load(FLASHTUI_READ_ONLY=raw)
    assert (settings.read_only, len(settings.warnings)) == (on, warned)


def test_no_color_is_on_with_any_value(world: World) -> None:
    assert world.load(NO_COLOR="0").no_color
    assert not world.load(NO_COLOR="").no_color


def test_skip_net_is_on_with_anything(world: World) -> None:
    assert world.load(FLASH_SKIP_NET="0").skip_net


def test_one_directory_for_everything(world: World) -> None:
    settings = world.load()
    assert settings.home == settings.state_dir == world.home
    assert settings.config_file == world.home / "config.toml"
    assert settings.db_file == world.home / "flashtui.db"
    assert settings.log_file == world.home / "flashtui.log"
    assert Settings.load({}, home=world.home).home == world.home


def test_the_platforms_directories_otherwise() -> None:
    settings = Settings.load({})
    for path in (settings.config_file, settings.db_file, settings.log_file):
        assert path.is_absolute()
        assert "flashtui" in path.parts


def test_a_simulators_clock_counts_only_while_nothing_real_can_be_reached(world: World) -> None:
    assert world.load(**LOOPBACK).clock_url == LOOPBACK["FLASHTUI_CLOCK_URL"]
    assert world.load(**LOOPBACK).simulated
    for name in LOOPBACK:
        settings = world.load(**{**LOOPBACK, name: "https://real.example"})
        assert settings.clock_url is None
        assert settings.warnings[0].startswith("FLASHTUI_CLOCK_URL is ignored: not on loopback")


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:8080/x", True),
        ("http://127.9.9.9", True),
        ("http://localhost", True),
        ("http://[::1]/", True),
        ("http://localhost.example", False),
        ("http://10.0.0.1", False),
        ("http://[::1", False),
        ("127.0.0.1", False),
        ("", False),
    ],
)
def test_loopback(url: str, local: bool) -> None:
    assert is_loopback(url) is local


# --- config.toml ---------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n", "\ufeffmouse = true\r\n"])
def test_an_empty_or_windows_file_works(world: World, text: str) -> None:
    world.config(text)
    assert world.load().mouse is ("mouse" in text)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ('[runpod]\napi_key = "rpa_TESTK', "line 2, column 21", "Unterminated string"),
        (b"\x00\x01", "line 1, column 1", "Invalid statement"),
        (b"mouse = true\n\xff\xfe", "line 2", "not UTF-8"),
        ("runpod = [1, 2]", "line 1", "runpod must be a table ([runpod]), not a list"),
        ("plugins = 1", "line 1", "plugins must hold tables"),
        ("[plugins]\nlambda = 1", "line 2", "plugins.lambda must be a table, not a number"),
        ("\npoll = 3", "line 2", "poll is not a known setting"),
        ("[vast]\nurl = 3", "line 2", "vast.url must be a text, not a number"),
        ("mouse = 1", "line 1", "mouse must be true or false, not a number"),
        ("poll_seconds = true", "line 1", "poll_seconds must be a number, not true or false"),
        ("preference = [1]", "line 1", "preference must be a list of texts, not a list"),
        ("theme = 1979-05-27", "line 1", "theme must be a text, not a date or time"),
        ("[theme]", "line 1", "theme must be a text, not a table"),
    ],
)
def test_a_broken_file_is_refused_with_its_place_and_left_alone(
    world: World, text: str | bytes, place: str, words: str
) -> None:
    """C149."""
    path = world.config(text)
    before = path.read_bytes()
    with pytest.raises(ConfigError) as caught:
        world.load()
    assert str(caught.value).startswith(f"{path} {place}: ")
    assert words in str(caught.value)
    assert "TESTK" not in str(caught.value)
    assert path.read_bytes() == before


def test_all_unknown_keys_are_named_at_once(world: World) -> None:
    world.config("[vast]\nkey = 1\n[rules]\nspeed = 2\n")
    with pytest.raises(ConfigError, match=r"vast\.key[^\n]*\n[^\n]*rules\.speed"):
        world.load()


def test_a_file_that_cannot_be_read_says_why(world: World) -> None:
    (world.home / "config.toml").mkdir()
    with pytest.raises(ConfigError, match=r"config\.toml cannot be read: Is a directory"):
        world.load()


# --- keys ----------------------------------------------------------------------------------------


def test_keys_of_the_environment_come_first_and_are_trimmed(world: World) -> None:
    """C150."""
    world.config('[vast]\napi_key = "from-the-file"\n')
    settings = world.load(VAST_API_KEY="vast-test-key-000\n", RUNPOD_API_KEY=" rpa_TESTKEY000 ")
    assert _keys(settings, "vast") == ["vast-test-key-000"]
    assert _keys(settings, "runpod") == ["rpa_TESTKEY000"]
    assert settings.key_source("vast") == "VAST_API_KEY"


@pytest.mark.parametrize("empty", ["", "   ", "\n", ",", " , "])
def test_an_empty_key_is_no_key(world: World, empty: str) -> None:
    settings = world.load(RUNPOD_API_KEY=empty)
    assert settings.api_keys("runpod") == ()
    assert (settings.key_source("runpod"), settings.key_problem("runpod")) == ("", "")


def test_runpods_variable_may_be_a_list(world: World) -> None:
    settings = world.load(RUNPOD_API_KEY="rpa_first, rpa_second,,rpa_first")
    assert _keys(settings, "runpod") == ["rpa_first", "rpa_second"]
    assert _keys(world.load(VAST_API_KEY="a,b"), "vast") == ["a,b"]


@pytest.mark.parametrize(
    ("raw", "ending"),
    [
        ("rpa_TEST\u2014KEY000", " (it ends in ...Y000)"),
        ("rpa_TEST KEY000", " (it ends in ...Y000)"),
        ("\u2014key", ""),
        ("rpa_TESTKEY00\u2014", ""),
    ],
)
def test_a_key_that_cannot_be_one_is_reported_without_being_shown(
    world: World, raw: str, ending: str
) -> None:
    settings = world.load(RUNPOD_API_KEY=raw)
    assert settings.api_keys("runpod") == ()
    assert settings.key_problem("runpod") == (
        f"the key from RUNPOD_API_KEY{ending} has a character that is not allowed in a key"
    )


def test_a_key_in_the_file_needs_a_private_file(world: World) -> None:
    world.config('[vast]\napi_key = "vast-test-key-000"\n[hf]\ntoken = "hf_x"\n', 0o640)
    settings = world.load()
    assert settings.api_keys("vast") == ()
    assert "chmod 600" in settings.key_problem("vast")
    world.config('[vast]\napi_key = "vast-test-key-000"\n[hf]\ntoken = "hf_x"\n')
    settings = world.load()
    assert _keys(settings, "vast") == ["vast-test-key-000"]
    assert settings.key_source("vast") == "config.toml"
    token = settings.hf_token()
    assert token is not None
    assert token.reveal() == "hf_x"


@pytest.mark.parametrize(
    ("provider", "name", "text", "key"),
    [
        ("vast", ".config/vastai/vast_api_key", "v-key\n", "v-key"),
        ("vast", ".config/vastai/vast_tfa_key", "t-key\n", "t-key"),
        ("vast", ".vast_api_key", "old-key", "old-key"),
        ("runpod", ".runpod/config.toml", '[default]\napi_key = "r-key"\n', "r-key"),
        ("runpod", ".runpod/config.toml", 'apikey = "r-ctl"\n', "r-ctl"),
        ("runpod", ".runpod/config.toml", 'default = 1\napiKey = "r-old"\n', "r-old"),
        ("hf", ".cache/huggingface/token", "hf_tok\n", "hf_tok"),
    ],
)
def test_the_official_tools_files_are_read(
    world: World, provider: str, name: str, text: str, key: str
) -> None:
    path = world.file(name, text)
    settings = world.load()
    assert _keys(settings, provider) == [key]
    assert settings.key_source(provider) == str(path)
    assert world.load(**LOOPBACK).api_keys(provider) == (), "a simulated session uses no real key"


def test_the_official_files_follow_the_tools_own_variables(world: World) -> None:
    world.file("xdg/vastai/vast_api_key", "x-key")
    world.file("hfhome/token", "hf_home")
    world.file("tokenfile", "hf_path")
    user = str(world.user)
    settings = world.load(XDG_CONFIG_HOME=f"{user}/xdg", HF_HOME=f"{user}/hfhome")
    assert (_keys(settings, "vast"), _keys(settings, "hf")) == (["x-key"], ["hf_home"])
    assert _keys(world.load(HF_TOKEN_PATH=f"{user}/tokenfile"), "hf") == ["hf_path"]


@pytest.mark.parametrize("text", ["not = toml = at all", "default = 1", "[default]\napi_key = 3"])
def test_an_official_file_without_a_key_gives_none(world: World, text: str) -> None:
    world.file(".runpod/config.toml", text)
    world.file(".vast_api_key", "x" * 70_000)
    settings = world.load()
    assert settings.api_keys("runpod") == settings.api_keys("vast") == ()


def test_without_a_home_no_file_is_looked_for(world: World) -> None:
    settings = Settings.load({"FLASHTUI_HOME": str(world.home)})
    assert [settings.api_keys(name) for name in ("vast", "runpod", "hf")] == [(), (), ()]
    assert settings.hf_token() is None


def test_another_providers_key_has_its_variable(world: World) -> None:
    assert _keys(world.load(LAMBDA_CLOUD_API_KEY="k"), "lambda-cloud") == ["k"]


def test_no_key_is_ever_shown(world: World) -> None:
    world.config('[vast]\napi_key = "CANARY-file"\n[plugins.lambda]\napi_key = "CANARY-plugin"\n')
    settings = world.load(RUNPOD_API_KEY="CANARY-env", HF_TOKEN="CANARY-token")
    shown: list[Any] = [repr(settings), str(settings), settings.plugins, settings.sources]
    shown += [settings.api_keys("vast"), settings.hf_token(), settings.warnings]
    assert "CANARY" not in repr(shown)
