"""Run notebooks in Jupyter's kernel, and store their outputs in the files.

    python perf/notebooks.py [docs/notebooks/score_your_model.ipynb …]

Without names, all of docs/notebooks. Each runs in an empty folder. What a cell writes to the standard error stream, as
progress is, is not stored, nor what an object shows only after a click. An error ends the run and leaves the file as it
was.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path

NOTEBOOKS = Path(__file__).resolve().parent.parent / "docs" / "notebooks"
VARYING = "output-varies"  # the tag of cells whose text differs from run to run
TIMEOUT = 600  # seconds for a cell, also on a loaded machine

_WIDGET = "application/vnd.jupyter.widget-view+json"
_FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)  # has other identifiers in each run
_NUMBER = re.compile(r"(?<![\w.])[-−+]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?(?![\w])")


def execute(notebook: dict) -> dict:
    """Return the notebook with the outputs of its code cells, run in a new, empty folder."""
    import nbformat
    from nbclient import NotebookClient

    parsed = nbformat.reads(json.dumps(notebook), as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        client = NotebookClient(parsed, timeout=TIMEOUT, kernel_name="python3", resources=resources)
        client.execute(env={**os.environ, "PYTHONPATH": _python_path(), "BRAINSCORE_PROGRESS": "off"})  # has seconds
    made = json.loads(nbformat.writes(parsed))
    cells = [cell | {"metadata": old["metadata"]} for cell, old in zip(made["cells"], notebook["cells"], strict=True)]
    return notebook | {"cells": [_what_is_kept(cell) if "outputs" in cell else cell for cell in cells]}


def _python_path() -> str:
    """What this process imports from, also where it was started in the folder of the checkout."""
    return os.pathsep.join([str(NOTEBOOKS.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])


def _what_is_kept(cell: dict) -> dict:
    kept, number = [], cell["execution_count"]
    for output in cell["outputs"]:
        if output.get("name") == "stderr" or _WIDGET in output.get("data", {}):
            continue
        if "text/html" in output.get("data", {}):
            html = _FOLDED.sub("", "".join(output["data"]["text/html"]))
            output = output | {"data": output["data"] | {"text/html": html.splitlines(keepends=True)}}
        previous = kept[-1] if kept else {}
        if output["output_type"] == previous.get("output_type") == "stream":  # printed in two pieces
            previous["text"] = [*previous["text"], *output["text"]]
        else:
            kept.append(output | ({"execution_count": number} if "execution_count" in output else {}))
    return cell | {"outputs": kept}


def differences(stored: dict, made: dict, tolerance: float = 0.03) -> list[str]:
    """What differs between the outputs of two runs, as sentences.

    Numbers may differ by `tolerance`, absolute or relative; pictures and the text of cells with the tag `output-varies`
    are compared by their kinds only.
    """
    found = []
    for number, (old, new) in enumerate(zip(stored["cells"], made["cells"], strict=True)):
        if old["cell_type"] != "code":
            continue
        if (before := _kinds(old)) != (after := _kinds(new)):
            found.append(f"cell {number} has outputs {after}, stored are {before}")
        elif VARYING not in old["metadata"].get("tags", []):
            pairs = zip(_texts(old), _texts(new), strict=True)
            found += [f"cell {number}: {b!r}, stored is {a!r}" for a, b in pairs if not _alike(a, b, tolerance)]
    return found


def _kinds(cell: dict) -> list[str]:
    return [
        kind
        for output in cell["outputs"]
        for kind in (
            [output["name"]] if output["output_type"] == "stream" else sorted(output.get("data", {"error": 0}))
        )
    ]


def _texts(cell: dict) -> list[str]:
    texts = []
    for output in cell["outputs"]:
        parts = {"": output["text"]} if "text" in output else output.get("data", {})
        texts += ["".join(text) for kind, text in sorted(parts.items()) if kind in ("", "text/plain", "text/html")]
    # addresses of objects, and pictures of stimuli
    return [re.sub(r'0x[0-9a-f]+|(?<=src=")data:[^"]*', "", text) for text in texts]


def _alike(stored: str, made: str, tolerance: float) -> bool:
    # a number with another count of digits moves what follows it in a table
    if _NUMBER.sub("#", stored).split() != _NUMBER.sub("#", made).split():
        return False
    numbers = [[_value(text) for text in _NUMBER.findall(all_text)] for all_text in (stored, made)]
    return all(abs(a - b) <= tolerance * max(1, abs(a)) for a, b in zip(*numbers, strict=True))


def _value(number: str) -> float:
    return float(number.replace(",", "").replace("−", "-"))


def main() -> None:
    """Run the notebooks that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", type=Path)
    with tempfile.TemporaryDirectory() as home:
        os.environ["BRAINSCORE_HOME"] = home  # nothing of the user's enters the outputs
        for path in parser.parse_args().notebooks or sorted(NOTEBOOKS.glob("*.ipynb")):
            start = time.perf_counter()
            made = execute(json.loads(path.read_text(encoding="utf-8")))
            path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            sys.stdout.write(f"{path.name}: {time.perf_counter() - start:.0f} s\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
