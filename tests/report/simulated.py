"""Receipts of models and benchmarks that do not exist: simulated throughout."""

from random import Random

from brainscore_core.results.aggregates import Tree, TreeNode
from brainscore_core.scoring import (
    AttachmentInfo,
    BenchmarkInfo,
    CeilingEstimate,
    DataItem,
    Environment,
    ErrorInfo,
    Estimate,
    FileItem,
    Memory,
    ModelInfo,
    PluginCode,
    Receipt,
    RunInfo,
    Timings,
    WeightsItem,
)

ENVIRONMENT = Environment(
    python="CPython 3.12.1",
    platform="Linux 6.1 x86_64",
    cpu="Simulated CPU",
    cpu_count=8,
    packages={"numpy": "2.1.0", "brainscore": "0.1.0", "torch": "2.5.0"},
)
RUN = RunInfo(id="simulated-run", isolated=True, environment="e" * 64, packages={"timm": "1.0.9"})


def receipt(
    model="model", benchmark="A2026.IT-pls", value=0.5, *, control=False, ceiling=0.8, state="scored", **changes
):
    """A receipt; `changes` are its fields."""
    fields = {
        "model": ModelInfo(identifier=model, plugin=PluginCode(name="simulated", sha256="a" * 64)),
        "benchmark": BenchmarkInfo(identifier=benchmark, version=3, control=control, bibtex="@article{a & b}"),
        "state": state,
        "created": "2026-01-02T03:04:05.000006Z",
        "ceiling": CeilingEstimate(
            value=ceiling, error=0.01 if ceiling else None, meaning="reliability" if ceiling else "none"
        ),
        "environment": ENVIRONMENT,
    }
    if state == "scored":
        fields["score"] = Estimate(
            value=value, error=0.05, ci=(value - 0.1, value + 0.1), ci_level=0.95, ci_estimates="over neuroids",
            ci_method="bootstrap", scale="ceiled" if ceiling else "unceiled",
        )  # fmt: skip
        fields["raw"] = Estimate(value=value * 0.8, error=0.04)
    return Receipt(**(fields | changes)).identified()


def failed(model="broken", benchmark="A2026.IT-pls", **changes):
    """A receipt of an error."""
    error = ErrorInfo(type="ValueError", message="<b>boom</b>", traceback="Traceback …\nValueError: boom")
    return receipt(model, benchmark, state="failed", reason="ValueError: boom", **({"error": error} | changes))


def small_tree():
    """``average_vision`` of V1 and IT, and ``engineering_vision``."""
    nodes = [
        TreeNode(identifier="average_vision", title="Global Score", order=0),
        TreeNode(identifier="neural_vision", parent="average_vision", title="Neural", order=0),
        TreeNode(identifier="engineering_vision", title="Engineering", order=1),
        TreeNode(identifier="V1", parent="neural_vision"),
        TreeNode(identifier="IT", parent="neural_vision"),
    ]
    for parent, names in (
        ("V1", ("B2026.V1-pls", "C2026.V1-rdm")),
        ("IT", ("A2026.IT-pls", "D2026.IT-rdm")),
        ("engineering_vision", ("E2026-top1",)),
    ):
        nodes += [TreeNode(identifier=name, parent=parent, benchmark=True, version=3) for name in names]
    return Tree(nodes)


MODELS = (
    "simulated-resnet50", "simulated-vit-b16", "simulated-alexnet", "simulated-convnext-tiny",
    "simulated-cornet-s", "simulated-vgg16", "simulated-gabor", "simulated-pixels",
)  # fmt: skip
BENCHMARKS = (
    ("MajajHong2015.V4-pls", 4, "V4"), ("MajajHong2015.IT-pls", 4, "IT"), ("Kar2019-ost", 2, "IT"),
    ("FreemanZiemba2013.V1-pls", 3, "V1"), ("FreemanZiemba2013.V2-pls", 3, "V2"),
    ("Rajalingham2018-i2n", 2, "behavior"), ("ImageNet-top1", 1, "engineering"),
    ("Own2026.IT-rdm", 1, None), ("Own2026-accuracy", 1, None), ("Simulated2026.IT-pls", 1, "IT"),
)  # fmt: skip


