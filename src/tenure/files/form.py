"""A file in a form (`multipart/form-data`): the first part that has a file name.

The form is read as it comes, and what is not the file is skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from email.message import Message
from typing import Any, NamedTuple

from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError

from tenure.core.errors import InputError


class FormError(InputError):
    """The form cannot be read, or has no file in it."""

    code = "bad_form"


class FormFile(NamedTuple):
    """The name and media type of a file in a form, and its bytes as they come."""

    name: str
    media_type: str
    data: Iterator[bytes]


def file_in(content_type: str, body: Iterable[bytes]) -> FormFile:
    """The file of a form; its bytes are read from the body while they are used."""
    boundary = _boundary(content_type)
    reader = _Reader(boundary, iter(body))
    return reader.file()


class _Reader:
    """Feeds the parser until the file's headers are known, then hands out its data."""

    def __init__(self, boundary: str, body: Iterator[bytes]) -> None:
        self._body = body
        self._name = self._value = b""
        self._headers: dict[str, str] = {}
        self._data: list[bytes] = []
        self._found: dict[str, str] | None = None
        self._inside = self._ended = False
        self._parser = _parser(
            boundary,
            {
                "on_part_begin": self._headers.clear,
                "on_header_field": self._field,
                "on_header_value": self._text,
                "on_header_end": self._header,
                "on_headers_finished": self._begin,
                "on_part_data": self._part,
                "on_part_end": self._end,
            },
        )

    def file(self) -> FormFile:
        """Read on until it begins."""
        while self._found is None:
            if not self._feed():
                raise FormError("the form has no file in it: a part with a filename is needed")
        disposition = _parameters(self._found["content-disposition"])
        media_type = self._found.get("content-type", "application/octet-stream")
        return FormFile(str(disposition.get_filename("")), media_type, self._rest())

    def _rest(self) -> Iterator[bytes]:
        while True:
            data, self._data = self._data, []
            yield from data
            if self._ended:
                break
            if not self._feed():
                raise FormError("the form ends in the middle of its file")
        while self._feed():  # what follows the file is read, so that the answer can be sent
            self._data.clear()

    def _feed(self) -> bool:
        part = next(self._body, None)
        if part is None:
            return False
        try:
            self._parser.write(part)
        except FormParserError as error:
            raise FormError(f"the form cannot be read: {error}") from None
        return True

    def _field(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _text(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header(self) -> None:
        name = self._name.decode("latin-1").lower()
        self._headers[name] = self._value.decode("utf-8", "replace")
        self._name = self._value = b""

    def _begin(self) -> None:
        about = self._headers.get("content-disposition", "")
        if self._found is None and _parameters(about).get_filename() is not None:
            self._found = dict(self._headers)
            self._inside = True

    def _part(self, data: bytes, start: int, end: int) -> None:
        if self._inside:
            self._data.append(data[start:end])

    def _end(self) -> None:
        if self._inside:
            self._inside, self._ended = False, True


def _parser(boundary: str, callbacks: Any) -> MultipartParser:
    try:
        return MultipartParser(boundary, callbacks)
    except FormParserError as error:
        raise FormError(f"the form cannot be read: {error}") from None


def _boundary(content_type: str) -> str:
    message = Message()
    message["content-type"] = content_type
    boundary = message.get_boundary()
    if message.get_content_type() != "multipart/form-data" or not boundary:
        raise FormError("the Content-Type of a form must name its boundary")
    return boundary


def _parameters(disposition: str) -> Message:
    message = Message()
    message["content-disposition"] = disposition
    return message
