"""Places for bytes: a folder, and moto's S3 server on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import boto3  # type: ignore[import-untyped]
import pytest
from moto.server import ThreadedMotoServer

from tenure import Tenure
from tenure.files.files import Files
from tenure.files.settings import FilesSettings
from tenure.files.storage.blobs import Blobs
from tenure.files.storage.folder import FolderBlobs
from tenure.files.storage.s3 import S3Blobs
from tenure.testing.clock import ManualClock
from tests.support.databases import Databases


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def s3_url(s3_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    bucket = f"b{uuid4().hex}"
    boto3.client("s3", endpoint_url=s3_endpoint, region_name="us-east-1").create_bucket(
        Bucket=bucket
    )
    return f"s3://{bucket}/jobs?endpoint={s3_endpoint}"


@pytest.fixture(params=["folder", "s3"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    if request.param == "folder":
        return FolderBlobs(tmp_path / "files")
    return S3Blobs(request.getfixturevalue("s3_url"))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def files(
    databases: Databases, tmp_path: Path, clock: ManualClock, request: pytest.FixtureRequest
) -> Iterator[Files]:
    """Files on each database, in a folder."""
    app = Tenure(databases.empty(tmp_path), clock=clock)
    kept = FilesSettings(url=str(tmp_path / "files"), keep_seconds=100, grace_seconds=10)
    yield Files(app, kept)
    app.close()