def many(models=MODELS, benchmarks=BENCHMARKS, *, seed=1, holes=True):
    """Receipts of all models on all benchmarks, with every state among them. All numbers are made up."""
    random = Random(seed)
    made = []
    for place, model in enumerate(models):
        skill = 0.75 - 0.55 * place / max(len(models) - 1, 1)
        for number, (benchmark, version, parent) in enumerate(benchmarks):
            value = min(0.97, max(-0.05, skill + random.gauss(0, 0.09) - 0.03 * (number % 3)))
            half = 0.02 + 0.05 * random.random()
            ceiled = number % 10 not in (6, 8)
            info = BenchmarkInfo(
                identifier=benchmark, version=version, parent=parent, control=benchmark.startswith("Simulated2026"),
                bibtex="@article{simulated2026, title={A benchmark that does not exist}}",
                plugin=PluginCode(name="simulated_benchmark", sha256=f"{number:064x}", version="1"),
            )  # fmt: skip
            common = {
                "model": ModelInfo(
                    identifier=model, plugin=PluginCode(name="simulated_models", sha256=f"{place:064x}")
                ),
                "benchmark": info,
                "created": f"2026-01-{1 + place % 28:02}T03:{number % 60:02}:05.{place % 1000:06}Z",
                "environment": ENVIRONMENT,
                "run": RUN,
                "device": "cpu",
                "weights": (WeightsItem(identifier=f"{model}.pth", sha256=f"{place + 7:064x}"),),
                "data": (DataItem(kind="data", identifier=benchmark.split("-")[0]),),
                "files": (FileItem(url=f"https://example.org/{benchmark}.nc", sha1=f"{number:040x}"),),
                "seeds": {"splits": 1},
                "timings": Timings(
                    load_model=0.5, load_benchmark=1.0, ceiling=0.2, score=10 + 5 * number, extraction=8 + 4 * number,
                    total=12 + 5 * number,
                ),
                "memory": Memory(peak_bytes=900_000_000 + 10_000_000 * number, raised_here=True),
            }  # fmt: skip
            hole = (3 * place + 5 * number) % 17 if holes else 99
            if hole == 1:
                continue
            if hole in (3, 5, 7):
                state = {3: "failed", 5: "not applicable", 7: "undefined"}[hole]
                reason = {
                    "failed": "ValueError: a simulated error",
                    "not applicable": "it answers no odd-one-out",
                    "undefined": "the benchmark returned NaN",
                }[state]
                if state == "failed":
                    common["error"] = ErrorInfo(
                        type="ValueError", message="a simulated error",
                        traceback='Traceback:\n  File "score.py", line 3\nValueError: a simulated error',
                    )  # fmt: skip
                    common["attachments"] = (AttachmentInfo(kind="log", name="", sha256="0" * 64, bytes=120),)
                made.append(Receipt(state=state, reason=reason, **common).identified())
                continue
            if hole == 9:
                common["benchmark"] = BenchmarkInfo(identifier=benchmark, version=version - 1, parent=parent)
            interval = {"ci": (value - half, value + half), "ci_level": 0.95, "ci_estimates": "median over neuroids"}
            score = Estimate(
                value=value, error=half / 1.96, ci_method="bootstrap of stimuli and neuroids", **interval,
                scale="ceiled" if ceiled else "unceiled",
            )  # fmt: skip
            ceiling = CeilingEstimate(value=0.82, error=0.012, meaning="reliability") if ceiled else None
            raw = Estimate(value=value * 0.82, error=half / 2.2)
            made.append(Receipt(state="scored", score=score, raw=raw, ceiling=ceiling, **common).identified())
    return made
