"""What audits, controls and recoveries say of benchmarks whose data are at hand; written into docs/validity/results.md.

    BRAINSCORE_MIRROR=folder python perf/validity_results.py [--results FOLDER]

Assessments that FOLDER holds already, from the same code of the plugins, are not computed again.
"""

import argparse
import tempfile
from pathlib import Path

from _tables import between, table

from brainscore_core.results.assessments import AssessmentStore
from brainscore_core.results.validity import summary_of
from brainscore_vision.assessment.tasks import assess, plan

PAGE = Path(__file__).parent.parent / "docs/validity/results.md"
BEGIN, END = "<!-- begin: written by perf/validity_results.py -->", "<!-- end -->"
SIMULATED = [f"Simulated2026.{region}-{metric}" for region in ("V1", "IT") for metric in ("pls", "rdm")]
MODELS = {
    "Kriegeskorte2008.IT-monkey-rdm": "gabor",
    "Kriegeskorte2008.IT-human-rdm": "gabor",
    "Geirhos2021edge-error_consistency": None,
    "Geirhos2021silhouette-error_consistency": None,
    "Geirhos2021cueconflict-error_consistency": None,
    **dict.fromkeys(SIMULATED, "simulated-truth"),
}
"""Benchmark → model that is assessed with it."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", help="folder of results; by default a temporary one")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        store = AssessmentStore(options.results or folder)
        for benchmark, model in MODELS.items():
            for found in assess(plan([benchmark], models=[model] if model else []), store):
                said = summary_of(found).sentence if found.state == "assessed" else f"*{found.state}*: {found.reason}"
                print(f"{benchmark} {found.part} {found.seconds:.0f} s: {said}", flush=True)
                version = f"{found.created[:10]}, {found.seconds:.0f} s"
                rows.append([f"`{benchmark}`", found.part, model or "", said.replace("|", "\\|"), version])
            head = ["benchmark", "part", "model", "result", "computed"]
            PAGE.write_text(between(PAGE.read_text(), BEGIN, END, table(head, rows)))


if __name__ == "__main__":
    main()
