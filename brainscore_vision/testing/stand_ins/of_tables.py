"""Stand-ins of the data that are registered as rows of tables: for each family, what its generator needs to know.

All are simulated. Identifiers, classes and stimulus sets are those of the families' tables of data. Recordings have the
regions, the reliabilities and, unless a family states it, the repetitions that the rows of benchmarks name.
"""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

import brainscore_vision.benchmarks
import brainscore_vision.data
from brainscore_core.plugins.tables import read_table
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, DataAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.benchmark_helpers.metadata import TABLE, BenchmarkRow, rows_of
from brainscore_vision.testing.generators import answers, columns, pictures, recordings, seed_of

_DATA: Final = Path(str(brainscore_vision.data.__file__)).parent
_BENCHMARKS: Final = Path(str(brainscore_vision.benchmarks.__file__)).parent
STIMULUS_SETS: Final[dict[str, Callable[[Path], StimulusSet]]] = {}
ASSEMBLIES: Final[dict[str, tuple[str, Callable[[StimulusSet], DataAssembly]]]] = {}


def _rows(family: str, table: str = "assemblies.csv") -> list[dict[str, str]]:
    return read_table(str(_DATA / family / "__init__.py"), table)


def _stimuli(name: str, count: int, *, kind: str | None = None, **of_stimuli: Any) -> None:
    prefix = "".join(letter for letter in name if letter.isalnum())
    table = columns(prefix, count, **of_stimuli)
    STIMULUS_SETS[name] = partial(pictures, table=table, name=name, kind=kind)


def _benchmarks(family: str) -> list[BenchmarkRow]:
    folder = _BENCHMARKS / family
    return rows_of(str(folder / "__init__.py")) if (folder / TABLE).is_file() else []


def _of_benchmarks(family: str, data: str) -> dict[str, Any]:
    """What the benchmarks of some recordings need: options of the generator."""
    rows = [row for row in _benchmarks(family) if any(data.startswith(name) for name in row.data)]
    reliable = {row.reliability: row.threshold for row in rows if row.reliability}
    options: dict[str, Any] = {}
    if rows:
        options = {
            "regions": list(dict.fromkeys(row.region for row in rows)),
            "repetitions": max(row.number_of_trials for row in rows),
        }
    if reliable:
        options["of_neuroids"] = {name: 2 * threshold for name, threshold in reliable.items()}
        options["unreliable"] = min(reliable.values()) / 2
    return options


def _recorded(family: str, *, names: Iterable[str] | None = None, same: str | None = None, **options: Any) -> None:
    """Register recordings of a family's assemblies; those with the same `same` have the same neuroids."""
    for row in _rows(family):
        data = row["identifier"]
        if names is None or data in names:
            made = _of_benchmarks(family, data) | options
            ASSEMBLIES[data] = (row["stimulus_set"], partial(recordings, name=same or data, cls=row["class"], **made))


# functional magnetic resonance imaging with training and test stimuli
_FOUR: Final = tuple(f"subject{k}" for k in range(1, 5))
for _version, _people in (("", (*_FOUR, "subject5", "subject6", "subject7", "subject8")), ("_4subj", _FOUR)):
    _stimuli(f"Allen2022_fmri{_version}_stim_train", 40)
    _stimuli(f"Allen2022_fmri{_version}_stim_test", 16)
    for _family in ("allen2022_fmri", "allen2022_fmri_surface"):
        _prefix = _family.replace("allen", "Allen") + _version
        for _split, _repetitions in (("train", 1), ("test", 3)):
            _recorded(
                _family,
                names=[f"{_prefix}_{_split}"],
                same=_prefix,
                subjects=_people,
                neuroids=4,
                repetitions=_repetitions,
            )
for _split, _count, _repetitions in (("train", 40, 1), ("test", 16, 4)):
    _stimuli(f"Hebart2023_fmri_stim_{_split}", _count)
    _recorded(
        "hebart2023_fmri",
        names=[f"Hebart2023_fmri_{_split}"],
        same="Hebart2023_fmri",
        subjects=_FOUR[:3],
        repetitions=_repetitions,
    )

# electroencephalography: bins of 10 ms, in seconds, which begin before the stimulus
_BINS: Final = [(round(k / 100, 2), round((k + 1) / 100, 2)) for k in range(-4, 64)]
for _split, _count, _repetitions in (("train", 40, 2), ("test", 16, 4)):
    _stimuli(f"Gifford2022_stim_{_split}", _count)
    _recorded(
        "gifford2022",
        names=[f"Gifford2022_{_split}"],
        same="Gifford2022",
        regions=("occipital",),
        region_coord=False,
        neuroids=2,
        repetitions=_repetitions,
        time_bins=_BINS,
    )

