"""Models of libraries by name. No weights are fetched: networks are untrained, and a small one is in a local cache."""

import csv
import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from brainscore_core.domains import domain
from brainscore_core.errors import UserError
from brainscore_core.provenance import recording
from brainscore_core.runner.selection import select_models
from brainscore_vision import load_model, registered_folder, registries
from brainscore_vision.model_sources import libraries
from brainscore_vision.model_sources.libraries import (
    LibraryModel,
    is_library_model,
    library_names,
    matching_library_models,
    parse_library_model,
    published_layers,
    require_library_model,
)
from brainscore_vision.registries import model_registry
from brainscore_vision.scoring.pairs import run_pair, verify
from tests.optional import declare_operators

COMMIT = "0123456789abcdef0123456789abcdef01234567"

VISION = domain("vision")


@pytest.fixture(scope="module", autouse=True)
def importable_torchvision():
    declare_operators()


def preprocessing_of(model):
    return model.activations_model._extractor.preprocess


@pytest.fixture
def offline(monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)


@pytest.mark.parametrize(
    ("identifier", "parts"),
    [
        ("timm:resnet18", ("timm", "resnet18", None, None)),
        ("timm:vit_tiny_patch16_224.augreg_in21k", ("timm", "vit_tiny_patch16_224.augreg_in21k", None, None)),
        ("timm:resnet18-untrained", ("timm", "resnet18", None, 0)),
        ("torchvision:resnet18:IMAGENET1K_V1", ("torchvision", "resnet18", "IMAGENET1K_V1", None)),
        ("huggingface:org/name@v1", ("huggingface", "org/name", "v1", None)),
        ("huggingface:org/name@v1-untrained-seed12", ("huggingface", "org/name", "v1", 12)),
        ("open_clip:ViT-B-32:openai", ("open_clip", "ViT-B-32", "openai", None)),
        ("open_clip:ViT-B-32-untrained", ("open_clip", "ViT-B-32", None, 0)),
    ],
)
def test_parts_of_identifiers(identifier, parts):
    assert parse_library_model(identifier) == LibraryModel(*parts)


@pytest.mark.parametrize(
    "hostile",
    [
        "timm:", "timm:../x", "timm:a:b", "timm:a b", "timm:é", "torchvision:a:b:c", "huggingface:../../etc",
        "huggingface:/etc/passwd", "huggingface:a/b/c", "huggingface:./a", "huggingface:a/..", "huggingface:a@",
        "huggingface:a@../b", "open_clip:ViT-B-32", "open_clip:ViT-B-32:a/b", f"timm:{'a' * 300}",
    ],
)  # fmt: skip
def test_other_forms_are_refused(hostile):
    with pytest.raises(UserError, match="write it as"):
        parse_library_model(hostile)


def test_files_and_registered_models_are_not_of_libraries():
    assert not any(map(is_library_model, ["timm.py:make", "timm:here/mine.py:make", "resnet-18", "file:a", "timm", 3]))


def test_options_are_refused():
    with pytest.raises(UserError, match="model of a library, which takes no options"):
        model_registry.require("timm:resnet18", ["layers"])


class TestLibrariesThatAreNotInstalled:
    def test_the_remedy_says_what_to_install(self):
        if find_spec("open_clip") is not None:
            pytest.skip("open_clip is installed")
        with pytest.raises(UserError, match="pip install open_clip_torch"):
            library_names("open_clip")

    def test_of_the_extra(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "transformers", None)
        with pytest.raises(UserError, match=r"pip install 'brainscore\[models\]'"):
            require_library_model("huggingface:org/name")


class TestTimm:
    """Its import takes seconds, once for all tests."""

    @pytest.fixture(scope="class", autouse=True)
    def timm(self):
        return pytest.importorskip("timm")

    def test_patterns(self):
        found = matching_library_models("timm:ResNet18.*")
        assert "timm:resnet18.a1_in1k" in found
        assert all(name.startswith("timm:resnet18.") for name in found)
        assert select_models(VISION, ["timm:resnet10t-untrained-seed2", "timm:resnet1[08]t-untrained"]) == (
            ("timm:resnet10t-untrained-seed2", "timm:resnet10t-untrained"), {}
        )  # fmt: skip
        with pytest.raises(UserError, match="no model of timm matches"):
            select_models(VISION, ["timm:nothing*"])

    def test_an_unknown_name_has_nearest_ones(self):
        with pytest.raises(UserError, match=r"timm has no model 'resnet10tt'(.|\n)*timm:resnet10t"):
            select_models(VISION, ["timm:resnet10tt"])

    def test_untrained_twins_differ_by_seed_only(self):
        first, again, other = (
            load_model(f"timm:resnet10t-untrained{seed}").activations_model.model.state_dict()["conv1.0.weight"]
            for seed in ("", "-seed0", "-seed1")
        )
        assert first.equal(again)
        assert not first.equal(other)

    def test_preprocessing_and_layers(self):
        model = load_model("timm:resnet10t-untrained")
        assert model.identifier == "timm:resnet10t-untrained"
        assert [layer for layer in model.layers if layer.startswith("layer")] == [f"layer{n}" for n in range(1, 5)]
        assert preprocessing_of(model).resize == 201  # of 176 pixels with a crop of .875
        assert "seed 0" in model.remarks[0]

    def test_weights_that_are_neither_cached_nor_reachable(self, offline, monkeypatch, tmp_path):
        from huggingface_hub import constants

        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
        with pytest.raises(UserError) as caught:
            load_model("timm:resnet10t")
        message = str(caught.value)
        assert "timm cannot load 'resnet10t'" in message
        assert "$HF_HOME" in message
        assert "untrained" in message


