"""Files through a real server: cut lines, a large upload, a quiet log. `make chaos` has the long
forms: 50 cuts and 2 GB.
"""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from requests.exceptions import ConnectionError as LineCut
from tusclient.client import TusClient
from tusclient.exceptions import TusCommunicationError
from tusclient.uploader.uploader import Uploader

from tests.files.serving import FileServer, Line, serving
from tests.support.until import until

LONG = bool(os.environ.get("TENURE_CHAOS"))
CUTS = 50 if LONG else 6
UPLOAD_BYTES = 2 * 1024**3 if LONG else 96 * 1024**2
GROWTH_BYTES = 16 * 1024**2
TUS = {"tus-resumable": "1.0.0"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FileServer]:
    with serving(tmp_path_factory.mktemp("server")) as made:
        yield made


@pytest.mark.timeout(600)
def test_a_tus_client_goes_on_after_each_cut(server: FileServer) -> None:
    data, chance, line = os.urandom(CUTS * 100_000), random.Random(5), Line(server.url)
    before = server.log
    client = TusClient(f"{line.url}/api/uploads", server.headers)
    uploader = client.uploader(file_stream=BytesIO(data), chunk_size=len(data))
    uploader.set_url(str(uploader.create_url()))
    offsets = [0]
    while len(offsets) <= CUTS:
        line.allowed = chance.randrange(5_000, 100_000)  # in the header, or anywhere in the bytes
        with pytest.raises((TusCommunicationError, LineCut)):
            uploader.upload()
        line.allowed = None
        # No further: cut before the first byte, or refused because of the line before.
        if resumed(uploader) > offsets[-1]:
            offsets.append(uploader.offset)
    until(lambda: uploaded(uploader), 20)

    about = {**server.headers, **TUS}
    head = httpx.head(server.url + urlsplit(str(uploader.url)).path, headers=about)
    found = httpx.get(f"{server.url}/api/files/{head.headers['tenure-file-id']}", headers=about)
    assert hashlib.sha256(found.content).digest() == hashlib.sha256(data).digest()
    line.close()
    assert server.log == before, "a client that leaves is not worth a line"


def resumed(uploader: Uploader) -> int:
    """Ask the server how far it is, as a client does after a cut."""
    uploader.offset = uploader.get_offset()
    return int(uploader.offset)


def uploaded(uploader: Uploader) -> bool:
    """The server may not have noticed yet that the line before was cut: then it answers 423."""
    try:
        uploader.offset = uploader.get_offset()
        uploader.upload()
    except TusCommunicationError as error:
        assert error.status_code in (409, 423), error
        return False
    return True


@pytest.mark.timeout(600)
def test_a_large_upload_is_not_kept_in_memory(server: FileServer) -> None:
    upload(server, 8 * 1024**2)  # what the first upload imports and allocates
    before = server.memory
    about = upload(server, UPLOAD_BYTES)

    assert about["size"] == UPLOAD_BYTES
    grown = server.peak_memory - before
    print(f"an upload of {UPLOAD_BYTES:,} bytes: {grown:,} bytes more memory")  # noqa: T201
    assert grown <= GROWTH_BYTES


def upload(server: FileServer, size: int) -> dict[str, object]:
    """Of bytes that differ from upload to upload."""
    block = os.urandom(1024**2)
    answer = httpx.post(
        f"{server.url}/api/files",
        params={"name": "large.bin"},
        content=(block for _ in range(size // len(block))),
        headers=server.headers,
        timeout=120,
    )
    assert answer.status_code == 201, answer.text
    found: dict[str, object] = answer.json()
    return found


def test_uploads_that_are_cut_leave_no_bytes_and_no_line_in_the_log(
    server: FileServer, tmp_path: Path
) -> None:
    before, line = server.log, Line(server.url)
    for allowed in (100, 5_000, 200_000):
        for content in (b"x" * 1_000_000, (b"x" * 1_000 for _ in range(1_000))):
            line.allowed = allowed
            with pytest.raises(httpx.TransportError):
                httpx.post(f"{line.url}/api/files?name=a", content=content, headers=server.headers)
    line.close()
    incoming = Path(urlsplit(server.database).path[1:] + "-files") / "incoming"
    until(lambda: not list(incoming.glob("*")))

    assert server.log == before
