"""Scores during training: what is scored when, what is logged, and that the training is not disturbed."""

from importlib.util import find_spec

import pytest

from brainscore.training import EpochScorer, lightning_callback, plot_trajectory, trajectory
from brainscore_core.benchmarks import BenchmarkBase
from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_core.metrics import Score, attach_uncertainty
from brainscore_core.scoring import ResultsStore
from tests.optional import declare_operators

torch = pytest.importorskip("torch")


class Bias(BenchmarkBase):
    """The score is the bias of the network's last layer, which a test sets."""

    def __call__(self, model):
        bias = float(model.activations_model.model[-1].bias[0].detach())
        if bias > 0.9:
            raise ValueError("too much bias")
        torch.rand(3)
        return attach_uncertainty(Score(bias), error=0.1, ci=(bias - 0.1, bias + 0.1), estimates="x", method="y")


@pytest.fixture(autouse=True)
def _benchmark():
    from brainscore_vision import benchmark_registry

    benchmark_registry["Bias2026-mean"] = lambda: Bias("Bias2026-mean", lambda: Score(1.0), version=1)
    yield
    del benchmark_registry["Bias2026-mean"]


@pytest.fixture
def network():
    return torch.nn.Sequential(torch.nn.Conv2d(3, 2, 16, stride=16), torch.nn.Flatten(), torch.nn.Linear(392, 1))


def set_bias(network, value):
    with torch.no_grad():
        network[-1].bias.fill_(value)


class Recorder:
    def __init__(self):
        self.lines = []

    def log_metrics(self, metrics, step):
        self.lines.append((step, metrics))


def train(scorer, network, biases):
    for epoch, bias in enumerate(biases):
        set_bias(network, bias)
        yield scorer(network, epoch)


def test_a_loop_scores_every_few_epochs_and_gives_a_trajectory(network, tmp_path):
    recorder = Recorder()
    for seed in (0, 1):
        scorer = EpochScorer("net", "Bias2026-mean", every=2, seed=seed, results=tmp_path, loggers=[recorder])
        scored = list(train(scorer, network, [0.1, 0.2, 0.3 + 0.1 * seed]))
        assert scored[1] == {}
    assert [step for step, _ in recorder.lines] == [0, 2, 0, 2]
    assert recorder.lines[1][1] == pytest.approx(
        {"brainscore/Bias2026-mean": 0.3, "brainscore/Bias2026-mean/low": 0.2, "brainscore/Bias2026-mean/high": 0.4}
    )
    frame = trajectory("net", results=tmp_path)
    assert list(zip(frame.seed, frame.epoch, frame.score.round(3), strict=True)) == [
        (0, 0, 0.1), (0, 2, 0.3), (1, 0, 0.1), (1, 2, 0.4),
    ]  # fmt: skip
    plot = plot_trajectory(frame, tmp_path / "net.svg")
    assert plot.svg.count("<circle") >= 2
    assert "seed 1" in plot.svg
    assert (tmp_path / "net.svg").read_text().startswith("<")
    with pytest.raises(UserError, match=r"'net\.gif'"):
        plot_trajectory(frame, tmp_path / "net.gif")
    receipt = ResultsStore(tmp_path).latest("net@seed1@epoch2", "Bias2026-mean")
    assert any("normalised by ImageNet's mean" in note for note in receipt.notes)
    assert receipt.model.plugin is None  # the code of the network is in no file of its own


@pytest.mark.slow(reason="trains a network")
def test_the_training_is_not_disturbed(network, tmp_path):
    network.train()
    network[1].eval()  # such as a frozen part
    set_bias(network, 0.5)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    EpochScorer("net", "Bias2026-mean", results=tmp_path)(network, 0)
    assert torch.equal(torch.rand(3), expected)
    assert [module.training for module in network.modules()] == [True, True, False, True]
    network(torch.zeros(1, 3, 224, 224)).sum().backward()
    optimizer.step()
    assert float(network[-1].bias.detach()) == pytest.approx(0.4)


