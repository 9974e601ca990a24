"""How often comparisons of two models are right: coverage of the intervals, and differences found where there are none.

    python perf/comparison_coverage.py                      all; an hour on one core
    python perf/comparison_coverage.py rdm --simulations 50 --print
    python perf/comparison_coverage.py ranks                false positives of ranks; a quarter of an hour

Results are kept in perf/comparison_coverage.json, and written as tables into docs/comparison_coverage.md; `--print`
only prints them. Everything is seeded: the same versions give the same counts. Set OMP_NUM_THREADS=1 where several run
side by side.
"""

import json
import math
import sys
import time
from pathlib import Path

from _tables import between, keep, simulation_options
from comparison_cases import GROUPS, RANKS, REGIMES, PairedCase, simulate_pair, simulate_ranks

HERE = Path(__file__).parent
STORE = HERE / "comparison_coverage.json"
PAGE = HERE.parent / "docs" / "comparison_coverage.md"
BEGIN, END = "<!-- begin: written by perf/comparison_coverage.py -->", "<!-- end -->"
BEGIN_RANKS, END_RANKS = "<!-- begin: ranks, by perf/comparison_coverage.py -->", "<!-- end: ranks -->"
SIZES = (10, 20, 50, 100, 200)


def cases(names: list[str]) -> list[PairedCase]:
    """Cases of these names, or all."""
    every = [case for group in GROUPS.values() for case in group]
    unknown = set(names) - {case.names[0] for case in every} - {"ranks"}
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
    lines = [f"| compared | varies | {' | '.join(map(str, SIZES))} | s.e. |", "|---" * 8 + "|"]
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


def table_of_ranks(store: dict) -> str:
    """Markdown table of ranks."""
    lines = [
        "| ranked by | varies | regime | false positives | of independent errors | power | s.e. | z |",
        "|---" * 8 + "|",
    ]
    for case in RANKS:
        for regime in REGIMES:
            counts = store.get("ranks", {}).get(case.name, {}).get(regime)
            if counts is None:
                continue
            n = counts["simulations"]
            found, independent, power = (
                f"{100 * share:.1f}" for share in (counts["found"] / n, counts["independent"] / n, counts["power"])
            )
            error = f"{100 * math.sqrt(0.05 * 0.95 / n):.1f}"
            spread = f"{counts['spread']:.2f}" if "spread" in counts else ""
            cells = (case.name, case.units, regime, found, independent, power, error, spread)
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def page_with(store: dict, page: str) -> str:
    """The page with the tables between their markers."""
    return between(between(page, BEGIN, END, table(store)), BEGIN_RANKS, END_RANKS, table_of_ranks(store))


def main(arguments: list[str] | None = None) -> None:
    options = simulation_options(__doc__, arguments, metavar="CASE", names="as in the table's first column, or ranks")
    for case in RANKS if not options.tables and (not options.names or "ranks" in options.names) else []:
        for regime in REGIMES:
            start = time.perf_counter()
            ranked = simulate_ranks(case, regime, options.simulations)._asdict()
            print(f"{case.name:40} {regime:20} {ranked} {time.perf_counter() - start:.1f} s", flush=True)
            if not options.print:
                keep(STORE, ("ranks", case.name, regime), ranked)
    for case in [] if options.tables or options.names == ["ranks"] else cases(options.names):
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
        PAGE.write_text(page_with(json.loads(STORE.read_text()), PAGE.read_text()))


if __name__ == "__main__":
    main()
