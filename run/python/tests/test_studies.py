"""Studies: a row for each run, the same however they were run."""

import pytest

import heddle

STUDY = {
    "workload": {"source": "pattern:linear-alltoall"},
    "study": {"ranks": [2, 4, 8], "size": ["8B", "1KiB"]},
}


def test_every_combination_has_a_row(tmp_path):
    shares = []
    found = heddle.study(STUDY, jobs=2, progress=shares.append)
    assert found.folder is None
    assert found.runs["workload.ranks"] == [2, 2, 4, 4, 8, 8]
    # All to all of n ranks are n (n - 1) messages.
    assert found.runs["messages"] == [2, 2, 12, 12, 56, 56]
    alone = heddle.run("pattern:linear-alltoall", ranks=4, size="1KiB")
    assert found.runs["makespan_ps"][3] == alone.summary["makespan_ps"]
    kept = heddle.study(STUDY, output=tmp_path / "study")
    assert list(kept.runs.rows()) == list(found.runs.rows())
    with pytest.raises(heddle.Error, match="6 of 6 runs are known already"):
        heddle.study(STUDY, output=tmp_path / "study")
    again = heddle.study(STUDY, output=tmp_path / "study", resume=True)
    assert list(again.runs.rows()) == list(found.runs.rows())


def test_a_failed_run_is_a_row(tmp_path):
    # The first run of a study is what finds that a schedule is wrong.
    wrong = tmp_path / "wrong.goal"
    wrong.write_text("num_ranks x\n")
    found = heddle.study({"workload": {"source": str(wrong)}, "study": {"seeds": 2}})
    assert found.failed == 2
    assert "wrong.goal" in found.runs["error"][0]


def test_files_and_numbers_are_checked_before_anything_runs():
    missing = {"workload": {"source": "missing.goal"}, "study": {"seeds": 2}}
    with pytest.raises(heddle.Error, match="missing.goal: No such file"):
        heddle.study(missing)
    for wrong in ({"jobs": 0}, {"chunk": 0}):
        with pytest.raises(ValueError, match="is at least 1, not 0"):
            heddle.study(STUDY, **wrong)


def test_mistakes_are_exceptions():
    with pytest.raises(heddle.Error, match="did you mean `ranks`"):
        heddle.study({"workload": {"source": "pattern:gather"}, "study": {"rank": [1]}})
    with pytest.raises(ValueError, match="output must name a folder"):
        heddle.study(STUDY, client=object())


class Client:
    """Does what a client of Dask does, in this process; parts come in reverse."""

    def __init__(self):
        self.tasks = []

    def scheduler_info(self):
        return {"workers": {"one": {}}}

    def submit(self, function, *arguments, pure):
        assert not pure
        self.tasks.append((function, arguments))
        return self

    def result(self):
        while self.tasks:
            function, arguments = self.tasks.pop()
            function(*arguments)


def test_parts_for_a_client(tmp_path):
    whole = heddle.study(STUDY, output=tmp_path / "whole")
    parts = heddle.study(STUDY, output=tmp_path / "parts", client=Client(), chunk=4)
    texts = [(tmp_path / name / "runs.csv").read_bytes() for name in ("whole", "parts")]
    assert texts[0] == texts[1]
    assert (parts.failed, len(parts.runs)) == (0, len(whole.runs))
    assert (tmp_path / "parts" / "found-4-6.jsonl").is_file()


def test_dask(tmp_path):
    distributed = pytest.importorskip("distributed")
    whole = heddle.study(STUDY, output=tmp_path / "whole")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as on:
        with distributed.Client(on) as client:
            heddle.study(STUDY, output=tmp_path / "dask", client=client, chunk=2)
    texts = [(tmp_path / name / "runs.csv").read_bytes() for name in ("whole", "dask")]
    assert texts[0] == texts[1]
    assert len(whole.runs) == 6