# scenes that each of several animals saw, averaged over repetitions
_stimuli("Li2026", 60, nsd_id=range(60))
for _name, _bins in (
    ("Li2026", [(70, 170)]),
    ("Li2026.temporal", [(start, start + 10) for start in range(0, 300, 10)]),
):
    _recorded(
        "li2026",
        names=[_name],
        repetitions=1,
        repetition_coord=None,
        subjects=("animal1", "animal2", "animal3"),
        subject_coord="animal",
        copied=("nsd_id",),
        time_bins=_bins,
        of_neuroids={"reliability": 0.8, "reliability_window": 0.8},
    )


# one assembly a subject; each picture is for training or for testing
def _split_recordings(stimuli: StimulusSet, **options: Any) -> DataAssembly:
    assembly = recordings(stimuli, **options)
    for split, part in (("tau", 5), ("ood", 4)):
        rows = np.arange(assembly.sizes["presentation"]) // options["repetitions"]
        assembly[f"split_{split}"] = "presentation", np.where(rows % part == 0, "test", "train")
    if "persubject" not in options["name"]:
        (subject,) = options["subjects"]
        assembly["subject_id_pres"] = "presentation", [subject] * assembly.sizes["presentation"]
    return assembly


for _name in ("Zerbe2026_fmri_stim_full", "Zerbe2026_fmri_persubject_stim_full"):
    _stimuli(_name, 60)
for _row in _rows("laion_fmri"):
    _subject = _row["identifier"].rpartition("_")[2]
    ASSEMBLIES[_row["identifier"]] = (
        _row["stimulus_set"],
        partial(
            _split_recordings,
            name=_row["identifier"],
            **_of_benchmarks("laion_fmri", _row["identifier"])
            | {"subjects": (_subject,), "repetitions": 2, "time_bins": None, "subject_coord": "subject_id"},
        ),
    )

# recordings from macaques, some with repetitions
for _name, _count in (("BOLD5000", 40), ("THINGS1", 40), ("THINGS2", 40), ("Rust2012", 40), ("Rajalingham2020", 40)):
    _stimuli(_name, _count)
for _row in _rows("sanghavi2020"):
    _degrees = {row.visual_degrees for row in _benchmarks("sanghavi2020") if _row["identifier"].startswith(row.data[0])}
    _recorded(
        "sanghavi2020",
        names=[_row["identifier"]],
        subjects=("animal1", "animal2"),
        time_bins=[(70, 170), (170, 270)],
        numbered_bins=True,
        attrs={"image_size_degree": _degrees.pop()},
    )
for _family in ("rust2012", "seibert2019"):
    _recorded(_family, regions=("V4", "IT"), repetitions=3, subjects=("animal1", "animal2"))
_recorded("rajalingham2020", subjects=("animal1",), neuroids=5)
for _name in ("BashivanKar2019.naturalistic", "BashivanKar2019.synthetic", "Kar2018cocogray"):
    _stimuli(_name, 30)
_recorded("bashivankar2019", regions=("V4",), repetitions=3, subjects=("animal1",))
_recorded("kar2018", regions=("IT",), repetitions=3, subjects=("animal1",))
for _name in ("Cichy2019", "David2004", "Kuzovkin2018"):
    _stimuli(_name, 30)
_recorded("cichy2019", regions=("V1", "IT"), time_bins=None, repetition_coord=None)
_recorded("david2004", regions=("V1",), subjects=("animal1",), time_bins=[(0, 16), (16, 32)], repetition_coord=None)
_recorded("kuzovkin2018", regions=("V1", "IT"), time_bins=[(50, 150), (150, 250)], repetition_coord=None)

_stimuli("Cadena2017", 50)


def _not_all_shown(stimuli: StimulusSet, **options: Any) -> DataAssembly:
    """The last stimuli were not recorded by all neuroids, and another one only in its first repetition."""
    assembly = recordings(stimuli, **options)
    values = assembly.values.copy()
    values[-4 * options["repetitions"] :, ::2] = np.nan
    values[1, 0] = np.nan
    return assembly.copy(data=values)


_row = _rows("cadena2017")[0]
ASSEMBLIES["Cadena2017"] = (
    _row["stimulus_set"],
    partial(
        _not_all_shown,
        name="Cadena2017",
        cls=_row["class"],
        subjects=("animal1",),
        regions=("V1",),
        neuroids=6,
        repetitions=4,
        repetition_coord="repetition_id",
    ),
)

