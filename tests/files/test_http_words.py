"""Names, ranges and links, as clients send them."""

from __future__ import annotations

import pytest

from tenure.files.errors import FileNameError, RangeNotSatisfiable
from tenure.files.links import Link, Links
from tenure.files.names import check_file_name, content_disposition
from tenure.files.ranges import requested_range

SECRET = b"0123456789abcdef"
LINK = Link("f1", "acme", 1_000)


@pytest.mark.parametrize("name", ["invoice.pdf", "Rechnung März 2026.pdf", "a" * 255, "…"])
def test_usual_names_are_kept(name: str) -> None:
    assert check_file_name(name) == name


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "not a file name"),
        ("..", "not a file name"),
        ("../passwd", "has a path"),
        ("a\\b", "has a path"),
        ("a\nb", "control characters"),
        ("a\x1b[2Jb", "control characters"),
        ("gpj.\u202etxt", "control characters"),
        ("é" * 200, "more than 255 bytes"),
    ],
)
def test_other_names_are_refused(name: str, said: str) -> None:
    with pytest.raises(FileNameError, match=said):
        check_file_name(name)


def test_a_name_is_kept_in_one_form() -> None:
    assert check_file_name("Ma\u0308rz") == "M\u00e4rz"


def test_the_header_has_a_plain_name_and_the_exact_one() -> None:
    assert content_disposition('März "1".pdf') == (
        "attachment; filename=\"M_rz _1_.pdf\"; filename*=UTF-8''M%C3%A4rz%20%221%22.pdf"
    )
    assert content_disposition("a.pdf", inline=True).startswith("inline; ")


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (None, None),
        ("bytes=0-9", (0, 10)),
        ("bytes=10-", (10, 100)),
        ("Bytes=10-", (10, 100)),
        ("bytes=-5", (95, 100)),
        ("bytes=-500", (0, 100)),
        ("bytes=0-5000", (0, 100)),
        ("bytes=0-1,5-6", None),
        ("bytes=9-3", None),
        ("bytes=-", None),
        ("lines=1-2", None),
    ],
)
def test_one_range_is_understood(header: str | None, found: tuple[int, int] | None) -> None:
    assert requested_range(header, 100) == found


@pytest.mark.parametrize("header", ["bytes=100-", "bytes=200-300", "bytes=-0"])
def test_a_range_outside_is_refused(header: str) -> None:
    with pytest.raises(RangeNotSatisfiable, match="which has 100 bytes"):
        requested_range(header, 100)


def test_a_link_is_read_until_it_expires() -> None:
    token = Links(SECRET).sign(LINK)

    assert Links(SECRET).read(token, 999.9) == LINK
    assert Links(SECRET).read(token, 1_000) is None


@pytest.mark.parametrize("change", [lambda t: t[:-2] + "xx", lambda t: "A" + t[1:], lambda _: "é.é",
                                    lambda _: "", lambda t: t.split(".")[0]])  # fmt: skip
def test_a_forged_link_is_not_read(change: object) -> None:
    token = Links(SECRET).sign(LINK)

    assert Links(SECRET).read(change(token), 0) is None  # type: ignore[operator]
    assert Links(b"another secret..").read(token, 0) is None


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 16 bytes"):
        Links(b"short")
