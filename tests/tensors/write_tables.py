"""Writes tables.json: small files of pyarrow 26.0.1 and datasets 5.2.0, and what their columns hold.

python write_tables.py, where those two are installed. Each file is packed and in base64; `values` are a column's elements,
one after the other, null where there is none.
"""

from __future__ import annotations

import base64
import io
import json
import pathlib
import random
import tempfile
import zlib

import datasets
import pyarrow as pa
from pyarrow import ipc, parquet

ROWS = 60


def tables() -> tuple[pa.Table, pa.Table]:
    """(columns as token data has them, columns of every kind, with nulls)."""
    draw = random.Random(5)
    lists = [[draw.randrange(320) for _ in range(draw.choice([0, 3, 9]))] for _ in range(ROWS)]
    lists[30] = [319] * 40
    tokens = pa.table(
        {
            "input_ids": pa.array(lists, pa.list_(pa.int32())),
            "labels": pa.array([[-100, *row[1:]] if row else [] for row in lists], pa.list_(pa.int64())),
            "text": pa.array([f"text {k}" for k in range(ROWS)]),
        }
    )
    kinds = {
        "optional": pa.array([None if k % 10 == 3 else k for k in range(ROWS)], pa.int64()),
        "truth": pa.array([k % 3 == 0 for k in range(ROWS)]),
        "double": pa.array([k / 8 for k in range(ROWS)]),
        "half": pa.array([k / 8 for k in range(ROWS)], pa.float16()),
        "u8": pa.array([k * 4 for k in range(ROWS)], pa.uint8()),
        "u64": pa.array([2**63 + k for k in range(ROWS)], pa.uint64()),
        "vector": pa.array([[float(k), 1.0] for k in range(ROWS)], pa.list_(pa.float32(), 2)),
        "nested": pa.array([[[1, 2], [3]], None, [[], [4, None]]] * (ROWS // 3), pa.list_(pa.list_(pa.int32()))),
        "part": pa.array([{"a": 1}, None, {"a": None}] * (ROWS // 3), pa.struct([("a", pa.int32())])),
        "coded": pa.array([5, 6, None] * (ROWS // 3), pa.int32()).dictionary_encode(),
    }
    return tokens, pa.table({"text": tokens["text"], **kinds, "input_ids": tokens["input_ids"]})


def flat(values: list, kind: pa.DataType) -> list:
    """Elements of all lists, one after the other."""
    if isinstance(kind, (pa.ListType, pa.FixedSizeListType)):
        return [each for row in values if row is not None for each in flat(row, kind.value_type)]
    return values


def columns(table: pa.Table) -> dict[str, list]:
    out = {}
    for name in table.column_names:
        rows, kind = table[name].to_pylist(), table[name].type
        out[name] = flat(rows, kind)
        if pa.types.is_struct(kind):
            out[f"{name}.a"] = [None if row is None else row["a"] for row in out.pop(name)]
    return out


def as_parquet(table: pa.Table, **options: object) -> bytes:
    stream = io.BytesIO()
    options = {"compression": "none", "write_statistics": False, **options}
    parquet.write_table(table, stream, row_group_size=25, data_page_size=64, write_batch_size=8, **options)
    return stream.getvalue()


def as_arrow(table: pa.Table, codec: str | None, new: object = ipc.new_stream) -> bytes:
    stream = io.BytesIO()
    with new(stream, table.schema, options=ipc.IpcWriteOptions(compression=codec)) as writer:
        writer.write_table(table, max_chunksize=25)
    return stream.getvalue()


def by_datasets(tokens: pa.Table) -> dict[str, bytes]:
    """What `save_to_disk` and `to_parquet` write."""
    data = datasets.Dataset.from_list([{**row, "idx": 10**9 + k} for k, row in enumerate(tokens.to_pylist())])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data.save_to_disk(folder / "saved")
        data.to_parquet(folder / "t.parquet")
        return {
            "datasets.arrow": next((folder / "saved").glob("*.arrow")).read_bytes(),
            "datasets.parquet": (folder / "t.parquet").read_bytes(),
        }


def main() -> None:
    tokens, kinds = tables()
    ids = tokens.select(["input_ids", "labels"])
    numbers = kinds.select(["optional", "u64", "u8", "input_ids"])
    delta = {"optional": "DELTA_BINARY_PACKED", "u64": "DELTA_BINARY_PACKED", "u8": "DELTA_BINARY_PACKED"}
    delta["input_ids.list.element"] = "DELTA_BINARY_PACKED"
    floats = kinds.select(["double", "vector"])
    split = {"double": "BYTE_STREAM_SPLIT", "vector.list.element": "BYTE_STREAM_SPLIT"}
    files = {
        "kinds.parquet": as_parquet(kinds, use_dictionary=False),
        "kinds-dictionary.parquet": as_parquet(kinds),
        "kinds-2.parquet": as_parquet(kinds, data_page_version="2.0"),
        "kinds.arrow": as_arrow(kinds, None),
        "kinds-file.arrow": as_arrow(kinds, None, ipc.new_file),
        "kinds-lz4.arrow": as_arrow(kinds, "lz4"),
        "kinds-zstd.arrow": as_arrow(kinds, "zstd"),
        "delta.parquet": as_parquet(numbers, use_dictionary=False, column_encoding=delta),
        "split.parquet": as_parquet(floats, use_dictionary=False, column_encoding=split),
        "checked.parquet": as_parquet(ids, write_page_checksum=True),
        "stated.parquet": as_parquet(ids, write_statistics=True),
        **{
            f"{codec}.parquet": as_parquet(ids, compression=codec)
            for codec in ("snappy", "gzip", "zstd", "lz4", "brotli")
        },
        "snappy-2.parquet": as_parquet(ids, compression="snappy", data_page_version="2.0"),
        **by_datasets(tokens),
    }
    told = {
        "files": {name: base64.b64encode(zlib.compress(data, 9)).decode() for name, data in files.items()},
        "values": {**columns(kinds), **columns(tokens), "idx": [10**9 + k for k in range(ROWS)]},
    }
    pathlib.Path(__file__).with_name("tables.json").write_text(json.dumps(told, indent=0) + "\n")


if __name__ == "__main__":
    main()
