"""The click group: which commands exist, how they are loaded, and how errors end."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flashtui import __version__
from flashtui.cli.exit_codes import ExitCode
from flashtui.domain.errors import ConfigError, FlashtuiError, ProviderError, StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

# Name -> (module, one line for --help). The modules are imported only when their command runs or prints its own help.
COMMANDS: dict[str, tuple[str, str]] = {
    "prices": (
        "prices",
        "Live price and availability, one row per provider, product and GPU class.",
    ),
    "offers": ("offers", "Single market offers, with the reasons why one is not usable."),
    "allocate": ("allocate", "What a job would get, at what price, and why not the others."),
    "runs": ("runs", "What is rented now and what it costs, from the store."),
    "show": ("show", "One run with every resource it ever rented."),
    "status": ("status", "One line from the store alone: burn, runs, alarms."),
    "cancel": ("cancel", "Stop the work of a run; what is rented bills on until it is destroyed."),
    "destroy": ("destroy", "Tear down what bills, and prove it gone."),
    "import": ("import_", "Load flashtui.runs/1 items into the store."),
    "doctor": ("doctor", "What is configured, reachable and wrong, in sentences."),
    "sim": ("sim", "The simulator alone, on loopback."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported on use: start-up time is a feature."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Commands in the order of the table, which is the order people need them in."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command's module."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"flashtui.cli.commands.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "--version", "-V", message="flashtui %(version)s")
@click.option(
    "--demo",
    is_flag=True,
    help="Simulated market and machines; no key, no network, nothing is billed.",
)
@click.option("--read-only", is_flag=True, help="Show only; cancel and destroy are switched off.")
@click.option("--once", is_flag=True, help="Print one frame of the tables as text and exit.")
@click.option("--theme", metavar="NAME", help="Colour theme of the dashboard.")
@click.option("--mouse", is_flag=True, help="Let the dashboard use the mouse.")
@click.option("--ascii", "ascii_only", is_flag=True, help="Draw with ASCII characters only.")
@click.option(
    "--speed",
    type=click.FloatRange(0.0, 3600.0),
    default=1.0,
    help="With --demo: simulated seconds per second.",
)
@click.option("--seed", type=int, default=7, help="With --demo: which simulated market.")
@click.pass_context
def cli(ctx: click.Context, /, **options: Any) -> None:
    """Live prices of rented GPUs, what a job would get, and what is rented now.

    Without a command it opens the dashboard.
    """
    ctx.obj = options
    if ctx.invoked_subcommand is None:
        from flashtui.cli.commands.dashboard import dashboard

        ctx.exit(dashboard(**options))


def run(argv: Sequence[str]) -> int:
    """Parse and run; every outcome is an exit code and, when it is an error, a sentence on stderr."""
    try:
        result = cli.main(args=list(argv), prog_name="flashtui", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message())
        return ExitCode.USAGE
    except click.ClickException as error:
        error.show(file=sys.stderr)
        answer_in_json(argv, "usage", error.format_message())
        return ExitCode.USAGE
    except (click.Abort, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        return 128 + 2
    except BrokenPipeError:
        # The reader of a pipe (head, less) has left; that is not an error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.OK
    except FlashtuiError as error:
        print(f"flashtui: {error}", file=sys.stderr)
        answer_in_json(argv, kind_of(error), str(error))
        return exit_code_of(error)
    except Exception as error:  # noqa: BLE001 - the outermost edge: a sentence and a report, never a traceback
        return crash(error)
    return int(result or 0)


def answer_in_json(argv: Sequence[str], kind: str, message: str) -> None:
    """With ``--json`` every exit prints the document: here one without items, that says what is wrong."""
    schema = next((_SCHEMAS.get(word, word) for word in argv if word in COMMANDS), None)
    if schema is None or "--json" not in argv:
        return
    from flashtui.cli.documents import document
    from flashtui.cli.output import print_json
    from flashtui.net.clocks import SystemClock

    print_json(
        document(
            schema, SystemClock().now(), [], [{"provider": None, "kind": kind, "message": message}]
        )
    )


_SCHEMAS = {"cancel": "result", "destroy": "result"}


def kind_of(error: FlashtuiError) -> str:
    """The ``kind`` of an expected error in JSON."""
    if isinstance(error, ProviderError):
        return error.kind
    return "store" if isinstance(error, StoreError) else "configuration"


def exit_code_of(error: FlashtuiError) -> int:
    """Which exit code an expected error ends with."""
    if isinstance(error, StoreError):
        return ExitCode.STORE
    if isinstance(error, ProviderError):
        return ExitCode.UNREACHABLE
    return ExitCode.USAGE if isinstance(error, ConfigError) else ExitCode.NO


def crash(error: Exception) -> int:
    """Say that a fault of ours ended the command, without locals and without a message that may carry secrets."""
    place = _innermost(error)
    print(
        f"flashtui: internal error ({type(error).__name__} in {place}); this is a fault of flashtui, please report it",
        file=sys.stderr,
    )
    return 70


def _innermost(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "unknown place"
    return f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
