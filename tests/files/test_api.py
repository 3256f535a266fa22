"""Files over HTTP: a real server, httpx and tuspy as clients."""

from __future__ import annotations

import hashlib
import os
import random
import socket
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from tusclient.client import TusClient

from tenure import Tenure
from tenure.api import ApiSettings, create_api
from tenure.files import pulled
from tenure.files.files import Files
from tenure.files.settings import FilesSettings
from tests.api.conftest import Served, listening
from tests.support.until import until

DATA = bytes(range(256)) * 1000
FORM_TYPE = "Multipart/Form-Data"
FORM = {"content-type": f"{FORM_TYPE}; boundary=b"}
TUS = {"tus-resumable": "1.0.0"}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    engine = Tenure(f"sqlite:///{tmp_path / 'jobs.db'}")
    Files(engine, FilesSettings(url=str(tmp_path / "files"), max_bytes=5_000_000))
    api = create_api(engine, settings=ApiSettings())
    with listening(api) as url, httpx.Client(base_url=url, timeout=20) as client:
        made = Served(engine, api, client, url)
        client.headers.update(made.key("admin"))
        yield made
    engine.close()


def put(served: Served, name: str = "a.bin", headers: dict[str, str] | None = None) -> str:
    answer = served.client.post("/api/files", params={"name": name}, content=DATA, headers=headers)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def test_bytes_go_in_and_out(served: Served) -> None:
    file_id = put(served, "März.pdf", {"content-type": "application/pdf"})

    answer = served.get(f"/api/files/{file_id}")
    assert answer.content == DATA
    assert answer.headers["etag"] == f'"{hashlib.sha256(DATA).hexdigest()}"'
    assert answer.headers["content-type"] == "application/pdf"
    assert answer.headers["content-disposition"] == (
        "inline; filename=\"M_rz.pdf\"; filename*=UTF-8''M%C3%A4rz.pdf"
    )
    about = served.get(f"/api/files/{file_id}/about").json()
    assert (about["name"], about["size"]) == ("März.pdf", len(DATA))
    assert [one["id"] for one in served.get("/api/files").json()["items"]] == [file_id]


def test_a_form_is_taken(served: Served) -> None:
    file = {"file": ("März.csv", BytesIO(DATA), "text/csv")}
    answer = served.client.post("/api/files", data={"note": "skipped"}, files=file)

    told = answer.json()
    assert (answer.status_code, told["name"], told["mediaType"]) == (201, "März.csv", "text/csv")
    assert served.get(f"/api/files/{told['id']}").content == DATA


@pytest.mark.parametrize(
    ("asked", "status", "found"),
    [
        ("bytes=0-9", 206, DATA[:10]),
        ("bytes=-5", 206, DATA[-5:]),
        ("bytes=255999-", 206, DATA[-1:]),
        ("bytes=0-1,3-4", 200, DATA),
        ("bytes=256000-", 416, None),
    ],
)
def test_ranges(served: Served, asked: str, status: int, found: bytes | None) -> None:
    answer = served.get(f"/api/files/{put(served)}", headers={"range": asked})

    assert answer.status_code == status
    if found is not None:
        assert answer.content == found
        assert answer.headers["content-length"] == str(len(found))


def test_a_head_has_the_size_and_no_body(served: Served) -> None:
    answer = served.client.head(f"/api/files/{put(served)}")

    assert (answer.headers["content-length"], answer.content) == ("256000", b"")


def test_a_known_tag_is_not_sent_again(served: Served) -> None:
    path = f"/api/files/{put(served)}"
    tag = served.get(path).headers["etag"]

    assert served.get(path, headers={"if-none-match": tag}).status_code == 304
    assert served.get(path, headers={"if-none-match": "*"}).status_code == 304
    stale = {"range": "bytes=0-1", "if-range": '"other"'}
    assert served.get(path, headers=stale).status_code == 200


