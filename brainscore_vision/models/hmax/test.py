import io
import itertools
import math

import numpy as np
import pytest
import torch
from scipy.io import savemat

from brainscore_core.errors import UserError
from brainscore_vision import load_model
from brainscore_vision.models.hmax import METADATA, model
from brainscore_vision.models.hmax.architecture import HMAX, PATCH_SIZES, S1_SIZES, gabor_filters, read_patches


def matlab_file(values, patches):
    """A file as MATLAB would write it; ``values(size, number)`` are all values of one size, in MATLAB's order."""
    cells = np.empty((1, len(PATCH_SIZES)), dtype=object)
    for number, size in enumerate(PATCH_SIZES):
        cells[0, number] = values(size, number).reshape(size * size * 4, patches)
    sizes = np.array([[size, size, 4, patches] for size in PATCH_SIZES]).T
    content = io.BytesIO()
    savemat(content, {"patches": cells, "patchSizes": sizes})
    return content.getvalue()


def cosines(size, number):
    return 0.2 + 0.2 * np.cos(0.7 * np.arange(size * size * 4 * 400) + number)


@pytest.fixture(scope="module")
def file_of_cosines(tmp_path_factory):
    path = tmp_path_factory.mktemp("patches") / "cosines.mat"
    path.write_bytes(matlab_file(cosines, 400))
    return path