# objects in 13 styles; silhouettes are those of the objects that are shown on backgrounds
_STYLES: Final = (
    [("Silhouette", style) for style in ("original", "convex_hull", "outline", "skeleton", "silhouette")]
    + [("Art", style) for style in ("cartoon", "line_drawing", "mosaic", "painting", "sketch")]
    + [("COCOColor", "textures"), ("COCOGray", "grayscale"), ("TDW", "textures")]
)
_OBJECTS: Final = ("apple", "bear", "bird", "car", "chair", "dog", "elephant", "face", "plane", "zebra")


def _styles(folder: Path) -> StimulusSet:
    rows = [
        {
            "stimulus_id": f"{source}_{style}_{name}_{number}",
            "stimulus_source": source,
            "object_style": style,
            "object_label": name,
            "background_id": 10 * _OBJECTS.index(name) + number + 1 if source == "Silhouette" else 0,
        }
        for source, style in _STYLES
        for name in _OBJECTS
        for number in range(6 if style == "original" else 4)
    ]
    return pictures(folder, table=pd.DataFrame(rows), name="Igustibagus2024", kind="object_label")


STIMULUS_SETS["Igustibagus2024"] = _styles


def _one_saw_less(stimuli: StimulusSet, **options: Any) -> DataAssembly:
    """The second animal did not see sketches, and the first neuroid responds to skeletons with noise."""
    assembly = recordings(stimuli, **options)
    values = assembly.values.copy()
    style = np.repeat(stimuli["object_style"].to_numpy(), options["repetitions"])
    second = assembly["animal"].values == options["subjects"][1]
    values[np.ix_(style == "sketch", second)] = np.nan
    skeletons = np.flatnonzero(style == "skeleton")
    values[skeletons, 0] = np.random.default_rng(1).normal(scale=8, size=(len(skeletons), values.shape[2]))
    return assembly.copy(data=values)


ASSEMBLIES["Igustibagus2024"] = (
    "Igustibagus2024",
    partial(
        _one_saw_less,
        name="Igustibagus2024",
        cls=_rows("igustibagus2024")[0]["class"],
        **_of_benchmarks("igustibagus2024", "Igustibagus2024")
        | {"subjects": ("Pico", "Oleo"), "subject_coord": "animal", "repetitions": 4, "neuroids": 6},
        time_bins=[(70, 170), (170, 270)],
        numbered_bins=True,
    ),
)

# naming by people
_DRAWN: Final = ("banana", "beanie", "binoculars", "boot", "bowl", "cup", "glasses", "lamp")
for _row in _rows("scialom2024"):
    _name = _row["identifier"]
    _condition = _name.removeprefix("Scialom2024_")
    _parts = ["12", "35", "100"] if _condition.endswith("-all") else [_condition.rpartition("-")[2]]
    _stimuli(
        _name, 24, kind="truth", truth=_DRAWN, percentage_elements=[part for part in _parts for _ in range(8)],
        condition=[f"{_condition.partition('-')[0]}-{part}" for part in _parts for _ in range(8)],
    )  # fmt: skip
    ASSEMBLIES[_name] = (_row["stimulus_set"], partial(answers, name=_name, copied=("truth", "condition")))
for _split, _count in (("train", 40), ("test", 30)):
    _stimuli(
        f"Lonnqvist2024_{_split}", _count, kind="truth", truth=("same", "different"), image_label=("same", "different")
    )
for _row in _rows("lonnqvist2024"):
    ASSEMBLIES[_row["identifier"]] = (
        _row["stimulus_set"],
        partial(answers, name=_row["identifier"], copied=("truth",)),
    )
# people do tasks, some of which use the same pictures: occluders are blobs, deletions or a view through holes
_PICTURED: Final = (
    *(("control", "control"), ("clutter", "heavy"), ("clutter", "light")),
    *(("phasescrambling", "highpass"), ("phasescrambling", "lowpass")),
    *(("occluder", f"{size}-{amount}") for size in ("fewlarge", "manysmall") for amount in ("high", "low")),
)
_TASKS: Final = (
    *("control", "clutter_heavy", "clutter_light", "scrambling_highpass", "scrambling_lowpass"),
    *("occlusion_few_large_blobs_high", "occlusion_many_small_blobs_low"),
    *("occlusion_few_large_deletion_high", "occlusion_many_small_partial_viewing_low"),
)
for _name, _count in (("Maniquet2024", 72), ("Maniquet2024-test", 72), ("Maniquet2024-train", 48)):
    _stimuli(
        _name,
        _count,
        kind="image_label",
        image_label=_DRAWN,
        manipulation=[manipulation for manipulation, _ in _PICTURED for _ in range(8)],
        manipulation_details=[details for _, details in _PICTURED for _ in range(8)],
    )


