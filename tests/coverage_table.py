"""Prints the coverage of lines and branches by package, from the data that ``make coverage`` has collected."""

import io
import json
import sys
from collections import defaultdict
from pathlib import Path

import coverage


def sums(data_file=None):
    """Package → (covered, all) lines and branches together, as the percentages of coverage.py count them."""
    measured = coverage.Coverage(data_file=data_file) if data_file else coverage.Coverage()
    measured.load()
    path = Path(f"{data_file or '.coverage'}.json")
    try:
        measured.json_report(outfile=str(path), ignore_errors=True, show_contexts=False)
        files = json.loads(path.read_text(encoding="utf-8"))["files"]
    finally:
        path.unlink(missing_ok=True)
    counts = defaultdict(lambda: [0, 0])
    for name, file in files.items():
        parts = Path(name).parts
        if parts[-1] == "test.py":
            continue
        package = ".".join(parts[:2]) if len(parts) > 2 else parts[0]
        summary = file["summary"]
        covered = summary["covered_lines"] + summary["covered_branches"]
        everything = summary["num_statements"] + summary["num_branches"]
        for key in (package, parts[0], "all"):
            if key != package or len(parts) > 2:
                counts[key][0] += covered
                counts[key][1] += everything
    return counts


def main(files):
    tables = [sums(file) for file in files or [None]]
    names = sorted({name for counts in tables for name in counts}, key=lambda name: (name == "all", name))
    out = io.StringIO()
    out.write("| package |" + " lines and branches | % |" * len(tables) + "\n")
    out.write("| --- |" + " ---: | ---: |" * len(tables) + "\n")
    for name in names:
        cells = []
        for counts in tables:
            covered, everything = counts.get(name, (0, 0))
            cells += [f"{everything:,}", f"{100 * covered / everything:.1f}" if everything else ""]
        out.write(f"| {name} | {' | '.join(cells)} |\n")
    print(out.getvalue(), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
