"""How often the audit of a benchmark finds what is there, and what is not.

    python perf/validity_audit.py                             all; ten minutes on one core
    python perf/validity_audit.py order --simulations 100 --print
    python perf/validity_audit.py cost                        seconds and memory for 5,000 pictures

Results are kept in perf/validity_audit.json, and written as tables into docs/validity/audit.md; `--print` only prints
them. Everything is seeded: the same versions give the same counts.
"""

import json
import math
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from _tables import between, keep, simulation_options, table

HERE = Path(__file__).parent
STORE = HERE / "validity_audit.json"
PAGE = HERE.parent / "docs" / "validity" / "audit.md"
BEGIN, END = "<!-- begin: written by perf/validity_audit.py -->", "<!-- end -->"
SIZE = 96


def fields(rng, n, exponent, size=SIZE):
    """Random fields, such as clouds: the larger the exponent, the smoother."""
    frequency = np.hypot(np.fft.fftfreq(size)[:, None], np.fft.rfftfreq(size))
    frequency[0, 0] = np.inf
    shape = (n, *frequency.shape)
    noise = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    values = np.fft.irfft2(noise / frequency**exponent, s=(size, size))
    return (values - values.mean((1, 2), keepdims=True)) / values.std((1, 2), keepdims=True)


def gratings(rng, n, band):
    """Gratings of one band of frequencies, in any phase, whose orientations differ by at least half a step."""
    y, x = np.mgrid[:SIZE, :SIZE] / SIZE
    angle = (np.arange(n)[:, None, None] + rng.uniform(0, 0.5, (n, 1, 1))) * np.pi / n
    phase = rng.uniform(0, 2 * np.pi, (n, 1, 1))
    cycles = rng.uniform(*band, (n, 1, 1))
    return np.sin(2 * np.pi * cycles * (np.cos(angle) * x + np.sin(angle) * y) + phase) * 1.4


def discs(rng, n, number):
    """Discs of several sizes and levels on a grey ground."""
    y, x = np.mgrid[:SIZE, :SIZE] / SIZE
    pictures = np.zeros((n, SIZE, SIZE))
    for picture in pictures:
        for _ in range(number):
            inside = np.hypot(y - rng.uniform(), x - rng.uniform()) < rng.uniform(0.05, 0.25)
            picture[inside] = rng.uniform(-2, 2)
    return pictures


CATEGORIES = {
    "clouds": lambda rng, n: fields(rng, n, 1.5),
    "grains": lambda rng, n: fields(rng, n, 0.7),
    "coarse gratings": lambda rng, n: gratings(rng, n, (4, 6)),
    "fine gratings": lambda rng, n: gratings(rng, n, (8, 11)),
    "discs": lambda rng, n: discs(rng, n, 12),
}


def levels(values):
    """Grey levels of pictures with mean 0 and variance 1."""
    return np.clip(128 + 45 * values, 0, 255).astype(np.uint8)


def drawn(rng, n, categories):
    """Different pictures: natural statistics, or textures of five categories."""
    if not categories:
        return levels(fields(rng, n, 1.2))
    share = n // len(CATEGORIES)
    return levels(np.concatenate([draw(rng, share) for draw in CATEGORIES.values()]))


def jpeg(picture):
    """The picture after strong compression."""
    import io

    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, "JPEG", quality=30)
    return np.asarray(Image.open(stream))


def resized(picture):
    """The picture with three quarters of the pixels along each side."""
    from PIL import Image

    return np.asarray(Image.fromarray(picture).resize((72, 72)))


def cropped(picture):
    """The picture without its outermost pixels."""
    from PIL import Image

    return np.asarray(Image.fromarray(picture[1:-1, 1:-1]).resize((SIZE, SIZE)))


CHANGES = {
    "noise of 10 levels": lambda a, rng: np.clip(a + rng.normal(0, 10, a.shape), 0, 255).astype(np.uint8),
    "brighter, less contrast": lambda a, rng: (0.7 * a.astype(float) + 60).astype(np.uint8),
    "inverted": lambda a, rng: 255 - a,
    "JPEG, quality 30": lambda a, rng: jpeg(a),
    "other size": lambda a, rng: resized(a),
    "cropped by 1 %": lambda a, rng: cropped(a),
}


def write(folder, pictures):
    """PNG files of pictures; ids and paths."""
    from PIL import Image

    names = [f"s{number:04}" for number in range(len(pictures))]
    paths = {name: Path(folder) / f"{name}.png" for name in names}
    for path, picture in zip(paths.values(), pictures, strict=True):
        Image.fromarray(picture).save(path, compress_level=1)
    return names, paths


