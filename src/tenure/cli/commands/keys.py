"""`tenure keys`: who may use the API. A key is shown once, when it is made."""

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

keys = typer.Typer(help="Make, list and revoke API keys; make one-time links to the dashboard.")
COLUMNS = ("id", "name", "permission", "tenant", "owner", "created", "by", "expires")
Name = Annotated[str, typer.Argument(metavar="NAME", help="Who or what will use it: ci, grafana.")]
KeyId = Annotated[str, typer.Argument(metavar="ID", help="The key's id, as the list shows it.")]
May = Annotated[Permission, typer.Option("--permission", help="Each includes those before it.")]
Expires = Annotated[
    timedelta | None,
    typer.Option("--expires", metavar="DURATION", parser=duration, help="Good for so long: 90d."),
]
Base = Annotated[str, typer.Option("--base-url", metavar="URL", help="Where people reach the API.")]


@keys.callback(invoke_without_command=True)
def root(context: typer.Context, database: Database = None, as_json: AsJson = False) -> None:
    """Without a command: the list."""
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
    """Make a key and print it: this once. Without --tenant it is good for every tenant."""
    seconds = None if expires is None else expires.total_seconds()
    text, key = Keys(open_existing(database)).create(
        name, permission, actor=actor(), tenant=tenant, owner=owner, seconds=seconds
    )
    if as_json:
        show_json({**_shape(key), "key": text})
        return
    typer.echo(text)
    note(f"key {key.id} may {permission} {_whose(key)}; keep it well: it is not shown again")


@keys.command("list")
def show(database: Database = None, as_json: AsJson = False) -> None:
    """The keys there are; not the secrets, which nobody has."""
    engine = open_existing(database)
    found = list(Keys(engine).list())
    if as_json:
        show_json(items(_shape(key) for key in found))
        return
    if not found:
        typer.echo("there are no keys; tenure keys create NAME makes one")
        return
    now = engine.store.now()
    show_table(
        COLUMNS,
        [
            (key.id, key.name, key.permission, "every one" if key.tenant is None else key.tenant,
             key.owner, ago(key.created_at, now), key.created_by, ago(key.expires_at, now))
            for key in found
        ],
    )  # fmt: skip


@keys.command("revoke")
def revoke(key_id: KeyId, database: Database = None, as_json: AsJson = False) -> None:
    """Good for nothing from now on; a running API notices within seconds."""
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
    """A one-time link that opens a session of the dashboard for somebody."""
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
    """Everybody at the dashboard has to log in again; a running API notices within seconds."""
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
