"""How often comparisons of two models are right: coverage of the intervals, and differences found where there are none.

    python perf/comparison_coverage.py                      all; half an hour on one core
    python perf/comparison_coverage.py rdm --simulations 50 --print

Results are kept in perf/comparison_coverage.json, and written as a table into docs/comparison.md; `--print` only
prints them. Everything is seeded: the same versions give the same counts. Set OMP_NUM_THREADS=1 where several run side
by side.
"""

import json
import math
import sys
import time
from pathlib import Path

from _tables import between, keep, simulation_options
from comparison_cases import GROUPS, PairedCase, simulate_pair

HERE = Path(__file__).parent
STORE = HERE / "comparison_coverage.json"
PAGE = HERE.parent / "docs" / "comparison.md"
BEGIN, END = "<!-- begin: written by perf/comparison_coverage.py -->", "<!-- end -->"
SIZES = (10, 20, 50, 100, 200)


def cases(names: list[str]) -> list[PairedCase]:
    """Cases of these names, or all."""
    every = [case for group in GROUPS.values() for case in group]
    unknown = set(names) - {case.names[0] for case in every}
    if unknown:
        sys.exit(f"no case {', '.join(sorted(unknown))}; known: {', '.join(case.names[0] for case in every)}")
    return [case for case in every if not names or case.names[0] in names]


def cell(counts: dict | None) -> str:
    """Coverage and false positives in percent."""
    if counts is None:
        return ""
    if counts["tests"] < 0.9 * counts["simulations"] or counts["intervals"] < 0.9 * counts["simulations"]:
        return "none"
    return f"{100 * counts['held'] / counts['intervals']:.1f} · {100 * counts['found'] / counts['tests']:.1f}"


def table(store: dict) -> str:
    """Markdown table of all cases."""
    lines = [f"| compared | varies | {' | '.join(map(str, SIZES))} | ± |", "|---" * 8 + "|"]
    for title, group in GROUPS.items():
        lines.append(f"| *{title}* | | | | | | | |")
        for case in group:
            entry = store.get(case.names[0])
            if entry is None:
                continue
            cells = [cell(entry.get(str(n))) for n in SIZES]
            error = 100 * math.sqrt(0.95 * 0.05 / min(counts["simulations"] for counts in entry.values()))
            names = ", ".join(name if " " in name else f"`{name}`" for name in case.names)
            lines.append(f"| {names} | {case.units} | {' | '.join(cells)} | {error:.1f} |")
    return "\n".join(lines)


def page_with(text: str, page: str) -> str:
    """The page with `text` between its markers."""
    return between(page, BEGIN, END, text)


def main(arguments: list[str] | None = None) -> None:
    options = simulation_options(__doc__, arguments, metavar="CASE", names="as in the table's first column")
    for case in [] if options.tables else cases(options.names):
        for n in options.sizes or case.sizes:
            start = time.perf_counter()
            counts = simulate_pair(case, n, options.simulations)._asdict()
            print(
                f"{case.names[0]:26} {n:4} {cell(counts):>12} difference {counts['difference']:.4f} power "
                f"{counts['power']:.2f} widths {counts['widths']:.2f} {time.perf_counter() - start:.1f} s",
                flush=True,
            )
            if not options.print:
                keep(STORE, (case.names[0], str(n)), counts)
    if not options.print and STORE.exists():
        PAGE.write_text(page_with(table(json.loads(STORE.read_text())), PAGE.read_text()))


if __name__ == "__main__":
    main()