class TestTorchvision:
    @pytest.fixture(scope="class", autouse=True)
    def torchvision(self):
        return pytest.importorskip("torchvision")

    def test_names(self):
        assert {"resnet50:IMAGENET1K_V1", "resnet50:IMAGENET1K_V2"} <= set(library_names("torchvision"))
        with pytest.raises(UserError, match="torchvision:resnet50:IMAGENET1K_V2"):
            require_library_model("torchvision:resnet50:V3")

    def test_published_layers(self):
        model = load_model("torchvision:alexnet-untrained")
        assert model.region_layer_map["IT"] == ["features.12"]
        assert model.layers[-1] == "classifier.5"
        assert preprocessing_of(model).crop == 224

    def test_weights_that_are_neither_cached_nor_reachable(self, monkeypatch, tmp_path):
        import torch

        monkeypatch.setattr(torch.hub, "download_url_to_file", _unreachable)
        monkeypatch.setenv("TORCH_HOME", str(tmp_path))
        with pytest.raises(UserError, match=r"torchvision cannot load 'alexnet'.*no network") as caught:
            load_model("torchvision:alexnet")
        assert "$TORCH_HOME" in str(caught.value)


class TestOpenClip:
    def test_the_part_for_images(self):
        pytest.importorskip("open_clip")
        model = load_model("open_clip:ViT-B-32-untrained")
        assert model.layers == [f"transformer.resblocks.{number}" for number in range(12)]
        with pytest.raises(UserError, match="open_clip:ViT-B-32:openai"):
            require_library_model("open_clip:ViT-B-32:nonesuch")


def _unreachable(*_args, **_options):
    raise OSError("no network")


@pytest.mark.parametrize(
    ("network", "layers"),
    [
        ("MobileNetV2Model", [f"layer.{number}" for number in range(16)]),  # not the convolutions of the stem
        ("RegNetModel", [f"encoder.stages.{number}" for number in range(4)]),  # nor attention to channels in blocks
        ("PvtModel", [f"encoder.block.{stage}.{block}" for stage in range(4) for block in range(2)]),
    ],
)
def test_blocks_or_stages_of_a_family(network, layers):
    transformers = pytest.importorskip("transformers")
    import torch

    from brainscore_vision.model_helpers.brain_transformation.layers import repeated_layers

    made = getattr(transformers, network)
    with torch.device("meta"):
        found, _ = repeated_layers(made(made.config_class()).eval(), torch.zeros(1, 3, 224, 224))
    assert found == layers


@pytest.mark.slow(reason="builds every network of the table")
def test_published_layers_exist_in_the_networks():
    pytest.importorskip("timm")
    import timm
    import torch
    import torchvision

    rows = published_layers()
    assert len(rows) >= 23
    missing = []
    for identifier, layers in rows.items():
        wanted = parse_library_model(identifier)
        with torch.device("meta"):
            network = (
                timm.create_model(wanted.name)
                if wanted.library == "timm"
                else torchvision.models.get_model(wanted.name, weights=None)
            )
        known = {name for name, _ in network.named_modules()}
        missing += [(identifier, layer) for layer in layers.values() if layer not in known]
    assert missing == []


@pytest.mark.skipif(
    "BRAINSCORE_FACTS" not in os.environ, reason="set BRAINSCORE_FACTS to the folder of what is published"
)
def test_published_layers_are_those_of_the_facts():
    with (Path(os.environ["BRAINSCORE_FACTS"]) / "models.csv").open(newline="", encoding="utf-8") as file:
        maps = [json.loads(row["region_layer_map"] or "{}") for row in csv.DictReader(file)]
    for layers in published_layers().values():
        assert {region: layer for region, layer in layers.items() if region != "behavior"} in maps


