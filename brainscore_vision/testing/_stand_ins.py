"""Generated data of exactly the form of published data sets."""

import contextlib
import hashlib
import importlib
import os
import pkgutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from brainscore_core.errors import UnknownIdentifier, nearest
from brainscore_core.files import file_digest
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

__all__ = ["list_stand_ins", "make_stimulus_set", "stand_in", "unlinked_assembly"]

MakeStimuli = Callable[[Path], StimulusSet]
MakeAssembly = Callable[[StimulusSet], DataAssembly]


class _Made(NamedTuple):
    """How the stand-ins of all plugins are generated, by the registries' identifiers."""

    stimulus_sets: dict[str, MakeStimuli]
    assemblies: dict[str, tuple[str, MakeAssembly]]


def stand_in(identifier: str) -> DataAssembly | StimulusSet:
    """Generate small data of exactly the form of a published data set. They are simulated: no measurement is in them.

    Class, dimensions, coordinates and columns are the data set's; numbers of stimuli, neuroids and subjects are as
    small as its benchmarks bear. Seeds are fixed: the values are the same in every process.

    Parameters
    ----------
    identifier : str
        Of an assembly, such as ``'MajajHong2015.public'``, or of a stimulus set that has no assembly of its name.

    Returns
    -------
    DataAssembly or StimulusSet
        An assembly has its ``stimulus_set``, whose files lie below ``$BRAINSCORE_HOME/stand_ins``, and is what
        :func:`~brainscore_vision.load_dataset` would return; ``attrs['simulated']`` is 1.

    Raises
    ------
    UnknownIdentifier
        There is no stand-in of that name; the message has the nearest ones.

    Examples
    --------
    >>> assembly = stand_in("MajajHong2015.public")  # doctest: +SKIP
    """
    made = _made()
    if identifier in made.assemblies:
        from brainscore_vision.testing._serving import as_loaded

        return as_loaded(identifier)
    if identifier in made.stimulus_sets:
        return make_stimulus_set(identifier)
    known = sorted({*made.assemblies, *made.stimulus_sets})
    near = nearest(identifier, known, limit=3)
    raise UnknownIdentifier(
        f"there is no stand-in for {identifier!r}",
        remedy=f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}",
    )


def list_stand_ins() -> dict[str, list[str]]:
    """Identifiers of all stand-ins, by kind: ``'assemblies'`` and ``'stimulus_sets'``.

    Examples
    --------
    >>> sorted(list_stand_ins())
    ['assemblies', 'stimulus_sets']
    """
    made = _made()
    return {"assemblies": sorted(made.assemblies), "stimulus_sets": sorted(made.stimulus_sets)}


@cache
def make_stimulus_set(identifier: str) -> StimulusSet:
    """Stand-in of a stimulus set, generated once a process."""
    home = Path(os.environ.get("BRAINSCORE_HOME") or "~/.brain-score").expanduser().absolute()
    home = home / "stand_ins"
    home.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=home, prefix=".") as made:
        folder = Path(made) / identifier
        folder.mkdir()
        stimuli = _made().stimulus_sets[identifier](folder)
        within = {name: Path(path).relative_to(folder) for name, path in stimuli.stimulus_paths.items()}
        final = home / f"{identifier}-{_content(folder, sorted(set(within.values())))}"
        with contextlib.suppress(OSError):  # it is there: another process may make the same at the same time
            folder.rename(final)
    stimuli.stimulus_paths = {name: final / path for name, path in within.items()}
    stimuli.identifier = stimuli.name = identifier
    return stimuli


def _content(folder: Path, files: list[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.as_posix()}\0{file_digest(folder / file, 'sha256')}\n".encode())
    return digest.hexdigest()[:16]


def unlinked_assembly(identifier: str) -> tuple[str, DataAssembly]:
    """Identifier of its stimulus set, and the assembly as it lies in its file: without the stimuli's columns."""
    stimuli, make = _made().assemblies[identifier]
    assembly = make(make_stimulus_set(stimuli))
    assembly.attrs["simulated"] = 1
    return stimuli, assembly


@cache
def _made() -> _Made:
    from brainscore_vision.testing import stand_ins

    made = _Made({}, {})
    for module in pkgutil.iter_modules(stand_ins.__path__):
        loaded = importlib.import_module(f"{stand_ins.__name__}.{module.name}")
        made.stimulus_sets.update(loaded.STIMULUS_SETS)
        made.assemblies.update(loaded.ASSEMBLIES)
    return made