def test_another_tenant_sees_nothing(served: Served) -> None:
    mine, other = served.key("write", tenant="acme"), served.key("admin", tenant="other")
    file_id = put(served, headers=mine)

    assert served.get(f"/api/files/{file_id}", headers=mine).status_code == 200
    for path in (f"/api/files/{file_id}", f"/api/files/{file_id}/about"):
        assert served.get(path, headers=other).status_code == 404
    assert served.get("/api/files", headers=other).json()["items"] == []
    assert served.client.delete(f"/api/files/{file_id}", headers=other).status_code == 404


def test_nobody_uploads_without_a_key(served: Served) -> None:
    assert httpx.post(f"{served.url}/api/files?name=a", content=b"x").status_code == 401
    assert httpx.get(f"{served.url}/api/files").status_code == 401
    reader = served.key("read")
    refused = served.client.post("/api/files?name=a", content=b"x", headers=reader)
    assert refused.status_code == 403


@pytest.mark.parametrize(
    ("path", "content", "headers", "status", "said"),
    [
        ("/api/files", b"x", {}, 422, "say the file's name"),
        ("/api/files?name=..%2Fx", b"x", {}, 422, "has a path"),
        ("/api/files?name=a%0Ab", b"x", {}, 422, "control characters"),
        ("/api/files?name=a&sha256=" + "0" * 64, b"x", {}, 422, "have the SHA-256"),
        ("/api/files?name=a", b"x" * 5_000_001, {}, 413, "more than 5,000,000 bytes"),
        ("/api/files", b"x", {"content-type": "multipart/form-data"}, 422, "boundary"),
        ("/api/files", b"--b\r\n\r\nx\r\n--b--", FORM, 422, "no file in it"),
        ("/api/files", b"rubbish", FORM, 422, "form"),
        ("/api/files", b"x", {"content-type": f"{FORM_TYPE}; boundary={'b' * 300}"}, 422, "form"),
        ("/api/files?name=a", b"x", {"content-type": "no type"}, 422, "not a media type"),
    ],
)  # fmt: skip
def test_bad_uploads_are_clear_errors_and_leave_nothing(
    served: Served, path: str, content: bytes, headers: dict[str, str], status: int, said: str
) -> None:
    answer = served.client.post(path, content=content, headers=headers)

    assert answer.status_code == status, answer.text
    assert said in answer.json()["detail"]
    room = Files.of(served.engine)
    assert list(room.blobs.stored()) == list(room.blobs.unfinished()) == []


def test_a_link_is_good_for_whoever_has_it_until_it_expires(served: Served) -> None:
    file_id = put(served)
    told = served.post(f"/api/files/{file_id}/link", {"seconds": 60}).json()
    assert httpx.get(served.url + told["path"]).content == DATA

    room = Files.of(served.engine)
    expired = room.links.make(room.get(file_id), 0.001).token
    forged = told["path"][:-4] + "AAAA"
    gone = room.put(b"gone", name="gone.txt")
    unknown = room.links.make(gone, 60).token
    room.delete(gone.id)
    paths = (f"/files/{expired}", forged, f"/files/{unknown}", "/files/x.y", "/files/ä")
    answers = [httpx.get(served.url + path) for path in (*paths, "/files/" + "x" * 2_000)]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.json()["detail"] for answer in answers}) == 1


@pytest.mark.parametrize("path", ["..%2F..%2Fetc%2Fpasswd", "%2e%2e", "a%00b", "..%5Cx"])
def test_a_path_that_escapes_finds_nothing(served: Served, path: str) -> None:
    for base in ("/api/files", "/api/uploads"):
        answer = served.get(f"{base}/{path}")
        assert answer.status_code in (404, 422), answer.text
    assert httpx.get(f"{served.url}/files/{path}").status_code == 404


def test_a_size_that_lies_is_refused_and_keeps_what_was_announced_at_most(served: Served) -> None:
    path = begin(served, 4)
    octets = {"content-type": "application/offset+octet-stream", "upload-offset": "0"}
    answer = served.client.patch(path, content=b"012345", headers={**TUS, **octets})

    assert (answer.status_code, "more than 4 bytes" in answer.text) == (413, True)
    assert served.client.head(path, headers=TUS).headers["upload-offset"] == "0"
    assert served.get("/api/files").json()["items"] == []


