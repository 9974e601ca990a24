"""What pairs take, measured: writes scoring/costs.json, from which runs are predicted where no receipts are.

    brainscore run --models pixels gabor 'resnet*' --benchmarks 'Simulated2026.*' --results measured
    python perf/costs.py measured

Of models and benchmarks that come with the package; those of other plugins are left out. What the table held of other
pairs stays, unless --new is given; all of it should be from one machine.
"""

import argparse
import json
from pathlib import Path

from brainscore_core.runner.plan import costs_table
from brainscore_core.scoring import ResultsStore
from brainscore_vision import benchmark_registry, model_registry

TABLE = Path(__file__).resolve().parent.parent / "brainscore_vision" / "scoring" / "costs.json"


def in_tree(registry, identifier: str) -> bool:
    """Whether something comes with the package."""
    return identifier in registry and registry.location(identifier).source == "built in"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="+", help="folders of receipts, made on this machine")
    parser.add_argument("--new", action="store_true", help="forget what the table holds")
    arguments = parser.parse_args()
    receipts = [
        receipt
        for folder in arguments.results
        for receipt in ResultsStore(folder).listing().receipts
        if in_tree(model_registry, receipt.model.identifier)
        and in_tree(benchmark_registry, receipt.benchmark.identifier)
    ]
    table = costs_table(receipts)
    if TABLE.is_file() and not arguments.new:
        before = json.loads(TABLE.read_text(encoding="utf-8"))
        measured = {tuple(pair[:2]) for pair in table["pairs"]}
        table["pairs"] = sorted(table["pairs"] + [pair for pair in before["pairs"] if tuple(pair[:2]) not in measured])
        table["machine"] = table["machine"] or before["machine"]
    lines = ",\n".join(f"    {json.dumps(pair, ensure_ascii=False)}" for pair in table["pairs"])
    head = f'  "version": {table["version"]},\n  "machine": {json.dumps(table["machine"], ensure_ascii=False)},\n'
    text = f'{{\n{head}  "pairs": [\n{lines}\n  ]\n}}\n'
    json.loads(text)
    TABLE.write_text(text, encoding="utf-8")
    print(f"{TABLE}: {len(table['pairs'])} pairs, {sum(pair[3] is not None for pair in table['pairs'])} with memory")


if __name__ == "__main__":
    main()
