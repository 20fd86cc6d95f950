"""Reads forms (multipart/form-data) as a stream of parts, without temporary files.

Starlette's `form()` first writes a temporary file. This module returns the bytes of each part as they arrive.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import AsyncIterator, Mapping

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from lakebed_server.http.body import RequestBody, decoded
from lakebed_server.vocabulary import RequestError, bad_request

_FIELD, _VALUE = 0, 1

_HEADERS = 128
_HEADER_BYTES = 8 << 10
"""Bytes of all headers of a part, and of each header. A header may hold an escaped path, or metadata."""


class Part:
    """One part: its name, the raw `filename`, its headers (lower-case names), and its bytes, which can be read once."""

    __slots__ = ("_form", "done", "filename", "headers", "name")

    def __init__(self, form: Form, headers: Mapping[bytes, bytes]) -> None:
        kind, options = parse_options_header(headers.get(b"content-disposition"))
        if kind != b"form-data" or b"name" not in options:
            raise bad_request('form: every part needs a Content-Disposition like form-data; name="content"')
        self.name = decoded(options[b"name"], "form: name")
        self.filename = options.get(b"filename")
        self.headers = headers
        self.done = False
        self._form = form

    async def pieces(self) -> AsyncIterator[bytes]:
        """The bytes of the part, as they arrive."""
        while (piece := await self._form.next_piece(self)) is not None:
            yield piece

    async def whole(self, limit: int) -> bytes:
        """All its bytes. Refused when there are more than `limit`."""
        data = bytearray()
        async for piece in self.pieces():
            data += piece
            if len(data) > limit:
                raise bad_request(f"form: part {self.name} is longer than {limit} bytes")
        return bytes(data)


class Form:
    """Reads a form part by part. Raises RequestError (400) when it is malformed or ends early."""

    def __init__(self, body: RequestBody, content_type: bytes) -> None:
        boundary = parse_options_header(content_type)[1].get(b"boundary")
        if not boundary:
            raise bad_request("form: the Content-Type names no boundary")
        self._body = body
        self._events: deque[Part | bytes | None] = deque()  # begin of a part, its bytes, its end
        self._complete = False
        self._headers: dict[bytes, bytes] = {}
        self._line: tuple[bytearray, bytearray] = (bytearray(), bytearray())
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._on_part_begin,
                    "on_header_field": lambda data, start, end: self._line[_FIELD].extend(data[start:end]),
                    "on_header_value": lambda data, start, end: self._line[_VALUE].extend(data[start:end]),
                    "on_header_end": self._on_header_end,
                    "on_headers_finished": lambda: self._events.append(Part(self, self._headers)),
                    "on_part_data": lambda data, start, end: self._events.append(data[start:end]),
                    "on_part_end": lambda: self._events.append(None),
                    "on_end": self._on_end,
                },
                max_header_count=_HEADERS,
                max_header_size=_HEADER_BYTES,
            )
        except FormParserError as error:
            raise bad_request(f"form: {error}") from None

    async def parts(self, most: int | None = None) -> AsyncIterator[Part]:
        """The parts in order, at most `most`. Skips the unread rest of a part when the caller asks for the next."""
        part: Part | None = None
        for count in itertools.count():
            if part is not None:
                while await self.next_piece(part) is not None:
                    pass
            part = await self._next_part()
            if part is None:
                return
            if count == most:
                raise bad_request(f"form: it has more than {most} parts")
            yield part

    async def next_piece(self, part: Part) -> bytes | None:
        """The next bytes of the current part, None at its end."""
        if part.done:
            return None
        event = await self._next_event()
        if isinstance(event, bytes):
            return event
        if event is None:
            part.done = True
            return None
        raise _ends_early()

    async def _next_part(self) -> Part | None:
        while True:
            if not self._events and self._complete:
                while await self._body.next() is not None:  # skip what follows the last boundary
                    pass
                return None
            event = await self._next_event()
            if isinstance(event, Part):
                return event

    async def _next_event(self) -> Part | bytes | None:
        while not self._events:
            piece = await self._body.next()
            if piece is None or self._complete:
                raise _ends_early()
            try:
                self._parser.write(piece)
            except FormParserError as error:
                raise bad_request(f"form: {error}") from None
        return self._events.popleft()

    def _on_part_begin(self) -> None:
        self._headers = {}

    def _on_header_end(self) -> None:
        name, value = self._line
        self._headers[bytes(name).strip().lower()] = bytes(value).strip()
        name.clear()
        value.clear()

    def _on_end(self) -> None:
        self._complete = True


def _ends_early() -> RequestError:
    return bad_request("form: it ends before its last boundary")
