"""Names of files: which can be kept, and how a download is told of them."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote

from tenure.files.errors import FileNameError, MediaTypeError
from tenure.jobs.options import check_name

LONGEST = 255
WORD = r"[A-Za-z0-9!#$&^_.+-]+"
MEDIA_TYPE = re.compile(rf"{WORD}/{WORD}(?:[ \t]*;[ \t]*{WORD}=(?:{WORD}|\"[ !#-\[\]-~]*\"))*")


def check_file_name(name: str) -> str:
    """The name as it is kept: one part of a path, in Unicode's composed form."""
    name = unicodedata.normalize("NFC", name)
    if not name or name in (".", ".."):
        raise FileNameError(f"{name!r} is not a file name")
    if "/" in name or "\\" in name:
        raise FileNameError(f"the file name {name!r} has a path in it; pass the last part only")
    if any(unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") for letter in name):
        raise FileNameError(f"the file name {name!r} has control characters in it")
    if len(name.encode()) > LONGEST:
        raise FileNameError(f"the file name has more than {LONGEST} bytes")
    return name


def check_whose(tenant: str, owner: str | None) -> None:
    """OptionError unless a row of a file can have them: as those of a job."""
    check_name("tenant", tenant)
    check_name("owner", owner)


def content_disposition(name: str, *, inline: bool = False) -> str:
    """The header of RFC 6266: a plain name for old clients, the exact one beside it."""
    plain = name.encode("ascii", "replace").decode().replace("?", "_")
    plain = plain.replace('"', "_").replace("\\", "_")
    how = "inline" if inline else "attachment"
    return f"{how}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


def check_media_type(media_type: str) -> str:
    """It goes out as a header, so it must be what RFC 9110 calls a media type."""
    if len(media_type) > 200 or not MEDIA_TYPE.fullmatch(media_type):
        raise MediaTypeError(media_type)
    return media_type
