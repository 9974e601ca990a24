"""Subjects in a container of Docker or Singularity."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.fetch import cache_home
from brainscore_language.artificial_subject import ArtificialSubject
from brainscore_language.model_helpers.preprocessing import contexts_of, parts_of
from brainscore_language.model_helpers.reading import behaviour, part_coords, recorded_units

_BACKENDS = ("docker", "singularity")


class ContainerSubject(ArtificialSubject):
    """A subject whose program is in a container; needs Docker or Singularity.

    The program is called once a part, as ``ENTRYPOINT --model IDENTIFIER --measure MEASURE --context CONTEXT --text
    PART``, and writes JSON to its standard output: ``{"measure": answer}``. For the measure ``next-word`` the answer is
    a word; for ``token-logits`` it is a table tokens × vocabulary, whose rows predict the tokens that stand beside it
    in ``"tokens"``; for the measures in `region_layer_mapping` it is a table 1 × units.

    Parameters
    ----------
    container : str
        Name of the image, such as ``user/image:tag``.
    entrypoint : str
        Command in the container.
    identifier : str
        Unique name, and the ``--model`` of the command.
    region_layer_mapping : dict
        Recording target → measure.
    task_heads : dict, optional
        Task → function of a context and a part that answers in place of the subject's method.
    """

    def __init__(
        self,
        container: str,
        entrypoint: str,
        identifier: str,
        region_layer_mapping: dict[str, str],
        task_heads: Mapping[str, Callable[[str, str], Any]] | None = None,
    ) -> None:
        self._container = container
        self._entrypoint = entrypoint
        self._identifier = identifier
        self._region_layer_mapping = dict(region_layer_mapping)
        self._tasks = {
            ArtificialSubject.Task.next_word: self._predict_next_word,
            ArtificialSubject.Task.reading_times: self._estimate_reading_times,
            **(task_heads or {}),
        }
        self._task: str | None = None
        self._recordings: list[tuple[str, str]] = []
        self._backend = next((name for name in _BACKENDS if shutil.which(name)), "")
        if not self._backend:
            raise UserError(
                f"{identifier} runs in a container, and neither docker nor singularity is installed",
                "install one of them (https://docs.docker.com/engine/install), or score on a machine that has one",
            )
        self._image = container
        if self._backend == "docker":
            self._call("docker", "pull", container)
        else:
            image = cache_home() / "containers" / f"{container.rpartition('/')[2].replace(':', '_')}.sif"
            self._image = str(image)
            if not image.exists():
                image.parent.mkdir(parents=True, exist_ok=True)
                self._call("singularity", "pull", str(image), f"docker://{container}")

    def identifier(self) -> str:
        """Name of the subject."""
        return self._identifier

    def start_behavioral_task(self, task: str) -> None:
        """Do a task: ``'next_word'`` or ``'reading_times'``, as far as the program does it."""
        if task not in self._tasks:
            raise NotImplementedError(f"{self._identifier} does no task {task!r}")
        self._task = task

    def start_neural_recording(self, recording_target: str, recording_type: str) -> None:
        """Record the measure of a target."""
        if recording_target not in self._region_layer_mapping:
            raise NotImplementedError(f"{self._identifier} has no measure for {recording_target!r}")
        self._recordings.append((recording_target, recording_type))

    def digest_text(self, text: str | list[str]) -> dict[str, Any]:
        """Read a text, one call of the program a part and measure; see :meth:`ArtificialSubject.digest_text`."""
        parts = parts_of(text)
        contexts = list(contexts_of(parts))
        coords = part_coords(parts, contexts)
        output: dict[str, Any] = {"behavior": None, "neural": None}
        with ThreadPoolExecutor(os.cpu_count()) as pool:  # each thread waits for a process
            if self._task is not None:
                output["behavior"] = behaviour(list(pool.map(self._tasks[self._task], contexts, parts)), coords)
            responses = {}
            for target, recording_type in self._recordings:
                measure = self._region_layer_mapping[target]
                rows = pool.map(self._represent, contexts, parts, [measure] * len(parts))
                responses[target, recording_type, measure] = np.concatenate(list(rows))
            if responses:
                output["neural"] = recorded_units(responses, coords, target="region", numbered=False)
        return output

    def _represent(self, context: str, text: str, measure: str) -> np.ndarray:
        values = np.asarray(self._answer(context, text, measure)["measure"])
        if values.ndim != 2 or len(values) != 1:
            raise self._unreadable(measure, f"a table of shape {values.shape} in place of 1 × units")
        return values

    def _predict_next_word(self, context: str, text: str) -> str:
        return str(self._answer(context, text, "next-word")["measure"])

    def _estimate_reading_times(self, context: str, text: str) -> float:
        answer = self._answer(context, text, "token-logits")
        logits = np.asarray(answer["measure"], dtype=float)
        tokens = np.asarray(answer.get("tokens", []), dtype=int)
        if logits.ndim != 2 or len(logits) != len(tokens):
            raise self._unreadable("token-logits", f"{len(tokens)} tokens beside logits of shape {logits.shape}")
        logits -= logits.max(axis=1, keepdims=True)
        chosen = logits[np.arange(len(tokens)), tokens]
        return float((np.log(np.exp(logits).sum(axis=1)) - chosen).sum() / np.log(2))

    def _answer(self, context: str, text: str, measure: str) -> dict[str, Any]:
        options = {"model": self._identifier, "measure": measure, "context": _plain(context), "text": _plain(text)}
        stated = " ".join(f"--{name} {shlex.quote(value)}" for name, value in options.items())
        output = self._call(self._backend, "run", self._image, f"{self._entrypoint} {stated}")
        try:
            answer = json.loads(output)
        except ValueError:
            answer = None
        if not isinstance(answer, dict) or "measure" not in answer:
            raise self._unreadable(measure, repr(output[:200]))
        return answer

    def _unreadable(self, measure: str, what: str) -> UserError:
        return UserError(
            f"the container {self._container} answered {what} to the measure {measure!r}",
            'its program writes {"measure": …} to standard output, as the class describes',
        )

    def _call(self, *command: str) -> str:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 # stated by the plugin
        if done.returncode:
            raise UserError(
                f"{Path(command[0]).name} {command[1]} of {self._container} failed: {done.stderr.strip()[-500:]}",
                "run the command by hand to see all of its output: " + shlex.join(command)[:300],
            )
        return done.stdout


def _plain(text: str) -> str:
    """One line, with apostrophes in place of quotation marks, as the published programs expect."""
    return re.sub(r"\s+", " ", text).replace('"', "'")
