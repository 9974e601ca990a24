"""Products of features: what a file holds, what a store refuses, and what is collected while a pair is scored."""

import threading
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest

from brainscore_core.metrics import Score
from brainscore_core.numerics.stimulus_products import StimulusProducts
from brainscore_core.provenance import ignoring, recording
from brainscore_core.receipts.receipt import AnswerInfo, ProductsItem, Receipt
from brainscore_core.results.board import newest_of_each
from brainscore_core.results.products import (
    MOST_STIMULI,
    Products,
    collect_products,
    collecting,
    size_of,
    stored_size,
)
from brainscore_core.results.store import ResultsStore
from brainscore_core.runner.pair import PairRecorder
from brainscore_core.scoring import ReceiptError
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly


def features(names="cab", count=5, seed=0):
    values = np.random.default_rng(seed).standard_normal((len(names), count)) + 2
    coords = {"stimulus_id": ("presentation", list(names)), "layer": ("neuroid", ["conv"] * count)}
    return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])


def stored(store, recordings):
    with recording(), collecting() as collected:
        collect_products([recordings], "IT")
    ((item, content),) = collected.files
    store.keep_products(content, item.sha256)
    return item, content


@pytest.mark.parametrize(
    ("stimuli", "count", "offset"), [(30, 100, 0), (30, 12, 3), (30, 1, 3), (30, 2, 3), (30, 3, 0), (30, 90, 1e4)]
)
def test_equivalent_features_have_the_same_products_and_correlations(stimuli, count, offset):
    X = np.random.default_rng(0).standard_normal((stimuli, count)) + offset
    rows = np.array([7, 3, 21, 20, 0, 11, 29, 5])
    Z, X_rows = StimulusProducts.of(X).equivalent_features(rows), X[rows]
    np.testing.assert_allclose(Z @ Z.T, X_rows @ X_rows.T, rtol=1e-10)
    centred = [values - values.mean(axis=0) for values in (Z, X_rows)]
    scale = np.abs(centred[1] @ centred[1].T).max()
    np.testing.assert_allclose(centred[0] @ centred[0].T, centred[1] @ centred[1].T, atol=1e-8 * scale)
    if count > 1:
        np.testing.assert_allclose(np.corrcoef(Z), np.corrcoef(X_rows), atol=1e-6)


def test_products_of_a_file_are_those_that_were_stored(address):
    store = ResultsStore(address)
    item, content = stored(store, features())
    read = store.read_products(item)
    assert (read.stimuli, item.layers, item.stimuli) == (("a", "b", "c"), ("conv",), 3)
    np.testing.assert_array_equal(read.values.centred, Products.of(features()).values.centred)
    np.testing.assert_array_equal(read.values.row_mean, features().values.mean(axis=1)[[1, 2, 0]])
    assert 0 < len(content) <= size_of(3) + 60
    assert stored(store, features())[0] == item  # written once


def test_stored_products_that_are_not_what_the_receipt_names_are_refused(tmp_path):
    store = ResultsStore(tmp_path)
    item, content = stored(store, features())
    path = tmp_path / ".products" / item.sha256
    for changed in (content[:-8], content + b"0", content.replace(b'"a"', b'"z"'), stored(store, features("xyz"))[1]):
        path.write_bytes(changed)
        with pytest.raises(ReceiptError, match="has changed since it was written"):
            store.read_products(item)
    store.keep_products(content, item.sha256)  # scored again
    assert store.read_products(item).stimuli == ("a", "b", "c")
    path.unlink()
    with pytest.raises(ReceiptError, match="is missing"):
        store.read_products(item)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content.replace(b'"version": 1', b'"version": 2'), "version 2 of their format"),
        (lambda content: content[:-16], "incomplete"),
        (lambda content: b"netCDF" + content, "not products"),
        (lambda content: content.split(b"\n")[0] + b"\n[" * 9000, "not products"),
        (lambda content: content.replace(b'"stimuli": [', b'"names": ['), "do not say"),
        (lambda content: content.replace(b'["a"', b"[" + b'"a",' * MOST_STIMULI + b'"a"'), "do not say"),
    ],
)
def test_content_of_another_kind_is_refused(change, message):
    with pytest.raises(ReceiptError, match=message):
        Products.from_bytes(change(Products.of(features()).to_bytes()))


