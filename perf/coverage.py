"""How often the 95 % intervals hold the true value, in simulated experiments.

    python perf/coverage.py                 all metrics and ceilings; an hour on one core
    python perf/coverage.py rdm cka --simulations 100 --print
    python perf/coverage.py rdm: "cka: 8 neuroids"      all regimes of a metric, and one

Results are kept in perf/coverage.json, and written as tables into docs/metrics_coverage.md; `--print` only prints them.
Everything is seeded: the same versions give the same counts. Set OMP_NUM_THREADS=1 where several run side by side.
"""

import json
import math
import sys
import time
from pathlib import Path

from _tables import between, keep, simulation_options
from coverage_cases import GROUPS, REGIMES, Case, Result, simulate

HERE = Path(__file__).parent
STORE = HERE / "coverage.json"
PAGE = HERE.parent / "docs" / "metrics_coverage.md"
BEGIN, END = "<!-- begin: written by perf/coverage.py -->", "<!-- end -->"
SIZES = (10, 20, 50, 100, 200)


def cases(names: list[str]) -> list[Case]:
    """Cases of these identifiers, or all; ``metric: regime`` is one regime, ``metric:`` all regimes of a metric."""
    regimes = [case for group in REGIMES.values() for case in group]
    every = [case for group in GROUPS.values() for case in group] + regimes
    names = names + [case.names[0] for case in regimes if case.names[0].split(":")[0] + ":" in names]
    names = [name for name in names if not name.endswith(":")]
    unknown = set(names) - {name for case in every for name in case.names}
    if unknown:
        sys.exit(f"no case for {', '.join(sorted(unknown))}; known: {', '.join(n for c in every for n in c.names)}")
    return [case for case in every if not names or set(names) & set(case.names)]


def percent(counts: dict) -> str:
    """Share of the intervals that held the truth, in percent; how many there were, where some were missing."""
    if not counts["intervals"]:
        return "none"
    share = f"{100 * counts['held'] / counts['intervals']:.1f}"
    missing = 1 - counts["intervals"] / (counts["simulations"] * counts.get("values", 1))
    return share if missing < 0.005 else f"{share} ({missing:.0%} none)"


def tables(store: dict) -> str:
    """Markdown tables, one a group."""
    parts = []
    for title, group in GROUPS.items():
        lines = [f"## {title}", ""]
        lines += [f"| identifier | units | {' | '.join(map(str, SIZES))} | ± | true value |", "|---" * 9 + "|"]
        for case in group:
            entry = store.get(case.names[0])
            if entry is None:
                continue
            cells = [percent(entry["sizes"][str(n)]) if str(n) in entry["sizes"] else "" for n in SIZES]
            fewest = min(counts["simulations"] for counts in entry["sizes"].values())
            error = 100 * math.sqrt(0.95 * 0.05 / fewest)
            names = ", ".join(f"`{name}`" for name in case.names)
            lines.append(f"| {names} | {case.units} | {' | '.join(cells)} | {error:.1f} | {case.truth} |")
        parts.append("\n".join(lines))
    for title, group in REGIMES.items():
        lines = [f"## {title}: what else varies", "", "| identifier | regime | images or stimuli | covered | ± |"]
        lines.append("|---" * 5 + "|")
        for case in group:
            name, regime = case.names[0].split(": ")
            sizes = store.get(case.names[0], {"sizes": {}})["sizes"]
            for n, counts in sorted(sizes.items(), key=lambda item: int(item[0])):
                error = 100 * math.sqrt(0.95 * 0.05 / counts["simulations"])
                lines.append(f"| `{name}` | {regime} | {n} | {percent(counts)} | {error:.1f} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def page_with(text: str, page: str) -> str:
    """The page with `text` between its markers."""
    return between(page, BEGIN, END, text)


def main(arguments: list[str] | None = None) -> None:
    options = simulation_options(__doc__, arguments, metavar="METRIC", names="identifiers, as in load_metric")
    for case in [] if options.tables else cases(options.names):
        for n in options.sizes or case.sizes:
            start = time.perf_counter()
            result: Result = simulate(case, n, options.simulations)
            counts = result._asdict()
            print(
                f"{case.names[0]:32} {n:4} {percent(counts):>14} above {result.above} below {result.below} "
                f"truth {result.truth:.4f} mean {result.mean:.4f} {time.perf_counter() - start:.1f} s",
                flush=True,
            )
            if not options.print:
                keep(STORE, (case.names[0], "sizes", str(n)), counts)
    if not options.print:
        PAGE.write_text(page_with(tables(json.loads(STORE.read_text())), PAGE.read_text()))


if __name__ == "__main__":
    main()
