"""The deploy documents stay in step: every setting and command in them is one that there is."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from configparser import RawConfigParser
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
import typer.main
import yaml

from tenure import State, Tenure
from tenure.cli.root import app as commands
from tenure.worker.settings import WorkerSettings
from tests.support.databases import ServerDatabases
from tests.support.servers import Server, free_port
from tests.support.settings import all_settings, all_variables
from tests.support.until import until

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
GUIDE = ROOT / "docs/guides/deploy.md"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
COMPOSE = yaml.safe_load((DEPLOY / "docker/compose.yaml").read_text())
OURS = {name: one for name, one in COMPOSE["services"].items() if one["image"] == "tenure"}
VARIABLE = re.compile(r"\b(?:TENURE|WORKER|OUTBOX|BPC)_[A-Z0-9_]+")
SPAN = re.compile(r"`tenure ([^`]+)`")
GIVEN = {"POSTGRES_PASSWORD": "secret", "RABBITMQ_PASSWORD": "secret", "APP_FOLDER": "/srv/shop"}

SHOP = """
from tenure import Tenure

app = Tenure()

@app.job("add")
def add(job, a: int, b: int) -> int:
    return a + b
"""


def documents() -> list[Path]:
    return [GUIDE, *(path for path in sorted(DEPLOY.rglob("*")) if path.is_file())]


@pytest.mark.parametrize("document", documents(), ids=lambda path: path.name)
def test_every_setting_in_them_is_one_that_is_read(document: Path) -> None:
    assert set(VARIABLE.findall(document.read_text())) <= all_variables()


def unit(path: Path) -> RawConfigParser:
    parser = RawConfigParser(strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(path)
    return parser


def fill(text: str) -> str:
    """What compose makes of a text: `${NAME:?why}` and `${NAME:-default}`."""
    return re.sub(r"\$\{(\w+)(?::([-?])([^}]*))?\}", lambda m: GIVEN.get(m[1], m[3]), text)


def command_lines() -> list[list[str]]:
    """What follows the word `tenure`, wherever these documents say it."""
    found = [shlex.split(line) for line in SPAN.findall(GUIDE.read_text())]
    found += [shlex.split(unit(path)["Service"]["ExecStart"])[1:] for path in UNITS]
    return found + [[fill(word) for word in service["command"]] for service in OURS.values()]


@pytest.mark.parametrize("line", command_lines(), ids=" ".join)
def test_every_command_in_them_is_one_that_there_is(line: list[str]) -> None:
    command: Any = typer.main.get_command(commands)
    words = iter(line)
    while hasattr(command, "get_command") and (word := next(words, None)):
        below = command.get_command(typer.Context(command), word)
        assert below is not None, f"there is no command {word!r}"
        command = below

    known = {name for option in command.params for name in option.opts}
    assert {word for word in words if word.startswith("--")} <= known


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_systemd_finds_nothing_wrong_with_a_unit(path: Path, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("not installed: systemd-analyze")
    program = Path(sys.executable).with_name("tenure")
    text = path.read_text().replace("/srv/shop/.venv/bin/tenure", str(program))
    (tmp_path / path.name).write_text(text)

    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", tmp_path / path.name],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip

    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_they_wait_longer_than_a_worker_takes_to_stop() -> None:
    longest = WorkerSettings.model_fields["shutdown_timeout_ms"].default / 1000
    waits = [float(unit(path)["Service"]["TimeoutStopSec"]) for path in UNITS]
    waits += [float(service["stop_grace_period"].rstrip("s")) for service in OURS.values()]

    assert len(waits) >= 5 and min(waits) > longest


def environments() -> Iterator[tuple[str, dict[str, str]]]:
    for name, service in OURS.items():
        yield name, {key: fill(value) for key, value in service["environment"].items()}
    text = (DEPLOY / "systemd/environment").read_text()
    yield "systemd", dict(re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE))


@pytest.mark.parametrize(
    ("name", "environment"), list(environments()), ids=lambda one: str(one)[:8]
)
def test_every_value_in_them_is_allowed(
    name: str, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in environment.items():
        monkeypatch.setenv(key, value)

    for settings in all_settings():
        settings()


def test_compose_has_what_it_should() -> None:
    services: dict[str, Any] = COMPOSE["services"]

    assert set(services) == {"postgres", "rabbitmq", "migrate", "worker", "api"}
    assert services["worker"]["deploy"]["replicas"] == 2
    for service in OURS.values():
        built = (DEPLOY / "docker" / service["build"]["context"]).resolve()
        assert (built / service["build"]["dockerfile"]).is_file()


def test_the_image_copies_what_is_there_and_installs_extras_that_exist() -> None:
    text = (DEPLOY / "docker/Dockerfile").read_text()
    copied = [
        word
        for line in re.findall(r"^COPY (?!--from)(.+)$", text, re.MULTILINE)
        for word in line.split()[:-1]
    ]

    assert len(copied) >= 5 and all((ROOT / name).exists() for name in copied)
    assert re.search(r"^all = ", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert '".[all]"' in text and 'ENTRYPOINT ["tenure"]' in text


def test_the_composed_worker_runs_a_job(
    postgres_databases: ServerDatabases, rabbitmq: Server, tmp_path: Path
) -> None:
    url = postgres_databases.fresh()
    (tmp_path / "shop.py").write_text(SHOP)
    places = {"TENURE_DATABASE_URL": url, "TENURE_RABBITMQ_URL": rabbitmq.admin_url}
    assert compose("migrate", places, tmp_path).wait(60) == 0
    worker = compose("worker", places, tmp_path)
    app = Tenure(url)
    try:
        job = app.enqueue("add", {"a": 1, "b": 2})
        until(lambda: app.get(job).state is State.SUCCEEDED, seconds=30)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(60) == 0
    finally:
        worker.kill()
        worker.wait()
        app.close()


def test_the_composed_api_says_that_it_is_ready(
    postgres_databases: ServerDatabases, rabbitmq: Server, tmp_path: Path
) -> None:
    (tmp_path / "shop.py").write_text(SHOP)
    port = free_port()
    places = {
        "TENURE_DATABASE_URL": postgres_databases.empty(),
        "TENURE_RABBITMQ_URL": rabbitmq.admin_url,
        "TENURE_API_HOST": "127.0.0.1",
        "TENURE_API_PORT": str(port),
    }
    server = compose("api", places, tmp_path)
    try:
        until(lambda: answers(f"http://127.0.0.1:{port}/v1/health/ready"), seconds=60)
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0
    finally:
        server.kill()
        server.wait()


def answers(url: str) -> bool:
    """As compose's own check asks."""
    try:
        with urlopen(url, timeout=3) as answer:  # noqa: S310 - http, on loopback
            return bool(answer.status == 200)
    except OSError:
        return False


def compose(name: str, places: dict[str, str], folder: Path) -> subprocess.Popen[bytes]:
    """A service as it is composed, but for the addresses of its servers."""
    environment = dict(environments())[name]
    assert places.keys() <= environment.keys()
    line = [fill(word) for word in OURS[name]["command"]]
    return subprocess.Popen(
        [sys.executable, "-m", "tenure", *line],
        cwd=folder,
        env={**os.environ, **environment, **places},
        stdout=subprocess.DEVNULL,
    )
