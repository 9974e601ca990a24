"""Labels of images, and the ImageNet classes of each label."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from brainscore_core.errors import UserError, nearest

NUMBER_OF_CLASSES = 1000
_FOLDER = Path(__file__).parent / "label_maps"


@cache
def imagenet_synsets() -> tuple[str, ...]:
    """Synsets of ILSVRC 2012 in the order of a network's logits.

    Examples
    --------
    >>> imagenet_synsets()[0]  # tench
    'n01440764'
    """
    return tuple(_read("imagenet_synsets.json"))


@cache
def known_labels() -> Mapping[str, tuple[int, ...]]:
    """Label → indices of its ImageNet classes, as published.

    The 16 entry-level categories of Geirhos et al. 2018 (https://doi.org/10.48550/arXiv.1808.08750) and the labels of
    later experiments; ``label_maps/README.md`` names the source of each.

    Examples
    --------
    >>> known_labels()["knife"]
    (499,)
    """
    lists = dict(_read("geirhos16.json"))
    for origin in _read("additional_labels.json").values():
        lists |= origin
    return {label: tuple(indices) for label, indices in lists.items()}


def label_to_indices(label: str) -> tuple[int, ...]:
    """Indices of the ImageNet classes of a label; case and blanks are ignored.

    `label`: one of :func:`known_labels`. A UserError if no list of classes is published for this label; the message has
    the nearest labels.

    Examples
    --------
    >>> label_to_indices("Sewing machine")
    (786,)
    """
    lists = known_labels()
    name = plain_label(label)
    if name not in lists:
        near = nearest(name, lists)
        raise UserError(
            f"the ImageNet classes of {label!r} are not known"
            + (f"; did you mean {' or '.join(map(repr, near))}?" if near else ""),
            remedy="pass a dictionary from label to indices of logits, such as {'sloth': [297, 364]}; "
            f"known labels: {', '.join(sorted(lists))}",
        )
    return lists[name]


def plain_label(label: object) -> str:
    """A label in lower case without blanks, for comparison.

    Examples
    --------
    >>> plain_label("Sewing machine")
    'sewingmachine'
    """
    return str(label).lower().replace(" ", "")


def index_lists(choice_labels: Mapping[str, Sequence[int]] | Sequence[str]) -> dict[str, list[int]]:
    """Indices of the classes of each label, in the order of the labels."""
    if isinstance(choice_labels, Mapping):
        lists = {label: np.atleast_1d(indices).tolist() for label, indices in choice_labels.items()}
    elif isinstance(choice_labels, str):
        raise UserError(f"{choice_labels!r} is not a list of labels", remedy="pass 'imagenet', or a list of labels")
    else:
        lists = {label: list(label_to_indices(label)) for label in choice_labels}
    if not lists:
        raise UserError("there are no labels to choose from", remedy="pass a list of labels, or 'imagenet'")
    for label, indices in lists.items():
        if not indices or any(type(index) is not int or not 0 <= index < NUMBER_OF_CLASSES for index in indices):
            raise UserError(
                f"the label {label!r} stands for the logits {indices}",
                remedy=f"pass at least one whole number, from 0 to {NUMBER_OF_CLASSES - 1}",
            )
    labels: dict[tuple[int, ...], str] = {}
    for label, indices in lists.items():
        earlier = labels.setdefault(tuple(sorted(indices)), label)
        if earlier != label:
            raise UserError(
                f"the labels {earlier!r} and {label!r} stand for the same logits {indices}",
                remedy=f"leave out one of them: {label!r} is never chosen",
            )
    return lists


def _read(name: str) -> Any:
    return json.loads((_FOLDER / name).read_text(encoding="utf-8"))
