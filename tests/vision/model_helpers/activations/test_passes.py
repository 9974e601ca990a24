"""Reading of stimuli in batches: when they are read, how parts are joined, and what is refused."""

import os
import time
from threading import Event

import numpy as np
import pytest
import torch

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations import passes
from brainscore_vision.model_helpers.activations.passes import Loader, stack_images

PATHS = [f"{number}.png" for number in range(5)]
BATCHES = [slice(0, 3), slice(3, 5)]


def values_of(paths):
    return np.array([[float(path[0])] for path in paths])


def test_values_of_options_are_checked():
    with pytest.raises(ValueError, match="'threads' or 'processes'"):
        Loader(values_of, kind="fibres")
    with pytest.raises(ValueError, match="0 or more"):
        Loader(values_of, workers=-1)


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_come_in_order_whatever_the_number_of_workers(workers):
    read = list(Loader(values_of, workers=workers).batches(PATHS, BATCHES))
    assert [batch for batch, _ in read] == BATCHES
    np.testing.assert_array_equal(np.concatenate([images for _, images in read])[:, 0], range(5))


BATCHES_OF_ONE = [slice(number, number + 1) for number in range(5)]


@pytest.mark.parametrize("workers", [1, 2])
def test_files_that_come_slowly_are_read_while_the_model_runs(workers):
    last = Event()

    def slow(paths):
        time.sleep(0.02)
        if paths[-1] == PATHS[2]:
            last.set()
        return values_of(paths)

    batches = Loader(slow, workers=workers).batches(PATHS, BATCHES_OF_ONE)
    next(batches)
    assert last.wait(timeout=30)
    batches.close()


@pytest.mark.parametrize(
    ("shares", "read"),
    [
        ([1.0, 1.0, 1.0, 1.0], [1, 2, 3, 4, 5]),  # reading and the model fill the cores in turns
        ([1.0, 0.5], [1, 4, 5, 5, 5]),  # the model runs in one of two threads
        ([1.0, 1.0, 0.1], [1, 4, 5, 5, 5]),  # from the second batch on, files come slowly
    ],
)
def test_batches_are_read_ahead_unless_the_cores_are_at_work_anyway(shares, read, monkeypatch):
    left = iter(shares)
    monkeypatch.setattr(passes._CoreTime, "share", lambda _: next(left, 1.0))
    started = []

    def preprocess(paths):
        started.extend(paths)
        return values_of(paths)

    for expected, _ in zip(read, Loader(preprocess, workers=1).batches(PATHS, BATCHES_OF_ONE), strict=True):
        deadline = time.monotonic() + 30
        while len(started) < expected and time.monotonic() < deadline:
            time.sleep(0.001)
        assert len(started) == expected


def test_the_share_of_the_cores_is_that_of_processor_time(monkeypatch):
    monkeypatch.setattr(passes, "_cores", lambda: 4)
    clocks = {"perf_counter": iter([10.0, 12.0, 13.0]), "process_time": iter([5.0, 11.0, 11.5])}
    for name, values in clocks.items():
        monkeypatch.setattr(time, name, lambda values=values: next(values))
    cores = passes._CoreTime()
    assert [cores.share(), cores.share()] == [0.75, 0.125]


@pytest.mark.parametrize(
    ("preprocess", "kind"),
    [
        (lambda paths: torch.as_tensor(values_of(paths)), torch.Tensor),
        (lambda paths: list(values_of(paths)), list),
    ],
)
def test_parts_of_a_batch_are_joined_in_the_form_that_preprocessing_returns(preprocess, kind):
    ((_, images),) = Loader(preprocess, workers=2).batches(PATHS[:4], [slice(0, 4)])
    assert type(images) is kind
    np.testing.assert_array_equal(np.array([float(row[0]) for row in images]), range(4))


def test_images_are_stacked_to_displace_them():
    arrays = [np.full((3, 2, 2), value) for value in (1.0, 2.0)]
    assert stack_images(arrays).shape == (2, 3, 2, 2)
    mixed = stack_images([torch.as_tensor(arrays[0]), arrays[1]])
    assert isinstance(mixed, torch.Tensor)
    np.testing.assert_array_equal(mixed, np.stack(arrays))
    assert stack_images(np.stack(arrays)).shape == (2, 3, 2, 2)
    with pytest.raises(UserError, match="can only be displaced in an array"):
        stack_images({"pixels": arrays})


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MemoryError(), True),
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"), True),
        (RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate"), True),
        (RuntimeError("shapes do not match"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_errors_of_memory_are_recognised(error, expected):
    assert passes._out_of_memory(error) is expected


def test_the_images_in_a_mapping_are_used():
    preprocess = lambda paths: {"pixel_values": values_of(paths), "names": paths}  # noqa: E731 # short
    for workers in (0, 2):
        read = list(Loader(preprocess, workers=workers).batches(PATHS, BATCHES))
        np.testing.assert_array_equal(np.concatenate([images for _, images in read])[:, 0], range(5))
    with pytest.raises(UserError, match="a mapping with images, without pixel_values"):
        list(Loader(lambda paths: {"images": 1}).batches(PATHS, BATCHES))


def test_wrong_results_of_preprocessing_are_explained():
    for preprocess, message in ((lambda paths: None, "returns a NoneType"), (lambda path: path.size, "list of file")):
        for workers in (0, 2):
            with pytest.raises(UserError, match=message):
                list(Loader(preprocess, workers=workers).batches(PATHS, BATCHES))


def test_preprocessing_that_processes_cannot_run_is_refused():
    with pytest.raises(UserError, match=r"(?s)cannot be passed to processes.*at the top of a file"):
        list(Loader(lambda paths: paths, kind="processes", workers=1).batches(PATHS, BATCHES))


def end_process(paths):
    os._exit(1)  # as where the main module of a script starts processes while it is imported


@pytest.mark.slow(reason="starts a process, which imports the package")
def test_processes_that_end_are_explained():
    with pytest.raises(UserError, match=r"(?s)cannot run the preprocessing.*__main__"):
        list(Loader(end_process, kind="processes", workers=1).batches(PATHS, BATCHES))
