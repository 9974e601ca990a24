"""What the Brain-Score platform published of Geirhos et al. 2021: assemblies and stimulus sets in S3, with images.

Identifiers, conditions and columns are not the authors' files': a stimulus is ``cr_oven_40_n04111531_14126`` here and
``cl_cr_oven_40_n04111531_14126.png`` there.
"""

from typing import Final, NamedTuple

from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.data.geirhos2019.trials import stimulus_id

BUCKET: Final = "brainscore-storage/brainio-brainscore"
VERSION: Final = "null"


class Published(NamedTuple):
    """sha1 of the three objects of a test."""

    nc: str
    csv: str
    zip: str


PUBLISHED: Final = {
    "colour": Published(
        nc="258862d82467614e45cc1e488a5ac909eb6e122d",
        csv="9c97c155fd6039a95978be89eb604c6894c5fa16",
        zip="d166f1d3dc3d00c4f51a489e6fcf96dbbe778d2c",
    ),
    "contrast": Published(
        nc="1e114c987dc035ccca43781ff8cee9689acd3c3f",
        csv="f6ef69a2e8937e1d0d83c8a21b325b4273494cb5",
        zip="ebeeef2f9c6a7282e20ef2026dc77eefa026957b",
    ),
    "cue-conflict": Published(
        nc="cc214e3595d34565b13963c5f56049769a39a5c9",
        csv="8d3ae89d8870fb7d7c5d5ff387085b1f0116e2b7",
        zip="7e601186b181102939cd0b43a4e8a3ca95c18259",
    ),
    "edge": Published(
        nc="ab1dc9e188e248da07215b375eb3dbcc58fde7fb",
        csv="fb57005ecb80e4e37b01e084f1f176fe7f59ff7f",
        zip="6c1199d90836a26be454aa799864a63c5efacaa1",
    ),
    "eidolonI": Published(
        nc="0f01f351ae19eafc2cb5e504d98e5cd01b4c07b4",
        csv="049adbed36fed52c609d38d5230e6084336df6b9",
        zip="abaa45a225628dd66e424ec7d8e2b10a0c88bc0d",
    ),
    "eidolonII": Published(
        nc="499eea0f0c0817d02b5b97d2ebab89bc4c40a153",
        csv="1806ada128c260ab54db570d2e73aea71d679754",
        zip="2654ba55291f8ab972f18b36565f9ead80a45339",
    ),
    "eidolonIII": Published(
        nc="e7c9a49e729f8666f8aedc6e47c746fbbe2ebe36",
        csv="ba0173b315f02df16d418dc3ff1df7dc498b4893",
        zip="d0304c0c0024d0f493ea9c0c47ae0221da391016",
    ),
    "false-colour": Published(
        nc="4dc072264651c81575564ba4818a12b8e8039c65",
        csv="8a09a7af8ec44339bcae5500ae5900d9c4309042",
        zip="ec0ba347fc14d0c0587d38bfa96e4ab5d2f7979a",
    ),
    "high-pass": Published(
        nc="5df45c69127758f1ba3391671c521711050e3b4d",
        csv="ddf523dcf43398cc15894c7b51c436d526e6c992",
        zip="12322bb17270a5dde206314fcdc125c4bb235e3b",
    ),
    "low-pass": Published(
        nc="75ab628d9e6d0d634290567b1cb261d7f8dc61e2",
        csv="1264f9be407c7d428cf3d62a7bb1b1bb45a821bc",
        zip="ad087676e04e51adadea7c7c5c1fa28e4dd6360c",
    ),
    "phase-scrambling": Published(
        nc="4124f9f5b86fb6ed82c98197d292eef50b608aba",
        csv="0cc87f7ac42c2266f98d3a08783f7173499ec2fc",
        zip="462e77ab9533072b7036118f1f697e8c9bf30ae4",
    ),
    "power-equalisation": Published(
        nc="0aba1b50a7e0802d76c41d332a121a3f96ef4f7d",
        csv="743935476b1fe4b7bd4d01a4eed24cd9ed5b3a22",
        zip="a0d5307525bccf8da8f3d293e7e324b9b20248c6",
    ),
    "rotation": Published(
        nc="e51a5c3bc95ade159e71aa602232063730bcd57b",
        csv="2577831e9ead905669613fa17cb2651d0c48a455",
        zip="8f5d9cb217807e96ace61337144e429d0d4ba04c",
    ),
    "silhouette": Published(
        nc="7dc94991465fe8009244e0d6fb8283419a1f9885",
        csv="fb57005ecb80e4e37b01e084f1f176fe7f59ff7f",
        zip="36c8a481f7876a2af2ad4fe80890b302fe3ae91e",
    ),
    "sketch": Published(
        nc="6709850864cea16d99a29fb31ae3c4a489983562",
        csv="a5741b2f7bd08541a0dbefd7fb2d6a3845ca800b",
        zip="8e8712f08a5ad3655ea2bd8cd675db8cdf65129a",
    ),
    "stylized": Published(
        nc="dcf15f292e787a88e1e0f271e6b2838d6bdadfd3",
        csv="2265a540dee6915150bf7c61143eaf788f603866",
        zip="75d273e8de643b0d814fbe60cd237c31ebe19c44",
    ),
    "uniform-noise": Published(
        nc="f5e8b2636738f978c71591b8df6f8a21a66b72d1",
        csv="89b62a6af878974d388278ed0e23e8ed1c2fd855",
        zip="ff4566542d65056028660293e2409b532e887714",
    ),
}
"""By test."""


def load_published_assembly(test: str) -> DataAssembly:
    """Decisions of all observers of a test, tied to their stimulus set.

    `test`: key of :data:`PUBLISHED`.
    """
    from brainscore_core.supported_data_standards.brainio.s3 import load_assembly_from_s3

    return load_assembly_from_s3(
        identifier=f"brendel.Geirhos2021_{test}",
        version_id=VERSION,
        sha1=PUBLISHED[test].nc,
        bucket=BUCKET,
        cls="BehavioralAssembly",
        stimulus_set_loader=lambda: load_published_stimuli(test),
    )


def load_published_stimuli(test: str) -> StimulusSet:
    """All images of a test.

    `test`: key of :data:`PUBLISHED`.
    """
    from brainscore_core.supported_data_standards.brainio.s3 import load_stimulus_set_from_s3

    return load_stimulus_set_from_s3(
        identifier=f"Geirhos2021_{test}",
        bucket=BUCKET,
        csv_sha1=PUBLISHED[test].csv,
        zip_sha1=PUBLISHED[test].zip,
        csv_version_id=VERSION,
        zip_version_id=VERSION,
    )


def under_authors_names(published: StimulusSet, stimuli: StimulusSet) -> StimulusSet:
    """The authors' table of a test's stimuli, with the published images.

    `published`: with the images' file names as they were shown to networks in the column ``image_id_long``. `stimuli`:
    all stimuli of the test under the authors' names, without files. Result: the stimuli whose image is published.
    """
    paths = {
        stimulus_id(f"{long_name}.png"): published.get_stimulus(name)
        for name, long_name in zip(published["stimulus_id"], published["image_id_long"], strict=True)
    }
    covered = StimulusSet(stimuli[stimuli["stimulus_id"].isin(paths)].reset_index(drop=True))
    covered.identifier = stimuli.identifier
    covered.stimulus_paths = {name: paths[name] for name in covered["stimulus_id"]}
    return covered
