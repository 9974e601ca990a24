"""Run the code cells of notebooks, and store their outputs in the files.

python perf/notebooks.py docs/notebooks/multiverse.ipynb …

Cells run in one namespace, without Jupyter. An error ends the run and leaves the file as it was.
"""

import argparse
import ast
import contextlib
import io
import json
from pathlib import Path


def execute(notebook: dict) -> dict:
    """The notebook with the outputs of its code cells."""
    namespace: dict = {"__name__": "__main__"}
    cells, number = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number += 1
            cell = cell | {"execution_count": number, "outputs": _outputs("".join(cell["source"]), namespace, number)}
        cells.append(cell)
    return notebook | {"cells": cells}


def _outputs(source: str, namespace: dict, number: int) -> list[dict]:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {number}", "exec"), namespace)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), namespace)
    outputs = []
    if text := printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": text})
    if value is not None:
        draw = getattr(value, "_repr_svg_", None)
        data = {"image/svg+xml": draw()} if draw is not None else {"text/plain": str(value)}
        outputs.append({"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": data})
    return outputs


def main() -> None:
    """Run the notebooks that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="+", type=Path)
    for path in parser.parse_args().notebooks:
        made = execute(json.loads(path.read_text(encoding="utf-8")))
        path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
