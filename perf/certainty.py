"""Draw docs/certainty.png: intervals of one score in simulated experiments.

    python perf/certainty.py         half a minute on one core

The first twenty of 300 experiments with new stimuli and new neuroids; their mean is the true value.
"""

from pathlib import Path

import numpy as np
from coverage_cases.geometry_units import experiment

from brainscore_core.figures import Dots, DotsRow, Panel, panels
from brainscore_core.figures.export import save_figure
from brainscore_vision import load_metric

PICTURE = Path(__file__).parent.parent / "docs" / "certainty.png"
SHOWN, EXPERIMENTS, STIMULI, NEUROIDS = 20, 300, 100, 50


def panel(values, low, high, truth, heading) -> Panel:
    """Dots and intervals of the first experiments; the heading says how many of all intervals hold the truth."""
    holds = (low <= truth) & (truth <= high)
    rows = [
        DotsRow(label=f"{number + 1}", value=values[number], low=low[number], high=high[number], kind=int(not held))
        for number, held in enumerate(holds[:SHOWN])
    ]
    chart = Dots(
        rows=rows,
        title=heading,
        x_title="score before the ceiling",
        kinds=("holds the true value", "does not"),
        reference=truth,
        x_range=(0.65, 0.95),
        width=420,
    )
    share = f"{100 * np.mean(holds):.0f} % of {EXPERIMENTS} hold the true value"
    return Panel(chart=chart, heading=heading, notes=[share])


def main() -> None:
    """Simulate, and draw both kinds of intervals of the same scores."""
    metric, rng = load_metric("ridge"), np.random.default_rng(20261123)
    scores = [metric(*experiment(rng, STIMULI, NEUROIDS)) for _ in range(EXPERIMENTS)]
    values = np.array([float(score) for score in scores])
    spread = 1.96 * np.array([score.attrs["split_error"] for score in scores])
    low, high = np.array([score.attrs["ci"] for score in scores]).T
    truth = float(values.mean())
    charts = [
        panel(values, values - spread, values + spread, truth, "1.96 published errors (spread over splits)"),
        panel(values, low, high, truth, "95 % intervals (new stimuli and new neuroids)"),
    ]
    save_figure(panels([charts], title="Intervals of twenty simulated experiments"), PICTURE, dpi=140)
    for chart in charts:
        print(chart.heading, *chart.notes, sep=": ")


if __name__ == "__main__":
    main()
