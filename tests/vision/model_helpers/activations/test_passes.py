"""Reading of stimuli in batches: how parts are joined, and what is refused."""

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