def _namings(stimuli: StimulusSet) -> BehavioralAssembly:
    assembly = answers(stimuli, name="Maniquet2024", truth="image_label", subjects=6, copied=("image_label",))
    assembly["task"] = "presentation", np.tile(np.repeat(_TASKS, 8), 6)
    assembly["prediction"] = "presentation", assembly.values
    assembly["subject_id"] = "presentation", assembly["subject"].values
    return assembly


ASSEMBLIES["Maniquet2024"] = ("Maniquet2024-test", _namings)


# search for an oddball: 24 images in each of two blocks, with 1, 5 or 11 distractors
def _search(folder: Path, *, name: str) -> StimulusSet:
    numbers = np.tile(np.arange(24), 2)
    table = columns(name.replace("_", ""), len(numbers))
    table["image_number"] = numbers
    table["block"] = np.repeat(["first", "second"], 24)
    table["kind"] = [f"{number % 2}" for number in numbers]
    return pictures(folder, table=table, name=name, kind="kind")


def _found(stimuli: StimulusSet, *, name: str) -> BehavioralAssembly:
    rng = np.random.default_rng(seed_of(name))
    people, trials = 5, len(stimuli)
    distractors = np.choose(stimuli["image_number"].to_numpy() // 2 % 3, ["1.0", "5.0", "11.0"])
    difficulty = distractors.astype(float) * np.where(stimuli["block"] == "first", 0.03, 0.015)
    correct = rng.uniform(size=people * trials) < np.tile(0.95 - difficulty, people)
    coords = {
        "stimulus_id": np.tile(stimuli["stimulus_id"].to_numpy(), people),
        "participant_id": np.repeat([f"person{k}" for k in range(people)], trials),
        "trial_type": np.full(people * trials, "normal"),
        "distractor_nums": np.tile(distractors, people),
        "correct": correct,
    }
    return BehavioralAssembly(
        correct.astype(int),
        coords={key: ("presentation", values) for key, values in coords.items()},
        dims=["presentation"],
    )


for _row in _rows("ferguson2024"):
    for _name in (_row["identifier"], f"{_row['identifier']}_training_stimuli"):
        STIMULUS_SETS[_name] = partial(_search, name=_name)
    ASSEMBLIES[_row["identifier"]] = (_row["stimulus_set"], partial(_found, name=_row["identifier"]))
_stimuli("Zhang2018.search_obj_array", 24, truth=_DRAWN)
ASSEMBLIES["Zhang2018search_obj_array"] = (
    "Zhang2018.search_obj_array",
    partial(answers, name="Zhang2018search_obj_array"),
)

# pictures with classes of ImageNet, which no subject was asked about
_SYNSETS: Final = ("n01440764", "n02123045", "n02099601", "n03792782", "n07753592")
for _name in ("BarbuMayo2019", "imagenet_val"):
    _stimuli(_name, 30, kind="synset", synset=_SYNSETS)
for _name, _kinds in (
    ("noise", ("gaussian_noise", "shot_noise", "impulse_noise")),
    ("blur", ("glass_blur", "motion_blur", "zoom_blur", "defocus_blur")),
    ("weather", ("snow", "frost", "fog", "brightness")),
    ("digital", ("pixelate", "contrast", "elastic_transform", "jpeg_compression")),
):
    _stimuli(
        f"imagenet_c.{_name}", 5 * len(_kinds) * 5, kind="synset", synset=_SYNSETS, noise_level=(1, 2, 3, 4, 5),
        noise_type=[kind for kind in _kinds for _ in range(25)],
    )  # fmt: skip


# each of 20 shapes in each of 5 textures
def _shapes(folder: Path) -> StimulusSet:
    shapes, textures = [f"shape{k:02d}" for k in range(20)], [f"texture{k}" for k in range(5)]
    pairs = [(shape, texture) for shape in shapes for texture in textures]
    table = pd.DataFrame(
        [
            {"stimulus_id": f"{shape}_{texture}", "shape": shape, "texture": texture, "original_image_id": shape}
            for shape, texture in pairs
        ]
    )
    return pictures(folder, table=table, name="Islam2021", kind="shape")


STIMULUS_SETS["Islam2021"] = _shapes
