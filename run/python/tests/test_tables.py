"""Tables: the columns of Arrow, and what other packages make of them."""

import ctypes
import gc

import pytest

import heddle


class ArrowArray(ctypes.Structure):
    """`struct ArrowArray` of Arrow's C data interface."""


ArrowArray._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowArray))),
    ("private_data", ctypes.c_void_p),
]


class ArrowArrayStream(ctypes.Structure):
    """`struct ArrowArrayStream` of Arrow's C stream interface."""

    _fields_ = [
        ("get_schema", ctypes.c_void_p),
        ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ArrowArray))),
        ("get_last_error", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]


def read_stream(table):
    """The array of a table, and the capsule that it came from."""
    capsule = table.__arrow_c_stream__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    place = pointer(capsule, b"arrow_array_stream")
    stream = ArrowArrayStream.from_address(place)
    array = ArrowArray()
    assert stream.get_next(place, ctypes.byref(array)) == 0
    end = ArrowArray()
    assert stream.get_next(place, ctypes.byref(end)) == 0
    assert not end.release
    return array, capsule


def test_parquet_folders(tmp_path):
    """pyarrow reads the files with the types of the schema, and `read` as it reads CSV."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    runs = {}
    for form in ("csv", "parquet"):
        heddle.run(
            "pattern:halo2d", ranks=16, size="1KiB", tables=["ranks", "messages", "activity"],
            output=tmp_path / form, tables_format=form,
        )
        runs[form] = heddle.read(tmp_path / form)
    assert runs["csv"].tables == runs["parquet"].tables == ["activity", "messages", "ranks"]
    for name in runs["csv"].tables:
        ours = pyarrow.table(runs["csv"].table(name))
        theirs = parquet.read_table(tmp_path / "parquet" / f"{name}.parquet")
        assert theirs.num_rows == ours.num_rows > 0
        # Parquet has one type of text; Arrow tells texts of 32-bit offsets from those of 64.
        plain = [pyarrow.string() if kind == pyarrow.large_string() else kind
                 for kind in ours.schema.types]
        assert theirs.schema.types == plain
        assert theirs.to_pydict() == ours.to_pydict()
        assert pyarrow.table(runs["parquet"].table(name)).to_pydict() == ours.to_pydict()
    types = dict(zip(theirs.schema.names, theirs.schema.types))
    assert types["finish_ps"] == pyarrow.uint64()


def test_parquet_studies(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    what = {"workload": {"source": "pattern:gather"}, "study": {"ranks": [4, 8]}}
    one = heddle.study(what, output=tmp_path / "a", tables_format="parquet", jobs=1)
    two = heddle.study(what, jobs=1)
    assert parquet.read_table(tmp_path / "a" / "runs.parquet").num_rows == 2
    assert not (tmp_path / "a" / "runs.csv").exists()
    assert list(one.runs.rows()) == list(two.runs.rows())


@pytest.fixture
def messages():
    return heddle.run("pattern:linear-alltoall", ranks=8, size="1KiB", tables=["messages"]).messages


def test_columns_are_not_copied(messages):
    """Each stream of a table leads to the same memory, which outlives the table."""
    first, capsule = read_stream(messages)
    second, other = read_stream(messages)
    assert (first.length, first.n_children) == (56, len(messages.columns))
    size = messages.columns.index("size")
    places = [array.children[size].contents.buffers[1] for array in (first, second)]
    assert places[0] == places[1]
    expected = messages["size"]
    del messages, capsule, other
    second.release(ctypes.byref(second))
    gc.collect()
    values = (ctypes.c_uint64 * 56).from_address(places[0])
    assert list(values) == expected == [1024] * 56
    first.release(ctypes.byref(first))
    assert not first.release


def test_a_capsule_that_nobody_takes_is_released(messages):
    for _ in range(1000):
        messages.__arrow_c_stream__()
        messages.__arrow_c_schema__()


def test_columns_by_name(messages):
    assert messages.columns[:3] == ["id", "source", "destination"]
    assert messages.units["delivered_ps"] == "ps"
    rows = list(messages.rows())
    assert len(rows) == len(messages) == 56
    assert all(row["injected_ps"] < row["delivered_ps"] for row in rows)
    with pytest.raises(KeyError, match="no column `sice`"):
        messages["sice"]


def test_empty_cells(tmp_path):
    # A message that is never received has no time of its match.
    schedule = heddle.Schedule(2)
    schedule[0].send(1, 8)
    table = heddle.run(schedule, tables=["messages"]).messages
    assert table["matched_ps"] == [None]
    pyarrow = pytest.importorskip("pyarrow")
    assert pyarrow.table(table)["matched_ps"].to_pylist() == [None]


def test_pyarrow_takes_a_table(messages):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(messages)
    assert table.schema.field("tag").type == pyarrow.int64()
    assert table.schema.field("size").type == pyarrow.uint64()
    assert table.to_pylist() == list(messages.rows())
    table.validate(full=True)
    # The values lie where the table has them.
    array, capsule = read_stream(messages)
    column = messages.columns.index("posted_ps")
    own = array.children[column].contents.buffers[1]
    assert table["posted_ps"].chunk(0).buffers()[1].address == own
    array.release(ctypes.byref(array))
    del capsule


def test_texts_and_flags():
    pyarrow = pytest.importorskip("pyarrow")
    result = heddle.run("pattern:gather", ranks=3, tables=["timeline"])
    table = pyarrow.table(result.timeline)
    assert set(table["activity"].to_pylist()) == set(result.timeline["activity"])
    quick = {"precision": 0.5, "batches": 10, "length": "64B", "batch": "5us"}
    traffic = heddle.Traffic("uniform", load=0.1, **quick)
    points = heddle.run(traffic, topology="torus:dims=2x2", network="packet").points
    assert pyarrow.table(points)["steady"].to_pylist() == points["steady"]


def test_pandas(messages):
    pytest.importorskip("pandas")
    frame = messages.to_pandas()
    assert frame["size"].sum() == 56 * 1024
    assert frame.groupby("source").size().tolist() == [7] * 8


def test_plots(messages):
    pytest.importorskip("matplotlib")
    result = heddle.run("pattern:gather", ranks=4, tables=["timeline"])
    bars = result.plot_critical_path()
    assert [bar.get_width() > 0 for bar in bars.patches].count(True) >= 2
    axes = result.plot_timeline()
    assert len(axes.patches) == len(result.timeline)
    assert axes.get_ylabel() == "rank"
    lines = messages.plot("id", "delivered_ps", by="source").get_lines()
    assert len(lines) == 8
    ladder = heddle.ladder("pattern:gather", ranks=4, topology="star:hosts=4")
    assert len(ladder.plot().patches) == len(ladder.rungs)
