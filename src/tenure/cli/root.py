"""The tree of commands."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import metadata
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from tenure.cli.commands.api import api
from tenure.cli.commands.audit import audit
from tenure.cli.commands.enqueue import enqueue
from tenure.cli.commands.errors import errors
from tenure.cli.commands.jobs import jobs
from tenure.cli.commands.keys import keys
from tenure.cli.commands.kinds import kinds
from tenure.cli.commands.limits import limits
from tenure.cli.commands.migrate import migrate
from tenure.cli.commands.queues import queues
from tenure.cli.commands.stats import stats
from tenure.cli.commands.tenants import tenants
from tenure.cli.commands.tick import tick
from tenure.cli.commands.worker import worker
from tenure.cli.commands.workers import workers
from tenure.cli.doctor.command import doctor
from tenure.cli.feature_commands import feature_commands, feature_problems
from tenure.cli.kit import errors as exits
from tenure.cli.kit.app_option import remembering_app, with_app_option
from tenure.cli.kit.engines import closing_engines
from tenure.cli.up.command import up


class Commands(TyperGroup):
    """The engine's commands and those of installed features.

    Ends every command alike: an error is one line and an exit code.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """Ours in their order, then those of features."""
        own = super().list_commands(ctx)
        return own + [name for name in feature_commands() if name not in own]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Ours first: they work without any feature, and a feature cannot replace them."""
        found = super().get_command(ctx, cmd_name) or feature_commands().get(cmd_name)
        return with_app_option(found)

    def main(self, args: Sequence[str] | None = None, *given: Any, **extra: Any) -> Any:
        """See `tenure.cli.kit.errors`."""
        extra["standalone_mode"] = False
        with closing_engines(), remembering_app():
            code = exits.run(
                lambda: super(Commands, self).main(args, *given, **extra), feature_problems
            )
        sys.exit(code)


app = typer.Typer(
    cls=Commands,
    name="tenure",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"tenure {metadata.version('tenure')}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version."),
]


@app.callback(
    invoke_without_command=True,
    help=f"Durable work on the database you already have.\n\n{exits.EXIT_CODES}",
)
def root(context: typer.Context, version: Version = False) -> None:
    """Without a command: the help."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


for command in (
    up, worker, api, enqueue, tick, migrate, doctor, audit, stats, errors, kinds,
):  # fmt: skip
    app.command(command.__name__)(command)
app.add_typer(jobs, name="jobs")
app.add_typer(queues, name="queues")
app.add_typer(workers, name="workers")
app.add_typer(tenants, name="tenants")
app.add_typer(limits, name="limits")
app.add_typer(keys, name="keys")
