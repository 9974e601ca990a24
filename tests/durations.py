"""Sums the durations of tests: by part of CI, kind, module and fixture.

``pytest --durations-file=FILE`` writes one JSON object a line: a phase (setup, call, teardown) of a test, its kind and
the fixtures that were set up. ``python tests/durations.py FILE …`` prints tables of one or several of these files;
``--write PAGE`` puts them into a page of the documentation, between two comments.
"""

import argparse
import json
import os
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

BEGIN, END = "<!-- durations: begin -->", "<!-- durations: end -->"
BUDGETS = {"test": 480, "journeys": 840, "postgres": 180, "lowest": 120}  # part → seconds that it may take on two cores
LONGEST = 5.0  # seconds of a test that is not marked slow


@dataclass
class Durations:
    """Seconds of one part: of a run of pytest."""

    name: str
    tests: dict = field(default_factory=lambda: defaultdict(float))  # node id → seconds
    kinds: dict = field(default_factory=dict)  # node id → kind
    slow: set = field(default_factory=set)  # node ids that are marked slow
    outcomes: dict = field(default_factory=lambda: defaultdict(int))
    fixtures: dict = field(default_factory=lambda: defaultdict(lambda: [0, 0.0]))  # name → how often, seconds
    elapsed: float = float("nan")  # from the start of pytest to its end
    finished: str = "not finished"

    @classmethod
    def read(cls, path):
        durations = cls(Path(path).stem)
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if "elapsed" in row:
                durations.elapsed, durations.finished = row["elapsed"], row["finished"]
                continue
            durations.tests[row["test"]] += row["seconds"]
            durations.kinds[row["test"]] = row["kind"]
            if row.get("slow"):
                durations.slow.add(row["test"])
            if row["when"] == "call" or row["outcome"] != "passed":
                durations.outcomes[row["outcome"]] += 1
            for name, seconds in row["fixtures"]:
                durations.fixtures[name][0] += 1
                durations.fixtures[name][1] += seconds
        return durations

    @property
    def total(self):
        return sum(self.tests.values())

    def by(self, group):
        """Group → (number of tests, seconds), longest first; `group` gives the group of a node id."""
        sums = defaultdict(lambda: [0, 0.0])
        for test, seconds in self.tests.items():
            sums[group(test)][0] += 1
            sums[group(test)][1] += seconds
        return sorted(sums.items(), key=lambda item: -item[1][1])

    def warnings(self):
        budget = BUDGETS.get(self.name)
        if budget is not None and not self.elapsed <= budget:
            yield f"{self.name} took {self.elapsed:,.0f} s; its budget is {budget} s (tests/durations.py)"
        for test, seconds in sorted(self.tests.items(), key=lambda item: -item[1]):
            if seconds > LONGEST and test not in self.slow and self.kinds[test] != "browser":
                yield f"{test} took {seconds:.1f} s: make it faster, or mark it slow(reason=…)"


def module_of(test):
    return test.partition("::")[0]


def folder_of(test):
    """The first three folders of a test's file: ``tests/web/uploads``."""
    return "/".join(module_of(test).split("/")[:-1][:3]) or "."


def table(header, rows):
    lines = [" | ".join(header), " | ".join("---" if k == 0 else "---:" for k in range(len(header)))]
    lines += [" | ".join(str(cell) for cell in row) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def summary(files):
    """For the documentation: seconds by part and kind."""
    kinds = sorted({kind for file in files for kind in file.kinds.values()})
    rows = []
    for file in files:
        sums = dict(file.by(file.kinds.__getitem__))
        rows.append(
            [
                f"`{file.name}`",
                f"{file.elapsed:,.0f}",
                BUDGETS.get(file.name, ""),
                f"{len(file.tests):,}",
                f"{file.total:,.0f}",
                *(f"{sums[kind][1]:,.0f} ({sums[kind][0]:,})" if kind in sums else "" for kind in kinds),
            ]
        )
    return table(["part", "elapsed", "budget", "tests", "sum", *kinds], rows)


def details(file, count):
    """Everything else of a file, for making tests faster."""

    def sums(pairs):
        return [[f"{seconds:.1f}", number, name] for name, (number, seconds) in pairs[:count]]

    slowest = sorted(file.tests.items(), key=lambda item: -item[1])[:count]
    fixtures = sorted(file.fixtures.items(), key=lambda item: -item[1][1])
    parts = {
        "kinds": table(["seconds", "tests", "kind"], sums(file.by(file.kinds.__getitem__))),
        "folders": table(["seconds", "tests", "folder"], sums(file.by(folder_of))),
        "modules": table(["seconds", "tests", "module"], sums(file.by(module_of))),
        "fixtures": table(["seconds", "set-ups", "fixture"], sums(fixtures)),
        "tests": table(["seconds", "test"], [[f"{seconds:.1f}", name] for name, seconds in slowest]),
    }
    return "\n\n".join(f"{file.name}: {name}\n\n{text}" for name, text in parts.items())


def write(page, text):
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"{page} lacks the comments {BEGIN} and {END}")
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--count", type=int, default=30, help="rows of each table")
    parser.add_argument("--check", action="store_true", help="print the ten slowest tests and what exceeds its budget")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the summary into this page")
    arguments = parser.parse_args()
    missing = [str(path) for path in arguments.files if not path.is_file()]
    if missing:
        parser.error(f"not a file: {', '.join(missing)}")
    files = [Durations.read(path) for path in arguments.files]
    print(summary(files))
    if arguments.write:
        write(arguments.write, summary(files))
    elif arguments.check:
        slowest = sorted(((seconds, test) for file in files for test, seconds in file.tests.items()), reverse=True)[:10]
        print("\n" + table(["seconds", "slowest tests"], [[f"{seconds:.1f}", test] for seconds, test in slowest]))
        for warning in (warning for file in files for warning in file.warnings()):
            print(f"::warning::{warning}" if "GITHUB_ACTIONS" in os.environ else f"Warning: {warning}")
    else:
        for file in files:
            print(f"\n{details(file, arguments.count)}")


if __name__ == "__main__":
    main()