def test_processes_that_write_at_once_leave_one_whole_file(tmp_path):
    stores = [ResultsStore(tmp_path) for _ in range(8)]
    content = Products.of(features(count=40)).to_bytes()
    digest = sha256(content).hexdigest()
    threads = [threading.Thread(target=store.keep_products, args=(content, digest)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(path.name, path.read_bytes()) for path in (tmp_path / ".products").iterdir()] == [(digest, content)]


@pytest.mark.parametrize(
    ("recordings", "reason"),
    [
        ([features("aab")], "a stimulus was shown several times"),
        ([features("abc"), features("cd")], "a stimulus was shown several times"),
        ([features().expand_dims("time_bin")], "time_bin"),
    ],
)
def test_a_receipt_says_why_products_are_not_stored(recordings, reason):
    with recording(), collecting() as collected:
        collect_products(recordings, "IT")
    assert not collected.files
    assert reason in collected.notes[0]


def test_training_and_test_stimuli_are_multiplied_together():
    with recording(), collecting() as collected:
        collect_products([features("ab"), features("dc")], "IT")
    ((item, content),) = collected.files
    assert (item.stimuli, Products.from_bytes(content).stimuli) == (4, ("a", "b", "c", "d"))


def test_a_pair_stores_products_unless_they_are_not_wanted(tmp_path, monkeypatch):
    def receipt(**options):
        with PairRecorder("model", "benchmark", results=tmp_path / "results", **options) as recorder:
            with ignoring("features"):
                collect_products([features("xyz")], "V1")  # of a candidate layer
            collect_products([features()], "IT")
            recorder.set_score(Score(0.5))
        return recorder.outcome().receipt

    written = receipt()
    assert [item.region for item in written.products] == ["IT"]
    assert Receipt.from_json(written.to_json()) == written
    assert [path.name for path in (tmp_path / "results" / ".products").iterdir()] == [written.products[0].sha256]
    assert list(ResultsStore(tmp_path / "results").pairs()) == [("model", "benchmark")]
    assert receipt(products=False).products == ()
    monkeypatch.setenv("BRAINSCORE_PRODUCTS", "off")
    assert receipt().products == ()
    assert "products" not in receipt().to_dict()


def test_products_are_removed_with_the_last_receipt_that_names_them(fakes, tmp_path):
    store = ResultsStore(tmp_path)
    item, _ = stored(store, features())
    first, second = (store.write(fakes.receipt("a", benchmark, products=(item,))) for benchmark in ("x", "y"))
    store.remove(first)
    store.remove_products([first])
    assert store.read_products(item).stimuli == ("a", "b", "c")
    store.remove(second)
    store.remove_products([second])
    assert not list((tmp_path / ".products").iterdir())


def test_products_in_a_receipt_are_part_of_its_id(fakes):
    first = fakes.receipt()
    item = ProductsItem(region="IT", stimuli=3, sha256="0" * 64, bytes=1)
    dated = replace(first, created="2026-01-01T00:00:00.000000Z")
    assert dated.identified().id != replace(dated, products=(item,)).identified().id


def test_sizes_are_counted_once_and_expected_from_scores_of_other_models(fakes, tmp_path):
    store = ResultsStore(tmp_path)
    item = ProductsItem(region="IT", stimuli=3, sha256="0" * 64, bytes=100)
    receipts = [store.write(fakes.receipt("a", benchmark, products=(item,))) for benchmark in ("x", "y")]
    assert stored_size(receipts) == 100
    assert store.expected_products([("b", "x"), ("c", "x"), ("b", "y"), ("b", "z")]) == 300


def test_answers_are_no_scores_of_a_benchmark(fakes):
    answer = fakes.receipt(answer=AnswerInfo(source="s", question={"benchmark": "benchmark"})).identified()
    assert Receipt.from_json(answer.to_json()) == answer
    assert newest_of_each([answer]) == {}
