#!/bin/sh
# Runs every notebook of the examples in a kernel of Jupyter: validation/notebooks/run.sh TARGET.
# TARGET is the folder with libheddle_native.so, which cargo builds of the package heddle-python; a
# virtual environment is made in it.
set -eu
target=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
environment=$target/notebooks
python3 -m venv "$environment"
"$environment/bin/pip" install --quiet --disable-pip-version-check \
    nbclient ipykernel matplotlib pandas pyarrow
module=$environment/module
mkdir -p "$module/heddle"
cp "$root"/run/python/python/heddle/*.py "$module/heddle"
cp "$target/libheddle_native.so" "$module/heddle/_native.abi3.so"
PYTHONPATH=$module "$environment/bin/python" - "$root/examples" <<'PYTHON'
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

examples = Path(sys.argv[1])
notebooks = sorted([*examples.glob("*.ipynb"), *examples.glob("notebooks/*.ipynb")])
assert len(notebooks) == 5, notebooks
for path in notebooks:
    start = time.monotonic()
    notebook = nbformat.read(path, as_version=4)
    kept = [cell for cell in notebook.cells if cell.get("outputs")]
    assert not kept, f"{path.name} is stored with outputs"
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": examples}}
    ).execute()
    shown = sum(bool(cell.get("outputs")) for cell in notebook.cells)
    assert shown >= 3, f"{path.name} shows {shown} results"
    print(f"{path.name}: {shown} cells with results, {time.monotonic() - start:.1f} s")
PYTHON
