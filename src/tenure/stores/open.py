"""From a URL to a store. Nothing is opened here; the first use does that."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from urllib.parse import parse_qsl, unquote, urlsplit

from tenure.core.errors import StoreError, UrlError
from tenure.core.timing.clock import Clock
from tenure.stores.contract import Store
from tenure.stores.sql.dialect import Dialect
from tenure.stores.sql.store import SqlStore
from tenure.wakeups.due_jobs import Complaints, WakeOptions, Wakeups
from tenure.wakeups.ended_jobs import EndedJobs

SCHEMES = {
    "sqlite": "sqlite",
    "postgresql": "postgres",
    "postgres": "postgres",
    "mysql": "mysql",
    "mariadb": "mysql",
}
EXAMPLES = "sqlite:///tenure.db, postgresql://user@host/name or mysql://user@host/name"


def open_store(
    url: str,
    *,
    clock: Clock | None = None,
    auto_migrate: bool | None = None,
    wake: WakeOptions | None = None,
) -> Store:
    """The store behind a URL. By default SQLite files get their schema at first use."""
    dialect = dialect_of(url)
    migrate = dialect.name == "sqlite" if auto_migrate is None else auto_migrate
    wakeups = _wakeups(dialect, wake or WakeOptions())
    return SqlStore(dialect, clock=clock, auto_migrate=migrate, wakeups=wakeups)


def dialect_of(url: str) -> Dialect:
    """Read the URL. A misspelt scheme raises UrlError with a suggestion."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        raise UrlError(f"{_masked(url)!r} is not a database URL; write {EXAMPLES}")
    kind = SCHEMES.get(scheme.lower())
    if kind is None:
        near = difflib.get_close_matches(scheme.lower(), SCHEMES, n=1)
        hint = f"did you mean {near[0]}://?" if near else f"write {EXAMPLES}"
        raise UrlError(f"{scheme}:// is not a database Tenure knows; {hint}")
    if kind == "sqlite":
        return _sqlite(url, rest)
    return _server(url, kind)


def _wakeups(dialect: Dialect, options: WakeOptions) -> Wakeups:
    """PostgreSQL carries wake-ups between processes itself; a broker does beside any database."""
    wakeups = _by_database(dialect, options)
    if options.broker is None:
        return wakeups
    from tenure.wakeups.rabbitmq import RabbitListener, RabbitSender, check_url

    check_url(options.broker.url)
    sender = RabbitSender(options.broker, Complaints(options.signals))
    wakeups.senders += (sender,)
    wakeups.listeners += (RabbitListener(options.broker, sender.is_own),)
    return wakeups


def _by_database(dialect: Dialect, options: WakeOptions) -> Wakeups:
    if dialect.name != "postgres" or not options.channel:
        return Wakeups()
    from tenure.stores.postgres.dialect import PostgresDialect
    from tenure.stores.postgres.listen import PostgresListener
    from tenure.stores.postgres.notify import Notifier

    listened = dialect if options.listen_url is None else dialect_of(options.listen_url)
    if not isinstance(listened, PostgresDialect):
        raise UrlError("TENURE_LISTEN_URL needs to be a postgresql:// URL like the database's")

    def sender_to(channel: str) -> Notifier:
        return Notifier(dialect.connect, channel, Complaints(options.signals))

    name, url = options.channel, listened.url
    due, asks, answers = sender_to(name), sender_to(f"{name}_wait"), sender_to(f"{name}_done")
    ended_jobs = EndedJobs(asks, answers, PostgresListener(url, f"{name}_done", answers.is_own))
    listener = PostgresListener(url, name, due.is_own)
    listener.beside = {f"{name}_wait": ended_jobs.asked}
    listener.greets = f"{name}_done"
    wakeups = Wakeups([due], [listener])
    wakeups.inside, wakeups.ended_jobs = due.inside, ended_jobs
    return wakeups


def _sqlite(url: str, rest: str) -> Dialect:
    from tenure.stores.sqlite.dialect import SqliteDialect

    if not rest.startswith("/") or rest == "/":
        raise UrlError(
            f"{url!r} names no file; write sqlite:///relative.db or sqlite:////absolute/path.db"
        )
    name, _, query = rest[1:].partition("?")
    _options(query, known=())
    path = unquote(name)
    if ":memory:" in path:
        raise UrlError("an in-memory database is lost with its connection; name a file")
    return SqliteDialect(path)


def _server(url: str, kind: str) -> Dialect:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # its text may quote a part of the password
        raise UrlError(
            f"{_masked(url)!r} cannot be read: is the port a number? In a password write / as %2F, "
            "# as %23 and ? as %3F"
        ) from None
    database = unquote(parts.path.lstrip("/"))
    if not parts.hostname or not database:
        raise UrlError(f"{_masked(url)!r} needs a host and a database name; write {EXAMPLES}")
    try:
        if kind == "postgres":
            from tenure.stores.postgres.dialect import PostgresDialect

            _options(parts.query, known=PostgresDialect.options)
            return PostgresDialect(url)
        from tenure.stores.mysql.dialect import MysqlDialect
    except ImportError as error:
        raise StoreError(
            f"the driver for {kind} is not installed: pip install 'tenure[{kind}]'"
        ) from error
    return MysqlDialect(
        host=parts.hostname,
        port=port or 3306,
        user=unquote(parts.username or "root"),
        password=unquote(parts.password or ""),
        database=database,
        **_options(parts.query, known=MysqlDialect.options),
    )


def _options(query: str, known: Collection[str]) -> dict[str, str]:
    """The options behind the question mark. An unknown one is an error."""
    found = dict(parse_qsl(query, keep_blank_values=True))
    for name in found:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise UrlError(f"{name!r} is not an option of this database's URL{hint}")
    return found


def _masked(url: str) -> str:
    """Never show a password."""
    head, at, tail = url.rpartition("@")
    scheme, separator, user = head.partition("://") if "://" in head else ("", "", head)
    return f"{scheme}{separator}{user.partition(':')[0]}:***{at}{tail}" if ":" in user else url
