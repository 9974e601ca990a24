"""Linear readouts of labels, fitted on labelled images."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError, spelling_hint
from brainscore_core.provenance import note
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.stimuli.labels import imagenet_synsets, index_lists, plain_label

ReadoutStimuli = StimulusSet | str | Callable[[], StimulusSet]
Aggregation = Literal["mean", "max"]
ChoiceLabels = str | Sequence[str] | Mapping[str, Sequence[int]]


class LogisticReadout:
    """Standardisation and multinomial logistic regression; see :class:`ProbabilitiesMapping`.

    `features`: stimuli × features; features to read out from. `labels`: labels, at least two different ones.
    """

    def __init__(self, features: NDArray[Any], labels: NDArray[Any]) -> None:
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        self.labels = np.array(list(dict.fromkeys(labels)), dtype=object)
        if len(self.labels) < 2:
            raise UserError(
                f"all fitting stimuli have the label {self.labels[0]!r}" if len(labels) else "no fitting stimuli",
                remedy="pass stimuli of at least two labels",
            )
        index = {label: number for number, label in enumerate(self.labels)}
        penalty = 1e-3 * (2 if len(self.labels) == 2 else 1)  # see Notes of ProbabilitiesMapping
        self._regression = make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cg", C=penalty))
        self._regression.fit(features.astype(np.float64), np.array([index[label] for label in labels]))

    def probabilities(self, features: NDArray[Any]) -> NDArray[np.float64]:
        """Probability of each label (stimuli × labels, in order of first appearance); rows sum to 1."""
        return self._regression.predict_proba(features.astype(np.float64))


def require_labels(stimuli: Any, problem: str, remedy: str) -> None:
    """Raise an error, with this problem and remedy, unless these are stimuli with labels."""
    if not isinstance(stimuli, StimulusSet) or "image_label" not in stimuli.columns:
        raise UserError(problem, remedy=remedy)
    if stimuli["image_label"].isna().any():
        name = stimuli.identifier or "the stimulus set"
        raise UserError(f"some stimuli of {name} have no 'image_label'", remedy="label them or leave them out")


def aggregated(
    probabilities: NDArray[np.floating], lists: Iterable[Sequence[int]], aggregation: Aggregation
) -> NDArray[np.float64]:
    """Mean or largest of the probabilities in each list of columns, stimuli × lists."""
    reduce = np.mean if aggregation == "mean" else np.max
    return np.stack([reduce(probabilities[:, list(columns)], axis=1) for columns in lists], axis=1)


class ReadoutChoices(NamedTuple):
    """Choices of a fitted readout."""

    labels: NDArray[Any]  # one for each presentation
    features: NeuroidAssembly  # they have the coordinates of the presentations
    description: str  # what the readout was fitted on


class FittedReadout:
    """Labels of stimuli for a model without logits of ImageNet, from a readout that is fitted on labelled images.

    `features` returns the features of stimuli, stimuli × features. The readout is fitted on `stimuli`: images with a
    column ``image_label``, which are not placed on a screen, so that each fills the model's input; the name of a
    registered stimulus set; or a function that returns one. Image labels are the labels to choose from, or synsets of
    ImageNet.
    """

    def __init__(
        self,
        identifier: str,
        features: Callable[..., NeuroidAssembly],
        layers: Sequence[str],
        stimuli: ReadoutStimuli,
    ) -> None:
        self._identifier = identifier
        self._features = features
        self._layers = list(layers)
        self._given = stimuli
        self._fitted: dict[tuple[str, ...], tuple[LogisticReadout, str]] = {}

    def choose(
        self, choice_labels: ChoiceLabels, stimuli: StimulusSet, aggregation: Aggregation = "mean", **options: Any
    ) -> ReadoutChoices:
        """Choose the label of each stimulus.

        The readout is fitted on the images with one of `choice_labels`; if these are not labels of the images, on the
        images of their ImageNet classes, whose probabilities are aggregated like those of logits.

        A UserError if no image has one of the labels.
        """
        classes = self._classes(choice_labels)
        readout, description = self._fit(tuple(dict.fromkeys(name for names in classes.values() for name in names)))
        features = self._features(stimuli, **options)
        probabilities = readout.probabilities(features.values)
        column = {label: position for position, label in enumerate(readout.labels)}
        columns = ([column[name] for name in names] for names in classes.values())
        best = aggregated(probabilities, columns, aggregation).argmax(axis=1)
        note("readout", text=description)
        return ReadoutChoices(np.array(list(classes), dtype=object)[best], features, description)

    def _classes(self, choice_labels: ChoiceLabels) -> dict[str, list[str]]:
        """Image labels of each label to choose from."""
        labels = list(dict.fromkeys(self._images["image_label"]))
        synsets = set(imagenet_synsets())
        of_imagenet = synsets.issuperset(labels)
        if isinstance(choice_labels, str) and choice_labels == "imagenet":
            if not of_imagenet:
                unknown = next(label for label in labels if label not in synsets)
                raise UserError(
                    f"the readout of {self._identifier!r} is fitted on images with the label {unknown!r}",
                    remedy="pass readout_stimuli whose image_label are ImageNet synsets, such as 'n01440764'",
                )
            return {label: [label] for label in labels}
        by_name: dict[str, str] = {}
        for label in labels:
            earlier = by_name.setdefault(plain_label(label), label)
            if earlier != label:
                raise UserError(
                    f"the readout of {self._identifier!r} has images of {earlier!r} and of {label!r}",
                    remedy="name the labels alike in the column 'image_label'",
                )
        if not isinstance(choice_labels, str):
            names = {label: plain_label(label) for label in choice_labels}
            if len(set(names.values())) < len(names):
                raise UserError(
                    f"some labels to choose from differ in capitals or blanks only: {', '.join(map(repr, names))}",
                    remedy="name each once",
                )
            if by_name.keys() >= set(names.values()):
                return {label: [by_name[name]] for label, name in names.items()}
            if not of_imagenet:
                self._refuse([label for label, name in names.items() if name not in by_name])
        synset_names, shown = imagenet_synsets(), set(labels)
        lists = index_lists(choice_labels)
        classes = {
            label: [synset_names[index] for index in indices if synset_names[index] in shown]
            for label, indices in lists.items()
        }
        self._refuse([label for label, names in classes.items() if not names])
        return classes

    def _refuse(self, missing: Sequence[str]) -> None:
        if missing:
            labels = list(dict.fromkeys(self._images["image_label"]))
            raise UserError(
                f"the readout of {self._identifier!r} has no images of {', '.join(map(repr, missing))}; its labels are "
                f"{', '.join(map(repr, labels[:5]))}{' and others' if len(labels) > 5 else ''}",
                remedy=spelling_hint(missing, labels)
                or "pass readout_stimuli whose image_label are the labels to choose from, or ImageNet synsets",
            )

    def _fit(self, labels: tuple[str, ...]) -> tuple[LogisticReadout, str]:
        key = tuple(sorted(labels))
        if key not in self._fitted:
            images = self._images[self._images["image_label"].isin(labels)]
            features = self._features(images)
            name = images.identifier or "a stimulus set without identifier"
            description = (
                f"fitted readout: labels are read out of layer {', '.join(self._layers)} by logistic regression on "
                f"{len(images)} images of {len(labels)} labels of {name}"
            )
            self._fitted[key] = LogisticReadout(features.values, features["image_label"].values), description
        return self._fitted[key]

    @cached_property
    def _images(self) -> StimulusSet:
        stimuli: Any = self._given
        if isinstance(stimuli, str):
            from brainscore_vision.registries import load_stimulus_set

            stimuli = load_stimulus_set(stimuli)
        elif not isinstance(stimuli, StimulusSet):
            stimuli = stimuli()
        require_labels(
            stimuli,
            f"the readout of {self._identifier!r} has no labelled images to be fitted on",
            "pass readout_stimuli=StimulusSet(…) with a column 'image_label'",
        )
        return stimuli
