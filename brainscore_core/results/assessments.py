"""The store of assessments, beside the receipts of scores."""

import os
from collections.abc import Collection, Iterator, Sequence
from hashlib import sha256
from pathlib import PurePosixPath

from brainscore_core.identifiers import to_folder_name
from brainscore_core.paths import default_results_address
from brainscore_core.receipts.assessment import Assessment, Part
from brainscore_core.results.claims import Claim, claim_pair
from brainscore_core.results.store import Problem, ResultsStore, backend_of, read_entries

_FOLDER = ".assessments"  # names with a dot are not read as receipts of scores


class AssessmentStore:
    """Assessments as ``.assessments/<benchmark>/<part>/<id>.json`` in a store of results.

    As receipts, an assessment appears whole or not at all, and is never changed. A store can be sent to other
    processes.

    Parameters
    ----------
    results : path, address or ResultsStore, optional
        The store of results; by default :func:`~brainscore_core.paths.default_results_address`.

    Examples
    --------
    >>> import tempfile
    >>> from brainscore_core.receipts.assessment import Used
    >>> store = AssessmentStore(tempfile.mkdtemp())
    >>> found = Assessment(part="audit", benchmark=Used(kind="benchmark", identifier="Some2026.V1-pls"),
    ...                    state="not applicable", reason="it has no stimuli")
    >>> store.latest("Some2026.V1-pls", "audit", ()) is None, store.write(found).id is None
    (True, False)
    >>> store.latest("Some2026.V1-pls", "audit", ()).reason
    'it has no stimuli'
    """

    def __init__(self, results: str | os.PathLike[str] | ResultsStore | None = None) -> None:
        if isinstance(results, ResultsStore):
            results = results.address
        address = os.fspath(default_results_address() if results is None else results)
        self._results = address
        self._backend = backend_of(f"{address.rstrip('/')}/{_FOLDER}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._results,)

    @property
    def address(self) -> str:
        """Folder or address in a bucket."""
        return self._backend.address

    def require_writable(self) -> None:
        """Check that assessments can be written; create the folder if it is missing.

        Raises
        ------
        UserError
            If they cannot be written.
        """
        self._backend.require_writable()

    def write(self, assessment: Assessment) -> Assessment:
        """Store an assessment, and return it with its id.

        Raises
        ------
        StoreError
            If the folder or the bucket cannot be written.
        """
        stored = assessment.identified()
        text = stored.to_json()
        with self._backend.writing(_place(stored.benchmark.identifier, stored.part)) as writing:
            writing.finish(f"{stored.id}.json", text)
        return stored

    def address_of(self, assessment: Assessment) -> str:
        """Path of an assessment's file, or its address in a bucket."""
        return self._backend.address_of(
            f"{_place(assessment.benchmark.identifier, assessment.part)}/{assessment.id}.json"
        )

    def latest(self, benchmark: str, part: Part, models: Sequence[str]) -> Assessment | None:
        """Newest readable assessment of this part with these models; None if there is none."""
        names = self._names(to_folder_name(benchmark), part)
        for name in reversed(names):
            for entry in self._read([name]):
                if isinstance(entry, Assessment) and [model.identifier for model in entry.models] == list(models):
                    return entry
        return None

    def newest(self, benchmark: str | None = None) -> tuple[list[Assessment], list[Problem]]:
        """Newest assessment of each benchmark, part and set of models, and files that cannot be read.

        Parameters
        ----------
        benchmark : str, optional
            Only of this one.
        """
        newest: dict[tuple[str, ...], Assessment] = {}
        problems: list[Problem] = []
        for entry in self._read(self._names(None if benchmark is None else to_folder_name(benchmark), None)):
            if isinstance(entry, Problem):
                problems.append(entry)
            elif benchmark in {None, entry.benchmark.identifier}:
                names = (model.identifier for model in entry.models)
                newest[entry.benchmark.identifier, entry.part, *names] = entry  # read in the order of their ids
        return list(newest.values()), problems

    def unread(self, known: Collection[str]) -> Iterator[Assessment | Problem]:
        """Read the assessments whose ids are not known, and report files that cannot be read.

        Parameters
        ----------
        known : collection of str
            Ids; their files are not opened.
        """
        yield from self._read([name for name in self._names(None, None) if PurePosixPath(name).stem not in known])

    def claim(self, benchmark: str, part: Part, models: Sequence[str] = (), *, owner: str = "") -> Claim | None:
        """Claim a part of a benchmark with these models, so that only one of several processes computes it.

        None if another process has claimed it.
        """
        folder = f"{_place(benchmark, part)}-{sha256(repr(tuple(models)).encode()).hexdigest()[:12]}"
        return claim_pair(
            self._backend.claims, folder, model=", ".join(models) or part, benchmark=benchmark, owner=owner
        )

    def _names(self, benchmark: str | None, part: str | None) -> list[str]:
        return [name for name in self._backend.names(benchmark, part) if name.endswith(".json")]

    def _read(self, names: Sequence[str]) -> Iterator[Assessment | Problem]:
        return read_entries(self._backend, names, Assessment.from_json)


def _place(benchmark: str, part: str) -> str:
    return f"{to_folder_name(benchmark)}/{part}"