def pictures(simulations):
    """Sets of 60 different pictures, clean, with a copy of a file, and with changed pictures."""
    from brainscore_vision.assessment.duplicates import find_duplicates

    counts = {}
    for categories in (False, True):
        title = "five categories of textures" if categories else "natural statistics"
        found = dict.fromkeys(("clean", "equal files", *CHANGES), 0)
        for seed in range(simulations):
            rng = np.random.default_rng([seed, int(categories)])
            originals = list(drawn(rng, 60, categories))
            chosen = rng.choice(60, 1 + len(CHANGES), replace=False)
            changed = [change(originals[row], rng) for row, change in zip(chosen[1:], CHANGES.values(), strict=True)]
            everything = [*originals, originals[chosen[0]], *changed]
            with tempfile.TemporaryDirectory() as folder:
                names, paths = write(folder, everything)
                clean = find_duplicates(names[:60], paths)
                found["clean"] += clean.n_equal + clean.n_near > 0
                result = find_duplicates(names, paths)
            found["equal files"] += {(p.first, p.second) for p in result.pairs if p.equal} == {
                (names[chosen[0]], names[60])
            }
            near = {(pair.first, pair.second) for pair in result.pairs if not pair.equal}
            for number, name in enumerate(CHANGES):
                found[name] += (names[chosen[1 + number]], names[61 + number]) in near
        counts[title] = found | {"simulations": simulations}
    return counts


def moved(picture, rng, *, mirrored=False, cut=0.0, centred=False, shift=0.0, degrees=0.0):
    """The picture mirrored, without a share of its width, shifted or rotated; what is unknown is black or repeated."""
    from scipy.ndimage import map_coordinates

    height, width = picture.shape
    y, x = np.mgrid[:height, :width].astype(float)
    x, y = (x + 0.5) / width - 0.5, (y + 0.5) / height - 0.5
    angle = np.deg2rad(degrees) * rng.choice([-1, 1])
    free = cut / 2 if cut else shift
    right, down = (0, 0) if centred else free * rng.choice([-1, 1], 2)
    across = (np.cos(angle) * x * (-1 if mirrored else 1) - np.sin(angle) * y) * (1 - cut) + right
    along = (np.sin(angle) * x * (-1 if mirrored else 1) + np.cos(angle) * y) * (1 - cut) + down
    places = [(along + 0.5) * height - 0.5, (across + 0.5) * width - 0.5]
    mode = "nearest" if cut else rng.choice(["nearest", "constant"])
    return map_coordinates(picture.astype(float), places, order=1, mode=mode).clip(0, 255).astype(np.uint8)


MOVES = {
    "mirrored": {"mirrored": True},
    "10 % cut off, centred": {"cut": 0.1, "centred": True},
    "10 % cut off, a corner": {"cut": 0.1},
    "15 % cut off, a corner": {"cut": 0.15},
    "20 % cut off, a corner": {"cut": 0.2},
    "25 % cut off, a corner": {"cut": 0.25},
    "shifted by 4 %, both ways": {"shift": 0.04},
    "shifted by 10 %, both ways": {"shift": 0.1},
    "rotated by 5°": {"degrees": 5, "centred": True},
    "rotated by 10°": {"degrees": 10, "centred": True},
    "upside down": {"degrees": 180, "centred": True},
    "mirrored, 10 % cut off, a corner": {"mirrored": True, "cut": 0.1},
}


def windows(size=160):
    """Windows that do not overlap, of photographs that come with scikit-learn and scikit-image."""
    import skimage
    import sklearn.datasets
    from PIL import Image

    names = (
        "astronaut.png coffee.png chelsea.png rocket.jpg camera.png coins.png motorcycle_left.png ihc.png gravel.png"
    )
    folders = (Path(sklearn.datasets.__file__).parent / "images", Path(skimage.__file__).parent / "data")
    files = [folders[0] / name for name in ("china.jpg", "flower.jpg")] + [folders[1] / name for name in names.split()]
    for file in files:
        photo = np.asarray(Image.open(file).convert("L"))
        for y in range(0, photo.shape[0] - size + 1, size):
            for x in range(0, photo.shape[1] - size + 1, size):
                if photo[y : y + size, x : x + size].std() > 15:
                    yield photo[y : y + size, x : x + size]