@pytest.fixture
def cached_repository(offline, monkeypatch, tmp_path):
    """A repository in the cache of Hugging Face, written by transformers, with weights from seed 5."""
    transformers = pytest.importorskip("transformers")
    import torch
    from huggingface_hub import constants

    torch.manual_seed(5)
    config = transformers.ViTConfig(
        hidden_size=24, num_hidden_layers=4, num_attention_heads=2, intermediate_size=32, image_size=32, patch_size=8
    )
    folder = tmp_path / "models--lab--small-vit"
    snapshot = folder / "snapshots" / COMMIT
    network = transformers.ViTModel(config)
    network.save_pretrained(snapshot)
    (snapshot / "preprocessor_config.json").write_text(
        '{"image_processor_type": "ViTImageProcessor", "do_resize": true, "size": {"height": 32, "width": 32}, '
        '"resample": 2, "do_rescale": true, "rescale_factor": 0.00392156862745098, "do_normalize": true, '
        '"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}'
    )
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text(COMMIT)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    libraries.library_names.cache_clear()
    yield network
    libraries.library_names.cache_clear()


class TestHuggingFace:
    def test_weights_preprocessing_layers_and_revision(self, cached_repository):
        with recording() as record:
            model = load_model("huggingface:lab/small-vit")
        weights = model.activations_model.model.state_dict()
        assert all(value.equal(weights[name]) for name, value in cached_repository.state_dict().items())
        assert preprocessing_of(model).transform.processor.size["height"] == 32
        assert len(model.layers) == 4
        assert any(COMMIT in item["text"] for item in record.items if item["kind"] == "remark")

    def test_a_revision_is_pinned(self, cached_repository):
        assert load_model(f"huggingface:lab/small-vit@{COMMIT}-untrained").identifier.endswith("-untrained")
        with pytest.raises(UserError, match="cannot load 'lab/small-vit@v9'"):
            load_model("huggingface:lab/small-vit@v9")

    def test_weights_that_the_repository_lacks(self, cached_repository, tmp_path):
        from transformers import ViTForImageClassification

        (snapshot,) = tmp_path.glob("*/snapshots/*")
        classifier = ViTForImageClassification(cached_repository.config)  # without the pooling layer of ViTModel
        classifier.save_pretrained(snapshot)
        model = load_model("huggingface:lab/small-vit")
        assert not any(layer.startswith("pooler") for layer in model.activations_model.layers())
        kept = {name: value for name, value in classifier.state_dict().items() if "layers.0" not in name}
        classifier.save_pretrained(snapshot, state_dict=kept)
        model, again = load_model("huggingface:lab/small-vit"), load_model("huggingface:lab/small-vit")
        assert "not among them, and initialised with seed 0: layers.0" in model.remarks[0]
        weights = again.activations_model.model.state_dict()
        assert all(value.equal(weights[name]) for name, value in model.activations_model.model.state_dict().items())

    def test_what_is_not_cached(self, cached_repository):
        with pytest.raises(UserError, match=r"huggingface cannot load 'lab/other'(.|\n)*\$HF_HOME"):
            load_model("huggingface:lab/other")

    def test_a_folder_of_the_same_name_is_not_taken(self, cached_repository, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "lab" / "small-vit").mkdir(parents=True)
        with pytest.raises(UserError, match="is a folder here"):
            load_model("huggingface:lab/small-vit")

    def test_patterns_match_what_is_cached(self, cached_repository, monkeypatch, tmp_path):
        import huggingface_hub

        scan = huggingface_hub.scan_cache_dir
        monkeypatch.setattr(huggingface_hub, "scan_cache_dir", lambda: scan(tmp_path))
        assert matching_library_models("huggingface:lab/*") == ["huggingface:lab/small-vit"]


@pytest.mark.slow(reason="selects layers of a network and scores it twice")
def test_receipts_plans_and_verification(cached_repository, tmp_path, monkeypatch):
    from brainscore_core.results.store import ResultsStore
    from brainscore_core.runner.selection import plan_selection, select

    identifier, benchmark = "huggingface:lab/small-vit", "Simulated2026.IT-rdm"
    store = ResultsStore(tmp_path / "results")
    receipt = run_pair(identifier, benchmark, results=store).receipt
    assert receipt.state == "scored"
    assert (receipt.model.plugin.name, receipt.model.plugin.distribution) == ("transformers", "transformers")
    assert receipt.model.plugin.version is not None
    assert registered_folder("model", identifier).name == "transformers"
    assert len(receipt.weights) == 1
    assert any(COMMIT in remark for remark in receipt.notes), receipt.notes
    [file] = (tmp_path / "results").rglob("huggingface%3Alab%2Fsmall-vit*")
    assert file.is_relative_to(tmp_path / "results")
    selection = select([identifier], [benchmark])
    assert [pair.model for pair in plan_selection(selection, store).done] == [identifier]
    assert verify(receipt).verdict in {"same", "within tolerance"}
    other_version = tmp_path / "transformers"
    other_version.mkdir()
    (other_version / "version.py").write_text("")
    resolver = registries.model_registry.resolver._replace(folder=lambda identifier: other_version)
    monkeypatch.setattr(registries.model_registry, "resolver", resolver)
    assert [(entry.why, entry.detail) for entry in plan_selection(selection, store).pending] == [
        ("code changed", "of the model")
    ]