@pytest.mark.parametrize("name", ["../x", "a\\b", "%2E%2E/x"])
def test_the_name_in_a_form_is_checked_too(served: Served, name: str) -> None:
    body = (
        f'--b\r\nContent-Disposition: form-data; name="f"; filename="{name}"\r\n\r\nx\r\n--b--\r\n'
    )
    answer = served.client.post("/api/files", content=body.encode(), headers=FORM)

    assert (answer.status_code, "has a path" in answer.text) == (422, True), answer.text
    assert list(Files.of(served.engine).blobs.unfinished()) == []


def test_a_file_in_use_is_not_deleted(served: Served) -> None:
    file_id = put(served)
    Files.of(served.engine).refer(file_id, "job", "7")
    assert served.client.delete(f"/api/files/{file_id}").status_code == 409
    Files.of(served.engine).release(file_id, "job", "7")

    assert served.client.delete(f"/api/files/{file_id}").status_code == 204
    assert served.get(f"/api/files/{file_id}").status_code == 404


def test_a_tus_client_uploads_in_chunks(served: Served) -> None:
    headers = dict(served.client.headers)
    client = TusClient(f"{served.url}/api/uploads", {"authorization": headers["authorization"]})
    uploader = client.uploader(
        file_stream=BytesIO(DATA), chunk_size=30_000, metadata={"filename": "März.bin"},
        upload_checksum=True,
    )  # fmt: skip
    uploader.upload()

    head = served.client.head(urlsplit(str(uploader.url)).path, headers=TUS)
    assert head.headers["upload-offset"] == str(len(DATA))
    answer = served.get(f"/api/files/{head.headers['tenure-file-id']}")
    assert answer.content == DATA
    assert "M%C3%A4rz.bin" in answer.headers["content-disposition"]


def begin(served: Served, length: int = len(DATA)) -> str:
    answer = served.client.post("/api/uploads", headers={**TUS, "upload-length": str(length)})
    assert answer.status_code == 201, answer.text
    return str(answer.headers["location"])


def send_and_hang_up(served: Served, path: str, offset: int, data: bytes, announced: int) -> None:
    """A PATCH whose connection is cut after some of the bytes that it announces."""
    parts = urlsplit(served.url)
    with socket.create_connection((parts.hostname, parts.port)) as line:
        key = served.client.headers["authorization"]
        line.sendall(
            f"PATCH {path} HTTP/1.1\r\nhost: x\r\nauthorization: {key}\r\n"
            f"tus-resumable: 1.0.0\r\nupload-offset: {offset}\r\n"
            f"content-type: application/offset+octet-stream\r\n"
            f"content-length: {announced}\r\n\r\n".encode()
            + data
        )
        # What a server has not read yet when its client leaves is lost, and sent again.
        room, upload_id = Files.of(served.engine), path.rpartition("/")[2]
        until(lambda: room.blobs.partial(upload_id).size() > offset)
    # The server notices that its client has left, and lets the next request append.
    until(lambda: room.sql.run("lock_upload", id=upload_id, writer="test", lease=0))


def test_an_upload_survives_cut_connections(served: Served) -> None:
    chance, path = random.Random(3), begin(served)
    for _ in range(10):
        offset = int(served.client.head(path, headers=TUS).headers["upload-offset"])
        piece = DATA[offset : offset + chance.randrange(10_000, 20_000)]
        send_and_hang_up(served, path, offset, piece, len(DATA) - offset)
    offset = int(served.client.head(path, headers=TUS).headers["upload-offset"])
    assert offset >= 100_000
    octets = {"content-type": "application/offset+octet-stream", "upload-offset": str(offset)}
    done = served.client.patch(path, content=DATA[offset:], headers={**TUS, **octets})

    assert done.status_code == 204
    file_id = done.headers["tenure-file-id"]
    assert hashlib.sha256(served.get(f"/api/files/{file_id}").content).digest() == (
        hashlib.sha256(DATA).digest()
    )


