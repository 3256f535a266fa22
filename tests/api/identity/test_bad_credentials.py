"""Whatever a credential says, the answer is 401 and the server stays up."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import httpx
import jwt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.api.identity.conftest import Open
from tests.api.identity.issuer import claims, private_key, serve_issuer

few = settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
header_bytes = st.binary(max_size=300).map(
    lambda raw: bytes(byte for byte in raw if byte >= 0x20 and byte != 0x7F).strip()
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
odd_headers = st.fixed_dictionaries(
    {"alg": st.just("RS256") | json_values, "kid": st.just("k1") | json_values}
)
odd_claims = st.dictionaries(
    st.sampled_from(["exp", "nbf", "iss", "aud", "tid", "oid", "scp"]), json_values
)


@pytest.fixture
def client(open_api: Open) -> Iterator[httpx.Client]:
    with serve_issuer() as issuer:
        yield open_api(issuer.settings())


@few
@given(scheme=st.sampled_from([b"", b"Bearer ", b"bearer  ", b"Bearer tenure_"]), raw=header_bytes)
def test_no_header_is_too_strange(client: httpx.Client, scheme: bytes, raw: bytes) -> None:
    value = (scheme + raw).strip()

    for name in (b"authorization", b"x-api-key", b"cookie"):
        assert client.get("/read", headers=[(name, value)]).status_code == 401


@few
@given(head=odd_headers, body=odd_claims, seal=st.binary(max_size=256))
def test_no_token_is_too_strange(
    client: httpx.Client, head: dict[str, Any], body: dict[str, Any], seal: bytes
) -> None:
    text = ".".join((part(head), part({**claims(), **body}), encoded(seal)))

    answer = client.get("/read", headers={"authorization": f"Bearer {text}"})

    assert answer.status_code == 401


@few
@given(body=odd_claims)
def test_no_claim_of_the_issuer_itself_is_too_strange(
    client: httpx.Client, body: dict[str, Any]
) -> None:
    raw = json.dumps({**claims(), **body}).encode()
    text = jwt.PyJWS().encode(raw, private_key("one"), "RS256", {"kid": "k1"})

    answer = client.get("/read", headers={"authorization": f"Bearer {text}"})

    assert answer.status_code in (200, 401, 403)


def part(value: Any) -> str:
    return encoded(json.dumps(value).encode())


def encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