def characters(number, people=None, file="images_background_small1.zip"):
    """Drawings of Lake et al. (2015), evenly spaced, from the folder BRAINSCORE_MIRROR.

    With `people`, characters are evenly spaced, and so many drawings of each follow each other.
    """
    import os
    from zipfile import ZipFile

    from PIL import Image

    (archive,) = Path(os.environ["BRAINSCORE_MIRROR"]).rglob(file)
    with ZipFile(archive) as content:
        names = sorted(name for name in content.namelist() if name.endswith(".png") and "MACOSX" not in name)
        chosen = names[:: len(names) // number][:number]
        if people is not None:
            folders = sorted({name.rsplit("/", 1)[0] for name in names})
            step = len(folders) // (number // people)
            chosen = [
                name
                for folder in folders[::step][: number // people]
                for name in [name for name in names if name.startswith(f"{folder}/")][:people]
            ]
        for name in chosen:
            with content.open(name) as file:
                yield np.asarray(Image.open(file).convert("L"))


def published(name):
    """Grey pictures of a registered stimulus set."""
    from brainscore_vision import load_stimulus_set
    from brainscore_vision.model_helpers.images import load_grey

    paths = sorted(load_stimulus_set(name).stimulus_paths.values())
    return [load_grey(path) for path in paths]


def masks():
    """Silhouettes of the objects on grey of Kriegeskorte et al. (2008)."""
    from scipy.ndimage import binary_fill_holes, binary_opening

    for picture in published("Kriegeskorte2008"):
        inside = binary_opening(binary_fill_holes(np.abs(picture.astype(int) - 128) > 6))
        yield np.where(inside, 0, 255).astype(np.uint8)


SETS = {
    "natural statistics": lambda: drawn(np.random.default_rng(7), 200, False),
    "photographs": lambda: list(windows()),
    "cue conflicts": lambda: published("Geirhos2021_cue-conflict"),
    "line drawings": lambda: published("Geirhos2021_edge"),
    "objects on grey": lambda: published("Kriegeskorte2008"),
    "silhouettes": lambda: published("Geirhos2021_silhouette"),
    "characters": lambda: list(characters(200)),
    "outlines of objects": lambda: list(masks()),
}
CHOSEN_ON = ("photographs", "line drawings", "silhouettes", "characters")
"""Sets by whose even pictures limits were chosen: copies of the odd ones are counted."""


def changes(shown):
    """Least change of pictures by a movement."""
    from brainscore_vision.assessment.moved_copies import least_change
    from brainscore_vision.model_helpers.images import load_grey

    with tempfile.TemporaryDirectory() as folder:
        paths = write(folder, shown)[1].values()
        return np.concatenate([least_change(load_grey(path, size=128)[None].astype(np.float32)) for path in paths])


def moves(simulations):
    """Sets of published pictures, clean, and with a moved copy of each picture."""
    from unittest.mock import patch

    from brainscore_vision.assessment import duplicates
    from brainscore_vision.assessment.moved_copies import UNDETERMINED

    def compared(shown):
        with tempfile.TemporaryDirectory() as folder:
            names, paths = write(folder, shown)
            found = duplicates.find_duplicates(names, paths)
        return found.n_near, found.alike

    counts = {}
    for title, load in SETS.items():
        everything = load()
        originals = everything[1::2] if title in CHOSEN_ON else everything
        n = len(originals)
        with patch.object(duplicates, "find_moved_copies", lambda grey, groups, load: []):
            in_place = compared(everything)[0]
        result = {
            "copies": n * simulations,
            "found": dict.fromkeys(MOVES, 0),
            "undetermined": dict.fromkeys(MOVES, 0),
            "different": {"in place": in_place, "by alignment": compared(everything)[0] - in_place},
        }
        of_originals = changes(originals)
        for name, options in MOVES.items():
            for seed in range(simulations):
                rng = np.random.default_rng(seed)
                copies = [moved(picture, rng, **options) for picture in originals]
                groups = compared([*originals, *copies])[1]
                found = groups[:n] == groups[n:]
                undetermined = ~found & (np.minimum(of_originals, changes(copies)) <= UNDETERMINED)
                result["found"][name] += int(found.sum())
                result["undetermined"][name] += int(undetermined.sum())
            print(title, name, result["found"][name], result["undetermined"][name], flush=True)
        counts[title] = result
    return counts


NEIGHBOURS = {
    "characters, by 20 people each": (lambda: list(characters(460, 20)), 20),
    "other characters, by 20 people each": (lambda: list(characters(460, 20, "images_background_small2.zip")), 20),
    "cue conflicts of one shape": (SETS["cue conflicts"], 10),
    "line drawings of one class": (SETS["line drawings"], 10),
    "silhouettes of one class": (SETS["silhouettes"], 10),
}


def neighbours(simulations):
    """Pairs of different pictures of one class that are found: in place, and by alignment."""
    from brainscore_vision.assessment.duplicates import contours, small_pixels
    from brainscore_vision.assessment.moved_copies import find_moved_copies
    from brainscore_vision.model_helpers.images import load_grey

    counts = {}
    for title, (load, members) in NEIGHBOURS.items():
        with tempfile.TemporaryDirectory() as folder:
            paths = write(folder, load())[1].values()
            grey, detailed = (np.stack([load_grey(path, size=size) for path in paths]) for size in (64, 128))
        grey = grey.astype(np.float32)
        of_class = np.arange(len(grey)) // members
        similarity = np.minimum(*(np.abs(side @ side.T) for side in (small_pixels(grey), contours(grey))))
        same = np.triu(of_class[:, None] == of_class, 1)
        place = {tuple(pair) for pair in np.argwhere(same & (similarity > 0.9)).tolist()}
        moved_pairs = {pair[:2] for pair in find_moved_copies(grey, np.arange(len(grey)), detailed.__getitem__)}
        within = {pair for pair in moved_pairs if same[pair]} - place
        counts[title] = {
            "pairs": int(same.sum()),
            "in place": len(place),
            "by alignment": len(within),
            "of two classes": len(moved_pairs) - sum(bool(same[pair]) for pair in moved_pairs),
        }
        print(title, counts[title], sorted(within), flush=True)
    return counts


def order(simulations):
    """Responses of 200 presentations: independent or autoregressive, in random order or sorted by category."""
    from brainscore_vision.metric_helpers.repetitions import serial_tests

    counts = {}
    for name, categories, sorted_, strength, trend in (
        ("independent", False, False, 0.0, 0.0),
        ("independent, 10 categories, mixed", True, False, 0.0, 0.0),
        ("independent, 10 categories, sorted", True, True, 0.0, 0.0),
        ("autoregressive, 0.3", False, False, 0.3, 0.0),
        ("autoregressive, 0.3, 10 categories, mixed", True, False, 0.3, 0.0),
        ("autoregressive, 0.3, 10 categories, sorted", True, True, 0.3, 0.0),
        ("trend of one standard deviation", False, False, 0.0, 1.0),
        ("trend of one standard deviation, 10 categories, sorted", True, True, 0.0, 1.0),
    ):
        result = {"autocorrelation": 0, "drift": 0, "either": 0, "simulations": simulations}
        for seed in range(simulations):
            rng = np.random.default_rng([seed, len(name)])
            n, neuroids = 200, 20
            noise = rng.standard_normal((n, 5)) @ rng.standard_normal((5, neuroids)) / 5**0.5
            noise += rng.standard_normal((n, neuroids))
            for row in range(1, n):
                noise[row] = strength * noise[row - 1] + math.sqrt(1 - strength**2) * noise[row]
            noise += trend * np.linspace(-1, 1, n)[:, None] * 3**0.5 * rng.choice([-1, 1], neuroids)
            category = np.repeat(np.arange(10), n // 10)
            if not sorted_:
                category = rng.permutation(category)
            values = noise + (2 * rng.standard_normal((10, neuroids))[category] if categories else 0)
            tests = serial_tests(
                values, np.arange(n), strata=category if categories else None, permutations=199, seed=seed
            )
            p = np.array([value for _, value in tests])
            result["autocorrelation"] += bool(p[0] <= 0.05)
            result["drift"] += bool(p[1] <= 0.05)
            result["either"] += bool(2 * p.min() <= 0.05)
        counts[name] = result
    return counts


def make_benchmark(rng, metric, *, groups=None, frames=None, folder=None):
    """A benchmark on 100 stimuli with responses of groups (near-duplicates), or of frames."""
    from brainscore_core.metrics import Score
    from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
    from brainscore_vision import load_metric
    from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark

    n, neuroids, extra = 100 if groups else frames, 40, {}
    if groups:
        members = np.repeat(np.arange(groups), n // groups)
        latent = rng.standard_normal((groups, 10))[members] + 0.1 * rng.standard_normal((n, 10))
        shown = levels(fields(rng, groups, 1.2))[members]
        shown = np.clip(shown + rng.normal(0, 5, shown.shape), 0, 255).astype(np.uint8)
    else:
        latent = rng.standard_normal((n, 10))
        for row in range(1, n):
            latent[row] = 0.7 * latent[row - 1] + math.sqrt(1 - 0.7**2) * latent[row]
        shown, extra = [], {"presentation_order": ("presentation", np.arange(n))}
    values = latent @ rng.standard_normal((10, neuroids)) + 0.3 * rng.standard_normal((n, neuroids))
    names, paths = write(folder, shown) if groups else ([f"s{number:04}" for number in range(n)], {})
    stimuli = StimulusSet({"stimulus_id": names})
    stimuli.stimulus_paths, stimuli.identifier = paths, "Simulated"
    coords = {
        "stimulus_id": ("presentation", names),
        "neuroid_id": ("neuroid", np.arange(neuroids)),
        "region": ("neuroid", ["IT"] * neuroids),
        **extra,
    }
    assembly = NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])
    assembly.attrs["stimulus_set"] = stimuli
    ceiling = Score(1.0)
    return NeuralBenchmark("Simulated2024.IT-x", assembly, load_metric(metric), 8, 1, lambda: ceiling, 1, "IT")


def severity(simulations):
    """Scores of features that have nothing to do with the responses."""
    from brainscore_vision.assessment.audit import audit

    counts = {}
    cases = (
        ("20 × 5 near-duplicates, ridge", "ridge", {"groups": 20}, "duplicates"),
        ("20 × 5 near-duplicates, pls", "pls", {"groups": 20}, "duplicates"),
        ("10 × 10 near-duplicates, ridge", "ridge", {"groups": 10}, "duplicates"),
        ("400 frames, ridge", "ridge", {"frames": 400}, "blocks of time"),
    )
    for name, metric, options, rule in cases:
        result = {"found": 0, "default above 0": 0, "grouped holds 0": 0, "loss above 0": 0, "intervals": 0}
        sums = np.zeros(2)
        for seed in range(simulations):
            with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = audit(make_benchmark(np.random.default_rng(seed), metric, folder=folder, **options), seed=seed)
            loss = next((one for one in found.losses if (one.rule, one.model) == (rule, "unrelated features")), None)
            if loss is None:
                continue
            result["found"] += 1
            sums += loss.default, loss.grouped
            if loss.grouped_ci is None or loss.default_ci is None or loss.ci is None:
                continue
            result["intervals"] += 1
            result["default above 0"] += loss.default_ci[0] > 0
            result["grouped holds 0"] += loss.grouped_ci[0] <= 0 <= loss.grouped_ci[1]
            result["loss above 0"] += loss.ci[0] > 0
        means = (sums / max(result["found"], 1)).round(3).tolist()
        counts[name] = result | {"default": means[0], "grouped": means[1], "simulations": simulations}
    return counts


def blobs(rng, n, size=224):
    """Silhouettes of random outlines around one point."""
    y, x = np.mgrid[:size, :size] / size - 0.5
    for _ in range(n):
        across, along = rng.uniform(-0.1, 0.1, 2)
        angle, radius = np.arctan2(y - along, x - across), np.hypot(y - along, x - across)
        waves = [rng.normal(0, 0.08 / k) * np.cos(k * angle + rng.uniform(0, 6.28)) for k in range(2, 7)]
        yield (255 * (1 - np.clip((0.3 + sum(waves) - radius) * size + 0.5, 0, 1))).astype(np.uint8)


def cost(simulations):
    """Processor time, and memory of the process, for 5,000 pictures and for 1,000 silhouettes that are all similar."""
    import resource

    from brainscore_vision.assessment.duplicates import find_duplicates

    rng = np.random.default_rng(0)
    counts = {}
    for name, batches in (
        ("5,000 pictures of 256 × 256 pixels", (levels(fields(rng, 100, 1.2, 256)) for _ in range(50))),
        ("1,000 silhouettes of 224 × 224 pixels", [list(blobs(np.random.default_rng(11), 1000))]),
    ):
        with tempfile.TemporaryDirectory() as folder:
            paths = {}
            for number, batch in enumerate(batches):
                (Path(folder) / str(number)).mkdir()
                paths |= {f"{number}/{key}": path for key, path in write(Path(folder) / str(number), batch)[1].items()}
            busy = time.process_time()
            found = find_duplicates(list(paths), paths)
            busy = time.process_time() - busy
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
        counts[name] = {"busy": round(busy, 1), "MiB": round(memory), "pairs": found.n_near}
    return counts


PARTS = {
    "pictures": (pictures, 200),
    "moves": (moves, 1),
    "neighbours": (neighbours, 1),
    "order": (order, 500),
    "severity": (severity, 200),
    "cost": (cost, 1),
}


def share(number, of):
    """Percent with its standard error."""
    part = number / of
    return f"{100 * part:.1f} ± {100 * math.sqrt(part * (1 - part) / of):.1f}"


def found_of(kind, name):
    """Share of moved copies that are found; also of those that can be told apart, if some cannot."""
    found, copies, undetermined = kind["found"][name], kind["copies"], kind["undetermined"][name]
    return share(found, copies) + (f", {share(found, copies - undetermined)}" if undetermined else "")


def tables(store):
    """Markdown tables of what is kept."""
    parts = []
    if "pictures" in store:
        kinds = list(store["pictures"])
        rows = [
            [
                "**clean sets with a false alarm**" if what == "clean" else what,
                *(f"{store['pictures'][kind][what]} of {store['pictures'][kind]['simulations']}" for kind in kinds),
            ]
            for what in ("clean", "equal files", *CHANGES)
        ]
        parts.append("Sets of 60 pictures, and sets with one copy of each kind:\n\n" + table(["found", *kinds], rows))
    if "moves" in store:
        kinds = store["moves"]
        rows = [[name, *(found_of(kind, name) for kind in kinds.values())] for name in MOVES]
        different = [
            f"{each['in place']} + {each['by alignment']}" for each in (k["different"] for k in kinds.values())
        ]
        rows.append(["**pairs of different pictures**", *different])
        parts.append(
            "Moved copies of published pictures that are found, in % ± standard error; after a comma: of the copies "
            "that some movement changes. The last row counts pairs that are found among the different pictures of a "
            "set, without alignment + by alignment:\n\n"
            + table(["copies of", *kinds], [["copies", *(f"{kind['copies']}" for kind in kinds.values())], *rows])
        )
    if "neighbours" in store:
        rows = [
            [name, *(f"{each[key]}" for key in ("pairs", "in place", "by alignment", "of two classes"))]
            for name, each in store["neighbours"].items()
        ]
        parts.append(
            "Different pictures of one class that are taken for copies, and pictures of two classes that are aligned:"
            "\n\n" + table(["pairs of", "pairs", "in place", "by alignment", "of two classes"], rows)
        )
    if "order" in store:
        rows = [
            [
                name,
                *(f"{100 * each[key] / each['simulations']:.1f} %" for key in ("autocorrelation", "drift", "either")),
            ]
            for name, each in store["order"].items()
        ]
        n = next(iter(store["order"].values()))["simulations"]
        parts.append(
            f"200 presentations, 20 neuroids, {n} experiments; p ≤ 0.05 of each test, and of either after Holm:\n\n"
            + table(["responses", "autocorrelation", "drift", "either, corrected"], rows)
        )
    if "severity" in store:
        rows = [
            [
                name,
                f"{each['found']} of {each['simulations']}",
                f"{each['default']:.3f}",
                f"{each['grouped']:.3f}",
                *(
                    f"{100 * each[key] / max(each['intervals'], 1):.1f} %"
                    for key in ("default above 0", "grouped holds 0", "loss above 0")
                ),
            ]
            for name, each in store["severity"].items()
        ]
        head = ["stimuli, metric", "found", "default", "grouped", "default above 0", "grouped holds 0", "loss above 0"]
        parts.append("Unrelated features: mean scores, and what their 95 % intervals say:\n\n" + table(head, rows))
    if "cost" in store:
        rows = [[name, f"{each['busy']} s", f"{each['MiB']} MiB"] for name, each in store["cost"].items()]
        parts.append("Processor time, and memory of the whole process:\n\n" + table(["set", "time", "memory"], rows))
    return "\n\n".join(parts)


def main():
    """Simulate, keep, write."""
    options = simulation_options(__doc__, None, metavar="part", names=f"one of {', '.join(PARTS)}")
    unknown = set(options.names) - set(PARTS)
    if unknown:
        sys.exit(f"no part {', '.join(sorted(unknown))}; known: {', '.join(PARTS)}")
    if not options.tables:
        for name in options.names or PARTS:
            simulate, number = PARTS[name]
            counts = simulate(options.simulations or number)
            print(json.dumps({name: counts}, indent=1), flush=True)
            if not options.print:
                keep(STORE, (name,), counts)
    if not options.print:
        text = tables(json.loads(STORE.read_text()))
        PAGE.write_text(between(PAGE.read_text(), BEGIN, END, text))


if __name__ == "__main__":
    main()