@pytest.mark.parametrize(
    ("headers", "status", "said"),
    [
        ({"upload-offset": "5"}, 409, "the upload has 0 bytes"),
        ({"upload-offset": "x"}, 400, "must be a number of bytes"),
        ({"content-type": "text/plain"}, 415, "Content-Type must be"),
        ({"tus-resumable": "0.2.2"}, 412, "must be 1.0.0"),
        ({"upload-checksum": "sha1 " + b64encode(b"0" * 20).decode()}, 460, "they were dropped"),
        ({"upload-checksum": "crc32 AAAA"}, 400, "'crc32' is not one of"),
    ],
)
def test_wrong_patches_are_clear_errors(
    served: Served, headers: dict[str, str], status: int, said: str
) -> None:
    path = begin(served)
    sent = {**TUS, "content-type": "application/offset+octet-stream", "upload-offset": "0"}
    answer = served.client.patch(path, content=b"01234", headers={**sent, **headers})

    assert answer.status_code == status, answer.text
    assert said in answer.json()["detail"]
    assert answer.headers["tus-resumable"] == "1.0.0"
    assert answer.headers.get("tus-version") == ("1.0.0" if status == 412 else None)
    assert served.client.head(path, headers=TUS).headers["upload-offset"] == "0"


@pytest.mark.parametrize(
    ("headers", "status", "said"),
    [
        ({}, 400, "Upload-Length must be a number"),
        ({"upload-length": "5000001"}, 413, "more than 5,000,000 bytes"),
        ({"upload-defer-length": "1"}, 400, "not supported"),
        ({"upload-length": "1", "upload-metadata": "filename Li4v"}, 422, "has a path"),
        ({"upload-length": "1", "upload-metadata": "filename YQpi"}, 422, "control characters"),
        ({"upload-length": "-1"}, 400, "Upload-Length must be a number"),
        ({"upload-length": "1", "upload-metadata": "filetype dGV4dA=="}, 422, "not a media type"),
    ],
)
def test_wrong_beginnings_are_clear_errors(
    served: Served, headers: dict[str, str], status: int, said: str
) -> None:
    answer = served.client.post("/api/uploads", headers={**TUS, **headers})

    assert (answer.status_code, said in answer.json()["detail"]) == (status, True), answer.text


def test_an_upload_is_terminated(served: Served) -> None:
    path = begin(served)
    assert served.client.delete(path, headers=TUS).status_code == 204

    assert served.client.head(path, headers=TUS).status_code == 404
    assert served.client.request("OPTIONS", "/api/uploads").headers["tus-version"] == "1.0.0"


def test_json_routes_still_take_json_alone(served: Served) -> None:
    answer = served.client.post("/api/jobs", content=os.urandom(10))

    assert answer.status_code == 415


def idle_upload(served: Served) -> socket.socket:
    """Announces 500 bytes, sends one, and then nothing."""
    parts = urlsplit(served.url)
    line = socket.create_connection((parts.hostname, parts.port))
    key = served.client.headers["authorization"]
    line.sendall(
        f"POST /api/files?name=x HTTP/1.1\r\nhost: x\r\nauthorization: {key}\r\n"
        "content-length: 500\r\n\r\nq".encode()
    )
    return line


def test_idle_uploads_keep_nobody_else_waiting(served: Served) -> None:
    with ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(idle_upload(served))
        assert served.get(f"/api/files/{put(served)}").content == DATA


def test_an_idle_upload_is_given_up(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulled, "IDLE_SECONDS", 0.2)
    with idle_upload(served) as line:
        line.settimeout(20)
        answer = line.recv(10_000)

    assert answer.startswith(b"HTTP/1.1 408")
    assert b"no bytes came" in answer
    assert list(Files.of(served.engine).blobs.unfinished()) == []


def test_more_uploads_than_there_are_threads_are_told_to_come_again(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulled, "AT_ONCE", 1)
    with idle_upload(served):
        room = Files.of(served.engine)
        until(lambda: list(room.blobs.unfinished()))
        answer = served.client.post("/api/files?name=a", content=b"x")

    assert (answer.status_code, "retry-after" in answer.headers) == (503, True)
