"""What the application brings: a job, a table, a route and a command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tenure import RunningJob, Tenure
from tenure.feature import Feature


class Greeting(NamedTuple):
    """A row of `hello_greetings`."""

    name: str
    times: int


class Hello(Feature):
    """Installed by its entry point; `tenure up` serves it."""

    name = "hello"
    app: Tenure
    tables = "hello"

    def __init__(self, app: Tenure) -> None:
        super().__init__(app)
        self.greet = app.job("hello.greet")(self._greet)

    def _greet(self, job: RunningJob, name: str) -> None:
        """The row and the end of the job are one transaction."""
        with job.settle(result=f"Hello {name}") as tx:
            self.sql.run("greet", name=name, tx=tx)

    def greetings(self, most: int = 20) -> list[Greeting]:
        """Whom we greeted most."""
        return self.sql.rows(Greeting, "list_greetings", most=most)

    def routers(self) -> Iterable[Any]:
        """`/api/hello`."""
        from hello.api import router

        return (router,)

    def commands(self) -> Mapping[str, Any]:
        """`tenure hello`."""
        from hello.cli import hello

        return {"hello": hello}