def test_filters_of_the_papers_table():
    sigmas = (2.8, 3.6, 4.5, 5.4, 6.3, 7.3, 8.2, 9.2, 10.2, 11.3, 12.3, 13.4, 14.6, 15.8, 17.0, 18.2)
    wavelengths = (3.5, 4.6, 5.6, 6.8, 7.9, 9.1, 10.3, 11.5, 12.7, 14.1, 15.4, 16.8, 18.2, 19.7, 21.2, 22.8)
    assert tuple(range(7, 38, 2)) == S1_SIZES
    for size, sigma, wavelength in zip(S1_SIZES, sigmas, wavelengths, strict=True):
        filters = gabor_filters(size)
        y, x = np.mgrid[size // 2 : -size // 2 : -1, -(size // 2) : size // 2 + 1]  # y is up
        for number, orientation in enumerate((0, 45, 90, 135)):
            angle = math.radians(orientation)
            across, along = y * math.cos(angle) - x * math.sin(angle), x * math.cos(angle) + y * math.sin(angle)
            wave = np.exp(-(across**2 + 0.3**2 * along**2) / (2 * sigma**2)) * np.cos(2 * np.pi * across / wavelength)
            wave = np.where(x**2 + y**2 > (size / 2) ** 2, 0, wave)
            assert np.corrcoef(wave.ravel(), filters[number].ravel())[0, 1] > 0.999
        assert np.abs(filters.mean(axis=(1, 2))).max() < 1e-7


@pytest.mark.slow
def test_every_layer_against_loops(tmp_path):
    """One tiny image, two patches, everything computed value by value in NumPy."""
    random = np.random.default_rng(2)
    side, patches = 20, 2
    path = tmp_path / "two.mat"
    drawn = {size: random.uniform(0, 0.5, (size * size * 4, patches)) for size in PATCH_SIZES}
    path.write_bytes(matlab_file(lambda size, number: drawn[size], patches))
    network = HMAX(patches)
    model.load_weights(network, path)
    image = random.normal(size=(3, side, side))
    with torch.no_grad():
        responses = network(torch.from_numpy(image[None]).float())[0].numpy()

    grey = image.mean(axis=0)
    simple = []
    for size in S1_SIZES:
        padded = np.pad(grey, size // 2)
        maps = np.empty((4, side, side))
        for row, column in itertools.product(range(side), repeat=2):
            patch = padded[row : row + size, column : column + size]
            maps[:, row, column] = np.abs((gabor_filters(size) * patch).sum(axis=(1, 2))) / np.sqrt((patch**2).sum())
        simple.append(maps)
    bands = []
    for band in range(8):
        size, step = 8 + 2 * band, 4 + band
        both = np.pad(np.maximum(simple[2 * band], simple[2 * band + 1]), ((0, 0), (step, step), (step, step)))
        starts = range(0, side + 2 * step - size + 1, step)
        bands.append(np.array([[both[:, r : r + size, c : c + size].max(axis=(1, 2)) for c in starts] for r in starts]))
    for number, size in enumerate(PATCH_SIZES):
        for patch in range(patches):
            wanted = np.empty((size, size, 4))
            for row, column, orientation in itertools.product(range(size), range(size), range(4)):
                wanted[row, column, orientation] = drawn[size][row + size * (column + size * orientation), patch]
            best = 0.0
            for band in bands:
                padded = np.pad(band, ((size // 2, size // 2), (size // 2, size // 2), (0, 0)))
                positions = range(padded.shape[0] - size + 1)
                for row, column in itertools.product(positions, repeat=2):
                    squared = ((padded[row : row + size, column : column + size] - wanted) ** 2).sum()
                    best = max(best, math.exp(-squared / 2))
            assert responses[number, patch] == pytest.approx(best, rel=1e-4)


def test_same_values_as_the_published_implementation(file_of_cosines, cosine_image):
    """C2 of brainscore-vision 2.4.2 with the same patches and image: unit 3 i of size i."""
    network = model.MODEL.build()
    model.load_weights(network, file_of_cosines)
    with torch.no_grad():
        responses = network(cosine_image(64))[0]
    published = [
        *(0.8732396960258484, 0.4059758186340332, 0.10583727806806564, 0.016568521037697792),
        *(0.0011954292422160506, 2.121398392773699e-05, 1.6656986190355383e-07, 2.037372492935674e-10),
    ]
    assert [responses[size, 3 * size].item() for size in range(8)] == pytest.approx(published, rel=1e-4)


def test_names_and_size_of_the_universal_set():
    network = model.MODEL.build()
    assert [name for name, _ in network.named_modules()][-8:] == list(model.MODEL.layers)
    assert sum(parameter.numel() for parameter in network.parameters()) == METADATA["hmax"].parameters == 1_305_600
    shapes = []
    network = network.to("meta")
    network.c2_2.register_forward_hook(lambda module, inputs, output: shapes.append(output.shape))
    assert network(torch.zeros(2, 3, 224, 224, device="meta")).shape == (2, 8, 400)
    assert shapes == [(2, 400)]
    assert sum(filters.numel() for filters in network.buffers()) == 4 * sum(size**2 for size in S1_SIZES)


def test_an_image_of_zeros_is_no_undefined_value():
    with torch.no_grad():
        assert torch.isfinite(HMAX(2)(torch.zeros(1, 3, 32, 32))).all()


def test_published_file_loads(file_of_cosines, place_reference):
    place_reference(model, file_of_cosines.read_bytes())
    subject = load_model("hmax")
    assert subject.identifier == "hmax"
    assert subject.visual_degrees() == 8
    found = {region: list(subject.region_layer_map[region]) for region in ("V1", "V2", "V4", "IT")}
    assert found == {"V1": ["c2_7"], "V2": ["c2_3"], "V4": ["c2_0"], "IT": ["c2_2"]}
    loaded = subject.activations_model._model.s2_3.patches
    assert loaded[5, 2, 6, 7] == pytest.approx(cosines(8, 3).reshape(4, 8, 8, 400)[2, 7, 6, 5])


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "other.mat"
    path.write_bytes(b"no MATLAB file, though it is long enough for a header of 128 bytes " * 4)
    with pytest.raises(UserError, match="not a set of patches"):
        read_patches(path)
    path.write_bytes(matlab_file(lambda size, number: np.zeros(size * size * 4 * 3), 3))
    with pytest.raises(UserError, match=r"shapes \[\(3, 4, 2, 2\)"):
        model.load_weights(model.MODEL.build(), path)
    savemat(path, {"patches": np.empty((1, 0), dtype=object), "patchSizes": np.zeros((4, 8))})
    with pytest.raises(UserError, match="has 0 sizes of patches"):
        read_patches(path)
