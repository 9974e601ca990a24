"""How often the 95 % intervals hold the true value, in simulated experiments.

    python perf/coverage.py                 all metrics and ceilings; an hour on one core
    python perf/coverage.py rdm cka --simulations 100 --print
    python perf/coverage.py rdm: "cka: 8 neuroids"      all regimes of a metric, and one
    python perf/coverage.py halves          differences of halves that share neither stimuli nor neuroids

Results are kept in perf/coverage.json, and written as tables into docs/metrics_coverage.md; `--print` only prints them.
Everything is seeded: the same versions give the same counts. Set OMP_NUM_THREADS=1 where several run side by side.
"""

import json
import math
import statistics
import sys
import time
from pathlib import Path

from _tables import between, keep, simulation_options
from coverage_cases import GROUPS, REGIMES, Case, Result, halves, simulate

HERE = Path(__file__).parent
STORE = HERE / "coverage.json"
PAGE = HERE.parent / "docs" / "metrics_coverage.md"
BEGIN, END = "<!-- begin: written by perf/coverage.py -->", "<!-- end -->"
SIZES = (10, 20, 50, 100, 200)
HALVES = "halves"


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
        lines += [f"| identifier | units | {' | '.join(map(str, SIZES))} | s.e. | true value |", "|---" * 9 + "|"]
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
        head = "| identifier | regime | images or stimuli | covered | s.e. | power |"
        lines = [f"## {title}: what else varies", "", head, "|---" * 6 + "|"]
        for case in group:
            name, regime = case.names[0].split(": ")
            sizes = store.get(case.names[0], {"sizes": {}})["sizes"]
            for n, counts in ((n, sizes[str(n)]) for n in case.sizes if str(n) in sizes):
                error = 100 * math.sqrt(0.95 * 0.05 / counts["simulations"])
                lines.append(f"| `{name}` | {regime} | {n} | {percent(counts)} | {error:.1f} | {counts['power']:.0%} |")
        parts.append("\n".join(lines))
    return "\n\n".join([*parts, table_of_halves(store.get(HALVES, {}))])


def table_of_halves(store: dict) -> str:
    """Markdown table of the differences of halves."""

    def cell(found: dict, more: str = "") -> str:
        published = "" if found["published"] is None else f" ({found['published']:.1f})"
        return f"{found['z']:.2f}{more}{published}"

    drawn = f"{halves.EXPERIMENTS} experiments of {halves.STIMULI} stimuli and {halves.NEUROIDS} neuroids"
    fewest, most = sorted(set(halves.HALVINGS.values()))
    text = f"""Stimuli and neuroids of an experiment are divided at random into two halves, which share neither, and a
model is scored on each: z = (a − b) / √(error_a² + error_b²). If errors are right, z has a standard deviation of 1.
All recordings are simulated: `Simulated2026` (800 stimuli, 96 neuroids a region; `internal_consistency` takes no
model), and {drawn} that are drawn anew. Stimuli and neuroids are taken as
independent, without groups, as they are divided. In parentheses: with the published spread over splits in place of the
error.

Halvings of the same recordings ({fewest}, of `ridge` and `rdm` {most}; {halves.HALVINGS_OF_EACH} of each drawn
experiment) share their data, so that their standard deviation is that over new data only approximately: *scatter* is
the standard deviation of this value over single drawn experiments. *Drawn experiments* are independent of each other;
± is their standard error."""
    labels = [f"{region}, {model}" for region in ("V1", "IT") for model in ("gabor", "small-edges")]
    head = f"| identifier | {' | '.join(labels)} | together | drawn experiments | scatter |"
    lines = ["## Halves of one experiment", "", text, "", head, "|---" * 8 + "|"]
    for name in (name for name in halves.METRICS if name in store):
        found = store[name]
        cells = [cell(found[label]) if label in found else "" for label in labels]
        together = math.sqrt(statistics.fmean(found[label]["z"] ** 2 for label in labels if label in found))
        independent = cell(found["drawn"], f" ± {found['drawn']['z_error']:.2f}")
        cells += [f"{together:.2f}", independent, f"{found['drawn']['scatter']:.2f}"]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def page_with(text: str, page: str) -> str:
    """The page with `text` between its markers."""
    return between(page, BEGIN, END, text)


def main(arguments: list[str] | None = None) -> None:
    options = simulation_options(__doc__, arguments, metavar="METRIC", names="identifiers, as in load_metric")
    names = [name for name in options.names if name != HALVES]
    if HALVES in options.names or not (options.names or options.tables):
        for name in halves.METRICS:
            for label, found in halves.measure(name, options.simulations):
                print(f"{name:22} {label:16} {found}", flush=True)
                if not options.print:
                    keep(STORE, (HALVES, name, label), found)
    for case in [] if options.tables or (options.names and not names) else cases(names):
        for n in options.sizes or case.sizes:
            start = time.perf_counter()
            result: Result = simulate(case, n, options.simulations)
            counts = result._asdict()
            print(
                f"{case.names[0]:32} {n:4} {percent(counts):>14} above {result.above} below {result.below} "
                f"power {result.power:.2f} truth {result.truth:.4f} mean {result.mean:.4f} "
                f"{time.perf_counter() - start:.1f} s",
                flush=True,
            )
            if not options.print:
                keep(STORE, (case.names[0], "sizes", str(n)), counts)
    if not options.print:
        PAGE.write_text(page_with(tables(json.loads(STORE.read_text())), PAGE.read_text()))


if __name__ == "__main__":
    main()
