"""Numerics beside those of the field's libraries, alternately: himalaya, scikit-learn and rsatoolbox.

    python perf/field.py FIELD_PYTHON OUR_PYTHON [--runs 5] [--write] [CASE ...]

Each run is a process of its own on the same arrays; imports are not timed. Times are medians over the runs.
"""

import argparse
import json
import statistics
import time
import warnings
from pathlib import Path

import numpy as np

ALPHAS = [
    0.01,
    0.1,
    0.5,
    1.0,
    *np.linspace(1e1, 1e2, 4, endpoint=False).tolist(),
    *(alpha for e in (2, 3, 4, 5) for alpha in np.linspace(10.0**e, 10.0 ** (e + 1), 18, endpoint=False).tolist()),
    *np.linspace(1e6, 1e7, 19).tolist(),
]


def data(stimuli=2560, features=9216, neuroids=168, *, kind="float32"):
    """Features and responses that share 100 latent dimensions with a falling spectrum; without a mean."""
    rng = np.random.default_rng(0)
    latent = rng.standard_normal((stimuli, 100)) / np.sqrt(np.arange(1, 101))
    X = latent @ rng.standard_normal((100, features)) + 0.05 * rng.standard_normal((stimuli, features))
    Y = latent @ rng.standard_normal((100, neuroids)) + rng.standard_normal((stimuli, neuroids))
    return [(values - values.mean(axis=0)).astype(kind) for values in (X, Y)]


def _ridge_field(X, Y):
    from himalaya.kernel_ridge import KernelRidgeCV

    return lambda: KernelRidgeCV(alphas=ALPHAS, cv=5, fit_intercept=True).fit(X, Y).best_alphas_


def _ridge_here(X, Y):
    from brainscore_core.numerics import RidgeCV

    return lambda: RidgeCV(ALPHAS, alpha_per_target=True, cv=5).fit(X, Y).alpha


def _leave_one_out_field(X, Y):
    from sklearn.linear_model import RidgeCV

    return lambda: RidgeCV(ALPHAS).fit(X, Y).alpha_


def _leave_one_out_here(X, Y):
    from brainscore_core.numerics import RidgeCV

    return lambda: RidgeCV(ALPHAS).fit(X, Y).alpha


def _rdm_field(method):
    def make(X, _):
        from rsatoolbox.data import Dataset
        from rsatoolbox.rdm import calc_rdm

        return lambda: calc_rdm(Dataset(X), method=method).dissimilarities.mean()

    return make


def _rdm_here(dissimilarity, divisor=1):
    def make(X, _):
        from brainscore_core.numerics import rdm

        return lambda: rdm(X, dissimilarity=dissimilarity).mean() / divisor

    return make


CASES = {
    "99 penalties, 5 folds, 2560 × 9216 × 168 float32": (
        "himalaya", lambda: data(), _ridge_field, _ridge_here,
        # XXᵀ, its tridiagonal form, vectors of parts, these with 7.3 penalties on average, systems of 40 and 5 folds
        2560**2 * 9216 + 3 * 2560**3 + 7.3 * 2560**2 * (512 + 2 * 168) + 40 * 5 * (512**3 / 3 + 2 * 512**2 * 168),
    ),
    "99 penalties, leave one out, 2560 × 1000 × 168": (
        "scikit-learn", lambda: data(features=1000, kind="float64"), _leave_one_out_field, _leave_one_out_here,
        2 * 2560 * 1000**2 + 9 * 1000**3 + 30 * 2 * 2560 * 1000 * 168,  # XᵀX, its vectors, 30 predictions
    ),
    "correlation RDM, 1280 × 9216": (
        "rsatoolbox", lambda: data(1280, kind="float64"), _rdm_field("correlation"), _rdm_here("correlation"),
        1280**2 * 9216,
    ),
    "Euclidean RDM, 1280 × 9216": (
        "rsatoolbox", lambda: data(1280, kind="float64"), _rdm_field("euclidean"), _rdm_here("sqeuclidean", 9216),
        1280**2 * 9216,
    ),
}  # fmt: skip


def measure(case: str, side: int) -> None:
    """Run one case in this process and print it as JSON."""
    warnings.filterwarnings("ignore")
    _, make, *sides, _ = CASES[case]
    call = sides[side](*make())
    start, busy = time.perf_counter(), time.process_time()
    result = np.ravel(call())
    times = {"seconds": time.perf_counter() - start, "cpu": time.process_time() - busy}
    print(json.dumps(times | {"result": result.astype("f8").tolist()}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write the table into docs/performance.md")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("words", nargs="*", metavar="PYTHON PYTHON [CASE ...]")
    arguments = parser.parse_intermixed_args()
    if arguments.measure:
        measure(arguments.measure[0], int(arguments.measure[1]))
        return
    from _tables import interpreter, rates, run, table, write_section

    if len(arguments.words) < 2:
        parser.error("name two interpreters")
    pythons = [interpreter(name, what) for name, what in zip(arguments.words[:2], ("FIELD", "here"), strict=True)]
    rate = rates(pythons[1])
    rows = []
    for case in arguments.words[2:] or CASES:
        results: list[list[dict]] = [[], []]
        for _ in range(arguments.runs):
            for side, python in enumerate(pythons):
                results[side].append(run(python, str(Path(__file__).resolve()), "--measure", case, str(side)))
        theirs, ours = (statistics.median(result["seconds"] for result in found) for found in results)
        busy = statistics.median(result["cpu"] for result in results[1])
        library, *_, operations = CASES[case]
        values = [f"{np.median(found[-1]['result']):.6g}" for found in results]
        found = [np.asarray(found[-1]["result"]) for found in results]
        alike = f"{np.isclose(*found, rtol=1e-5, atol=0).mean():.1%}"
        share = f"{operations / ours / rate['float64']:.0%}"
        rows.append(
            [
                case,
                library,
                f"{theirs:.3f}",
                f"{ours:.3f}",
                f"{busy:.3f}",
                f"{theirs / ours:.1f}",
                share,
                *values,
                alike,
            ]
        )
        print("\t".join(rows[-1]), flush=True)
    head = [
        "case",
        "library",
        "library, s",
        "here, s",
        "CPU, s",
        "ratio",
        "of product rate",
        "its value",
        "our value",
        "alike",
    ]
    text = (
        f"{table(head, rows)}\n\nMedians of {arguments.runs} alternating runs; product of two 2560 × 2560 matrices in "
        f"the same run: {rate['float64'] / 1e9:.0f} GFLOP/s in float64."
    )
    print(text)
    if arguments.write:
        write_section("field", text)


if __name__ == "__main__":
    main()