def test_a_failure_is_a_warning(network, tmp_path, caplog):
    scorer = EpochScorer("net", "Bias2026-mean", results=tmp_path)
    assert list(train(scorer, network, [0.95, 0.5])) == [{}, {"Bias2026-mean": 0.5}]
    assert "net@epoch0 has no score on Bias2026-mean: ValueError: too much bias" in caplog.text


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"benchmarks": "Bais2026-mean"}, UnknownIdentifier, "Bias2026-mean"),
        ({"benchmarks": []}, UserError, "no benchmark is named"),
        ({"every": 0}, UserError, "every is 0"),
        ({"identifier": "my net"}, UserError, "U\\+0020 SPACE"),
        ({"seed": -1}, UserError, "the seed is -1"),
        ({"loggers": ["excel"]}, UserError, "no logger 'excel'"),
    ],
)
def test_mistakes_are_named_before_the_training(arguments, error, message):
    with pytest.raises(error, match=message):
        EpochScorer(**{"identifier": "net", "benchmarks": "Bias2026-mean", **arguments})


def test_nothing_to_show(tmp_path):
    with pytest.raises(UserError, match="'net' has no scores in"):
        trajectory("net", results=tmp_path)


def test_loggers_get_names_that_they_accept(monkeypatch):
    import sys
    import types

    lines = []
    wandb = types.SimpleNamespace(run=object(), log=lines.append)
    mlflow = types.SimpleNamespace(log_metrics=lambda metrics, step: lines.append((metrics, step)))
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)
    scorer = EpochScorer("net", "Bias2026-mean", loggers=["wandb", "mlflow"])
    for logger in scorer._loggers:
        logger.log_metrics({"brainscore/A.IT:cka": 0.5}, 3)
    assert lines == [{"brainscore/A.IT:cka": 0.5, "brainscore/epoch": 3}, ({"brainscore/A.IT.cka": 0.5}, 3)]
    wandb.run = None
    with pytest.raises(UserError, match="no active run"):
        scorer._loggers[0].log_metrics({}, 0)
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(UserError, match="mlflow is not installed"):
        EpochScorer("net", "Bias2026-mean", loggers=["mlflow"])


@pytest.mark.slow(reason="imports TensorBoard")
def test_tensorboard_reads_what_is_logged(network, tmp_path, monkeypatch):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    monkeypatch.chdir(tmp_path)
    scorer = EpochScorer("net", "Bias2026-mean", every=2, results=tmp_path / "results", loggers=["tensorboard"])
    list(train(scorer, network, [0.25, 0.3, 0.5]))
    (folder,) = (tmp_path / "runs").iterdir()
    events = EventAccumulator(str(folder)).Reload()
    logged = [(event.step, event.value) for event in events.Scalars("brainscore/Bias2026-mean")]
    assert logged == [(0, 0.25), (2, 0.5)]
    assert [event.value for event in events.Scalars("brainscore/Bias2026-mean/low")] == pytest.approx([0.15, 0.4])


@pytest.mark.slow(reason="imports Lightning")
@pytest.mark.filterwarnings("ignore")  # xdist would import the classes of its warnings, and with them torchvision
def test_a_trainer_of_lightning_scores_the_network_of_a_module(network, tmp_path):
    if find_spec("lightning") is None:
        pytest.skip("needs Lightning")
    declare_operators()  # Lightning imports torchvision
    from lightning import pytorch as lightning

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = network

        def training_step(self, batch, index):
            return self.net(batch[0]).mean()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.0001)

    class Loggers(lightning.loggers.CSVLogger):
        def log_metrics(self, metrics, step=None):
            lines.append(metrics)

    lines = []
    set_bias(network, 0.5)
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.zeros(2, 3, 224, 224)))
    scorer = EpochScorer("lit", "Bias2026-mean", every=2, results=tmp_path)
    trainer = lightning.Trainer(
        max_epochs=4, callbacks=[lightning_callback(scorer, network="net")], logger=Loggers(tmp_path),
        accelerator="cpu", enable_progress_bar=False, enable_checkpointing=False, enable_model_summary=False,
    )  # fmt: skip
    trainer.fit(Module(), data)
    frame = trajectory("lit", results=tmp_path)
    assert frame.epoch.tolist() == [0, 2, 4]
    assert frame.score.is_monotonic_decreasing
    assert [line["epoch"] for line in lines if "brainscore/Bias2026-mean" in line] == [0, 2, 4]


def test_without_lightning_the_remedy_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "lightning.pytorch", None)
    monkeypatch.setitem(sys.modules, "pytorch_lightning", None)
    with pytest.raises(UserError, match="pip install lightning"):
        lightning_callback(EpochScorer("net", "Bias2026-mean"))
