"""The first notebook of the examples runs; `make validate` runs all in a kernel of Jupyter."""

import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[3] / "examples").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook(path):
    pytest.importorskip("matplotlib")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(code) >= 5
    names = {}
    for number, text in enumerate(code):
        exec(compile(text, f"{path.name}, cell {number}", "exec"), names)
    # The schedule is that of the tutorial, whose makespan the book works out.
    assert names["result"].summary["makespan_ps"] == 47_626_000
    assert len(names["study"].runs) == 9
