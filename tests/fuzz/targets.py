"""The parsers of everything that comes from outside: valid inputs, how they are changed, and what may be raised."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import gettempdir
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from lakebed_engine.operations.direct_writes.bulk_register import _Source
from lakebed_engine.operations.fsck.row_checks import look_at_metarange, look_at_part, look_at_range
from lakebed_engine.operations.merge.delta_log_merge import DeltaLogs, explained
from lakebed_engine.operations.merge.delta_log_replay import _VERSION, _Line
from lakebed_engine.tree.block import Block
from lakebed_engine.tree.manifest import tree_from
from lakebed_engine.tree.rows import delta_table
from lakebed_engine.tree.three_way import Side
from lakebed_engine.vocabulary.errors import InvalidPathError, InvalidRequestError
from lakebed_engine.vocabulary.records import Entry
from lakebed_format import encode_commit, encode_metarange, encode_patch, encode_range
from lakebed_format.bloom import may_hold
from lakebed_format.commits import CommitRecord, commit_id, decode_commit
from lakebed_format.decoding import FormatError
from lakebed_format.refs import BranchRef, RefsRecord, TagRef, _record, decode_marker, decode_refs, encode_refs, refs_id
from lakebed_format.schemas import LEVELED_SCHEMA, PATCH_SCHEMA
from lakebed_format.tree.files import DICTIONARIES, encode_file, encode_layer
from lakebed_format.tree.metaranges import TREE_KEY, decode_tree
from lakebed_format.tree.reading import RowFile, decode_rows, open_file
from lakebed_server.http.body import RequestBody
from lakebed_server.http.forms import Form
from lakebed_server.s3.operations import multipart, writing
from lakebed_server.s3.requests import xml_parse
from lakebed_server.s3.requests.aws_chunked import ChunkDecoder, ChunkSigner
from lakebed_server.s3.vocabulary import S3Error
from lakebed_server.vocabulary import ClientGoneError, RequestError

from tests.format.hostile import ID, parquet
from tests.format.support import layer_sample, layer_table, metarange_table, patch_table, sample, table
from tests.fuzz.mutate import of_bytes, of_json, of_parquet

Mutate = Callable[[Random, bytes], bytes]


@dataclass(frozen=True)
class Target:
    """A parser. `parse` uses what it decoded as the engine or the server does."""

    name: str
    seeds: Callable[[], Sequence[bytes]]
    mutate: Mutate
    parse: Callable[[bytes], object]
    errors: tuple[type[Exception], ...]


def _use(file: RowFile) -> None:
    file.bounds()
    file.bloom()
    for index in range(file.metadata.num_row_groups):
        block = Block(file.read([index]))
        list(block.listed(0, block.count))
        block.find("p/00007")


def _range(data: bytes) -> None:
    _use(open_file(data, "range", ID))
    look_at_range(data, ID, [("a", "z", 1, 1)], True)


def _patch(data: bytes) -> None:
    decode_rows(data, ID)
    _use(open_file(data, "patch", ID))
    look_at_range(data, ID, [("a", "z", 1, 1)], True)


def _layer(data: bytes) -> None:
    file = open_file(data, "layer", ID)
    bloom = file.bloom()
    assert bloom is None or may_hold(bloom, "p/00007") in (True, False)
    _use(file)
    look_at_part(data, ID, ("a", "z", 1, 1), True)


def _metarange(data: bytes) -> None:
    rows, inline_patch = decode_tree(data, ID)
    tree = tree_from(ID, rows, carries=inline_patch is not None)
    tree.seek("p/00007")
    assert all(info.file.startswith("_lakebed/") for info in tree.files)
    look_at_metarange(data, ID, True)


def _ranges() -> list[bytes]:
    rows = table(sample())
    return [encode_range(rows, ID), encode_range(table(sample(4001)), ID), parquet(rows, "range/1", compression="zstd")]


def _layers() -> list[bytes]:
    return [encode_layer(layer_table(layer_sample(count)), ID) for count in (40, 1200)]


_INFO = {"min_path": "a", "max_path": "b", "count": 40, "size_bytes": 9}
_INFOS = [{**_INFO, "range_id": f"{number:064x}"} for number in range(30)]
_OUTLINE = pa.Table.from_pylist([{**one, "level": number} for number, one in enumerate(_INFOS[:3])], LEVELED_SCHEMA)
_CARRIED = patch_table(layer_sample(40))


def _metaranges() -> list[bytes]:
    return [encode_metarange(metarange_table(_INFOS), ID), encode_metarange(_OUTLINE, ID), *_carriers()]


def _carriers() -> list[bytes]:
    return [encode_metarange(_OUTLINE, ID, _CARRIED)]


def _other_outline(random: Random, data: bytes) -> bytes:
    """Half of the time another tree in the metadata, in a file that is right."""
    if random.random() < 0.5:
        return of_parquet(random, data)
    stated = of_json(random, json.dumps(_OUTLINE.to_pydict()).encode())
    tags: Any = {TREE_KEY.decode(): stated}
    return encode_file(_CARRIED, PATCH_SCHEMA, "metarange", ID, DICTIONARIES, tags)


_COMMIT = CommitRecord(("a" * 64, "b" * 64), "ann", "two\nlines", 1_700_000_000, "c" * 64, {"k": "v"}, 3)
_REFS = RefsRecord(
    "u", "lake", "local://lake", "main", 5, metadata={"k": "v"}, branches=(BranchRef("main", "a" * 64),),
    tags=(TagRef("v1", "b" * 64),), protection=("main",),
)  # fmt: skip


def _seal_commit(body: Any) -> None:
    fields = {name: body[name] for name in CommitRecord.__slots__}
    body["id"] = commit_id(CommitRecord(**{**fields, "parents": tuple(body["parents"])}))


def _seal_refs(body: Any) -> None:
    body["id"] = refs_id(_record(body))


def _snapshots() -> list[bytes]:
    return [encode_refs(_REFS, 1000)[1]]


def _pushed(data: bytes) -> None:
    path = Path(gettempdir(), "lakebed-fuzz.parquet")
    path.write_bytes(data)
    source = _Source(str(path))
    try:
        for group in range(source.groups):
            for batch in source.batches(group):
                batch.to_pylist()
    finally:
        source.close()


def _sent() -> list[bytes]:
    rows = table(sample()).select(["path", "physical_address", "checksum", "size_bytes", "mtime", "metadata"])
    found = []
    for options in ({}, {"compression": "zstd", "data_page_version": "2.0"}, {"use_dictionary": False}):
        sink = pa.BufferOutputStream()
        pq.write_table(rows, sink, **options)
        found.append(sink.getvalue().to_pybytes())
    return [*found, *(encode_layer(layer_table(layer_sample(count)), ID) for count in (40, 2500))]


def _sent_parquet(random: Random, data: bytes) -> bytes:
    """The seal is not part of such a file: it may overwrite the last bytes of a page."""
    return of_parquet(random, data) if random.random() < 0.8 else of_bytes(random, data)


_LOG = [f"t/_delta_log/{number:020}.json" for number in range(4)] + [f"t/_delta_log/{3:020}.checkpoint.parquet", "t/a"]
_ENTRY = Entry("data/x", "0" * 32, 0, 1, 0, "", {}, bytes(32))


def _log(data: bytes) -> None:
    paths = sorted({one for one in data.decode(errors="replace").split("\n") if one}, key=str.encode)
    sides = [Side(delta_table([(path, _ENTRY) for path in paths[start::2]])) for start in (0, 1)]
    logs = DeltaLogs()
    for theirs, ours in ((sides[0], sides[1]), (sides[1], sides[1]), (None, sides[0]), (sides[0], None)):
        logs.look(theirs, ours, dict.fromkeys(paths, "source"))
    logs.mixed()
    line = _Line()
    for path in paths:
        explained(path)
        if _VERSION.search(path):
            line.note(path)
    assert line.is_short in (True, False)


def _xml(data: bytes) -> None:
    root = "Delete" if b"Delete" in data[:60] else "CompleteMultipartUpload"
    document = xml_parse.parse(data, root)
    (writing._asked if root == "Delete" else multipart._parts_of)(document)


_DOCUMENTS = (
    b'<?xml version="1.0"?><Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Object><Key>main/&#233;&lt;</Key>'
    b'</Object><!-- x --><Object><Key>b</Key><ETag>"1"</ETag></Object><Quiet>true</Quiet></Delete>',
    b"<CompleteMultipartUpload><Part><ETag>&quot;0&quot;</ETag><PartNumber>1</PartNumber><ChecksumCRC32>AAAAAA=="
    b"</ChecksumCRC32></Part><Part><PartNumber>2</PartNumber><ETag>1</ETag></Part></CompleteMultipartUpload>",
)


def body_of(data: bytes) -> RequestBody:
    """A body that comes in pieces of odd lengths."""
    pieces = [data[at : at + 37] for at in range(0, len(data), 37)] if len(data) < 5000 else [data]

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": pieces.pop(0) if pieces else b"", "more_body": bool(pieces)}

    return RequestBody(receive, {b"transfer-encoding": b"chunked"})


def _chunked(data: bytes) -> None:
    """The first line is how long the content is, and whether the chunks are signed."""
    head, _, rest = data.partition(b"\n")
    length, _, signed = head.partition(b" ")
    signer = ChunkSigner(bytes(32), b"20260101T000000Z", b"20260101/r/s3/aws4_request", b"0" * 64)
    decoder = ChunkDecoder(body_of(rest), int(length) if length.isdigit() else 0, signer if signed else None)

    async def job() -> int:
        return sum([len(piece) async for piece in decoder.pieces()])

    assert asyncio.run(job()) == (int(length) if length.isdigit() else 0)


_CHUNKS = (
    b"5\n5\r\nhello\r\n0\r\n\r\n",
    b"6\n3\r\nabc\r\n3;chunk-signature=" + b"0" * 64 + b"\r\ndef\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n",
    b"5 signed\n5;chunk-signature=" + b"0" * 64 + b"\r\nhello\r\n0;chunk-signature=" + b"0" * 64 + b"\r\n\r\n",
    b"900\n" + b"1\r\nx\r\n" * 900 + b"0\r\n\r\n",
)


def _form(data: bytes) -> None:
    """The first line is the Content-Type."""
    kind, _, rest = data.partition(b"\n")

    async def job() -> None:
        async for part in Form(body_of(rest), kind).parts(100):
            assert len(part.headers) <= 128
            await part.whole(1 << 20)

    asyncio.run(job())


_FORMS = (
    b"multipart/form-data; boundary=b\n"
    b'--b\r\nContent-Disposition: form-data; name="content"; filename="a/\xc3\xa9"\r\nX-Lakebed-Meta-K: v\r\n\r\nbytes'
    b'\r\n--b\r\nContent-Disposition: form-data; name="delete"\r\n\r\nx%20y\r\n--b--\r\n',
    b'multipart/form-data; boundary="a b"; charset=utf-8\n'
    b"--a b\r\nContent-Disposition: form-data; name*=utf-8''content; filename*0=a; filename*1=b\r\n\r\n\r\n--a b--",
)

WIRE = (S3Error, RequestError, ClientGoneError)
REFUSED = (InvalidRequestError, InvalidPathError)
FILE = (FormatError,)

TARGETS = {
    one.name: one
    for one in (
        Target("ranges", _ranges, of_parquet, _range, FILE),
        Target("patches", lambda: [encode_patch(_CARRIED, ID)], of_parquet, _patch, FILE),
        Target("layers", _layers, of_parquet, _layer, FILE),
        Target("metaranges", _metaranges, of_parquet, _metarange, FILE),
        Target("metaranges that carry a patch", _carriers, _other_outline, _metarange, FILE),
        Target(
            "commits", lambda: [encode_commit(_COMMIT)], lambda r, d: of_json(r, d, _seal_commit), decode_commit, FILE
        ),
        Target("ref snapshots", _snapshots, lambda r, d: of_json(r, d, _seal_refs), decode_refs, FILE),
        Target("markers", lambda: [b'{"uid":"u","name":"n"}'], of_json, decode_marker, FILE),
        Target("pushed layers", _sent, _sent_parquet, _pushed, REFUSED),
        Target("Delta logs", lambda: ["\n".join(_LOG).encode()], of_bytes, _log, ()),
        Target("XML", lambda: _DOCUMENTS, of_bytes, _xml, WIRE),
        Target("aws-chunked", lambda: _CHUNKS, of_bytes, _chunked, WIRE),
        Target("forms", lambda: _FORMS, of_bytes, _form, WIRE),
    )
}
