"""`tenure api`: serve the HTTP API until a signal stops it. `tenure worker` runs the jobs."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tenure.app import Tenure
from tenure.cli.commands.worker import apart, check_store
from tenure.cli.kit import errors
from tenure.cli.kit.apps import load_app
from tenure.cli.kit.engines import open_engine
from tenure.cli.kit.listening_socket import base_url, bound
from tenure.cli.kit.log_output import watching
from tenure.cli.kit.options import Database
from tenure.core.errors import OptionError

if TYPE_CHECKING:
    from tenure.api.settings import ApiSettings

AppToServe = Annotated[
    str | None,
    typer.Option("--app", metavar="MODULE:OBJECT",
                 help="App to serve. Checks the payloads of its kinds; /internal/tick runs it."),
]  # fmt: skip
Host = Annotated[
    str | None,
    typer.Option(
        "--host", metavar="ADDRESS", help="Address to listen on.", show_default="127.0.0.1"
    ),
]
Port = Annotated[
    int | None,
    typer.Option(
        "--port",
        metavar="N",
        min=0,
        max=65_535,
        show_default="8000",
        help="Port to listen on. 0 picks a free port.",
    ),
]
Workers = Annotated[
    int, typer.Option("--workers", metavar="N", min=1, max=512, help="Number of server processes.")
]
ShowDocument = Annotated[
    bool, typer.Option("--openapi", help="Print the OpenAPI document and exit.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Which app to serve, and on which address."""

    app: str | None
    database: str | None
    settings: ApiSettings


def api(
    app: AppToServe = None,
    database: Database = None,
    host: Host = None,
    port: Port = None,
    workers: Workers = 1,
    openapi: ShowDocument = False,
) -> None:
    """Serve the HTTP API until SIGTERM or SIGINT."""
    check_installed()
    if openapi:
        typer.echo(_document(), nl=False)
        return
    order = Order(app=app, database=database, settings=settings_of(host=host, port=port))
    if code := apart(lambda: _prepare(order)):  # open nothing before the fork
        raise typer.Exit(code)
    with bound(order.settings.host, order.settings.port) as listener:
        address = base_url(listener)
        typer.echo(
            f"serving {address} (pid {os.getpid()}); API description: {address}/openapi.json"
        )
        raise typer.Exit(_serve_all(order, listener, workers))


def _serve_all(order: Order, listener: socket.socket, workers: int) -> int:
    if workers == 1:
        _serve(order, listener)
        return errors.FINE
    from tenure.worker.supervisor import supervise

    return supervise(lambda _: errors.run(lambda: _serve(order, listener)), workers)


def _serve(order: Order, listener: socket.socket) -> None:
    from tenure.api import create_api
    from tenure.api.server import Server
    from tenure.dashboard import install_page

    engine = _prepare(order)
    with watching(engine):
        made = create_api(engine, settings=order.settings)
        install_page(made)
        Server(made, log_config=None, access_log=False).run(sockets=[listener])


def _prepare(order: Order) -> Tenure:
    """The engine. Fails if the schema is out of date or the address is open to strangers."""
    from tenure.api.kit.identity import check_binding

    engine = load_app(order.app, order.database) if order.app else open_engine(order.database)
    check_store(engine)
    check_binding(order.settings.host, engine)
    return engine


def settings_of(**given: Any) -> ApiSettings:
    """Settings from the environment; options of the command line take precedence."""
    from tenure.api.settings import ApiSettings

    return ApiSettings(**{name: value for name, value in given.items() if value is not None})


def _document() -> str:
    from tenure.api import create_api
    from tenure.api.openapi import as_text, document

    return as_text(document(create_api(Tenure("sqlite:///tenure.db"))))


def check_installed() -> None:
    """Raise OptionError unless the extra `service` is installed."""
    try:
        import fastapi
        import uvicorn
    except ImportError as error:
        raise OptionError(
            f"{error.name} is not installed; run: pip install 'tenure[service]'"
        ) from error
    del fastapi, uvicorn
