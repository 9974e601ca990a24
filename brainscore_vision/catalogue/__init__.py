"""What is registered: plugins and their metadata, the tree of benchmarks, and what models were trained on.

>>> leaderboard_tree().roots, leaderboard_tree().children("average_vision")
(('average_vision', 'engineering_vision'), ('neural_vision', 'behavior_vision'))
>>> leaderboard_tree().ancestors("MajajHong2015.IT-pls"), leaderboard_tree()["MajajHong2015.IT-pls"].version
(('IT', 'neural_vision', 'average_vision'), 4)
>>> node_name("behavior"), node_name("IT"), node_name(None)
('behavior_vision', 'IT', None)
>>> listed_benchmark("MajajHong2015.IT-pls")
ListedBenchmark(version=4, parent='IT', control=False)
>>> listed_benchmark("Simulated2026.V1-pls").control
True
"""

from brainscore_core.results.tree import BenchmarkTable

BENCHMARKS = BenchmarkTable(
    __package__,
    short_names={
        "average": "average_vision",
        "neural": "neural_vision",
        "behavior": "behavior_vision",
        "behaviour": "behavior_vision",
        "engineering": "engineering_vision",
    },
    controls={"simulated": "simulated2026"},
)
"""Benchmarks of this package.

``average_vision`` holds ``neural_vision`` (V1, V2, V4, IT) and ``behavior_vision``; ``engineering_vision`` is separate.
"""

leaderboard_tree = BENCHMARKS.tree
own_benchmarks = BENCHMARKS.own_benchmarks
node_name = BENCHMARKS.node_name
listed_benchmark = BENCHMARKS.listed
