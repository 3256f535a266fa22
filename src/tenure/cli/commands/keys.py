"""`tenure keys`: API keys and login links. A key is shown once, when it is created."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

import typer

from tenure.access.caller import Caller, How, Permission
from tenure.access.keys import ApiKey, Keys, check_whose
from tenure.access.links import LOOPBACK, login_link
from tenure.access.tickets import LOGIN_LINKS, SESSIONS, Tickets
from tenure.cli.commands.job_moves import actor, noted
from tenure.cli.kit.camel_case import camel
from tenure.cli.kit.durations import ago
from tenure.cli.kit.engines import open_existing
from tenure.cli.kit.job_json import items
from tenure.cli.kit.options import AsJson, Database, Owner, Tenant
from tenure.cli.kit.output import note, show_json, show_table
from tenure.cli.kit.values import duration
from tenure.jobs.options import check_name

keys = typer.Typer(help="Create, list and revoke API keys; create single-use login links.")
COLUMNS = ("id", "name", "permission", "tenant", "owner", "created", "by", "expires")
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of the user or program: ci, grafana.")
]
KeyId = Annotated[str, typer.Argument(metavar="ID", help="Id of the key; see tenure keys list.")]
May = Annotated[
    Permission, typer.Option("--permission", help="write includes read; admin includes write.")
]
Expires = Annotated[
    timedelta | None,
    typer.Option(
        "--expires",
        metavar="DURATION",
        parser=duration,
        help="Lifetime: 90d, 12h. Without it the key does not expire.",
    ),
]
Base = Annotated[str, typer.Option("--base-url", metavar="URL", help="Public address of the API.")]


@keys.callback(invoke_without_command=True)
def root(context: typer.Context, database: Database = None, as_json: AsJson = False) -> None:
    """List the keys if no subcommand is given."""
    if context.invoked_subcommand is None:
        show(database, as_json=as_json)


@keys.command("create")
def create(
    name: Name,
    permission: May = Permission.READ,
    tenant: Tenant = None,
    owner: Owner = None,
    expires: Expires = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Create a key and print it once. Without --tenant it is valid for every tenant."""
    seconds = None if expires is None else expires.total_seconds()
    text, key = Keys(open_existing(database)).create(
        name, permission, actor=actor(), tenant=tenant, owner=owner, seconds=seconds
    )
    if as_json:
        show_json({**_shape(key), "key": text})
        return
    typer.echo(text)
    note(
        f"key {key.id}: {permission} permission {_whose(key)}; store it now, it is not shown again"
    )


@keys.command("list")
def show(database: Database = None, as_json: AsJson = False) -> None:
    """List the keys. The secrets are not stored, so they cannot be shown."""
    engine = open_existing(database)
    found = list(Keys(engine).list())
    if as_json:
        show_json(items(_shape(key) for key in found))
        return
    if not found:
        typer.echo("there are no keys; create one: tenure keys create NAME")
        return
    now = engine.store.now()
    show_table(
        COLUMNS,
        [
            (key.id, key.name, key.permission, "all" if key.tenant is None else key.tenant,
             key.owner, ago(key.created_at, now), key.created_by, ago(key.expires_at, now))
            for key in found
        ],
    )  # fmt: skip


@keys.command("revoke")
def revoke(key_id: KeyId, database: Database = None, as_json: AsJson = False) -> None:
    """Revoke a key. A running API rejects it within seconds."""
    Keys(open_existing(database)).revoke(key_id, actor=actor())
    if as_json:
        show_json({"keyId": key_id, "revoked": True})
    else:
        typer.echo(f"key {key_id} is revoked")


@keys.command("link")
def link(
    name: Name,
    permission: May = Permission.READ,
    tenant: Tenant = None,
    owner: Owner = None,
    base_url: Base = LOOPBACK,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Create a single-use link that logs a person in to the dashboard."""
    # Keys.create checks these for a key; a link has to be checked here.
    check_name("key_name", name)
    check_whose(tenant, owner)
    caller = Caller(
        name=f"session:{name}",
        how=How.SESSION,
        tenant=tenant,
        owner=owner,
        permissions=permission.held,
        site=tenant is None,
    )
    made = login_link(open_existing(database), base_url, caller=caller, actor=actor())
    if as_json:
        show_json({"link": made})
    else:
        typer.echo(made)


@keys.command("end-sessions")
def end_sessions(database: Database = None, as_json: AsJson = False) -> None:
    """End all dashboard sessions and unused login links. Takes effect within seconds."""
    engine = open_existing(database)
    ended = Tickets(engine, SESSIONS).end_all() + Tickets(engine, LOGIN_LINKS).end_all()
    noted(engine, "sessions.ended", "", ended=ended)
    if as_json:
        show_json({"ended": ended})
    else:
        typer.echo(f"{ended:,} sessions and unused links ended")


def _shape(key: ApiKey) -> dict[str, Any]:
    shape: dict[str, Any] = camel(key)
    return {"keyId": shape.pop("id"), **shape}


def _whose(key: ApiKey) -> str:
    if key.tenant is None:
        return "for every tenant"
    return f"for tenant {key.tenant!r}" + ("" if key.owner is None else f" and owner {key.owner!r}")
