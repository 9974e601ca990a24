"""The domains, such as vision and language: what each offers, and to which of them a name belongs.

A domain is a package with plugins. It describes itself by one `Domain`, which is all that command line, website and
core know of it.

>>> [each.name for each in domains()]
['vision', 'language']
>>> find("benchmark", "NaturalStories2021-added")
Name(domain='language', identifier='NaturalStories2021-added')
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from brainscore_core.domain_names import DOMAINS, FIRST, SEPARATOR, split_name
from brainscore_core.errors import UnknownIdentifier, UserError, nearest
from brainscore_core.training_data import Finding

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark
    from brainscore_core.plugins import PluginIndex, Registry
    from brainscore_core.receipts.receipt import BenchmarkInfo
    from brainscore_core.results.tree import BenchmarkTable, Tree

KINDS: Mapping[str, str] = {
    "models": "model",
    "benchmarks": "benchmark",
    "metrics": "metric",
    "data": "data",
    "stimulus-sets": "stimulus_set",
}
"""Kind of object as commands and addresses name it → as registries and receipts name it."""


@dataclass(frozen=True, kw_only=True)
class Wording:
    """Words of pages and messages that differ between domains.

    Examples
    --------
    >>> domain("language").wording.stimuli
    'texts'
    """

    title: str  # title of a tab or a column
    stimulus: str  # what is shown to a model
    stimuli: str
    presented: str  # participle: "shown", "read"
    model: str  # an example of a model's name
    benchmark: str  # an example of a benchmark's name
    subject: str  # what a model is called
    sites: str  # what recordings have many of: "neuroids", "voxels"
    about: str  # a sentence on the domain's benchmarks
    extra: str  # of the distribution, with what models need


@dataclass(frozen=True, kw_only=True)
class Domain:
    """Description of a domain.

    - `name`: such as ``'vision'``; prefix of names, value of ``--domain`` and of the field of receipts.
    - `package`: such as ``'brainscore_vision'``; its folders ``benchmarks/``, ``data/``, ``metrics/``, ``models/`` hold
      plugins.
    - `plugin_index`: where plugins are found; ``plugin_index.variable`` is the environment variable with further
      folders.
    - `registries`: registry of each kind: ``'benchmark'``, ``'data'``, ``'metric'``, ``'model'``; vision has
      ``'stimulus_set'``.
    - `loaders`: function that loads an object by its name, by kind.
    - `model_interface`: address of the class whose methods benchmarks call.
    - `measurements`: kinds of measurements: ``'neural'``, ``'behavioural'``, ``'engineering'``.
    - `control`: a quick benchmark without measurements, on which new models are tried.
    - `examples`: small models, on which new benchmarks are tried: the first that can do what a benchmark asks.
    - `table`: tree of the domain's benchmarks along which averages are computed, and version, parent and kind of each.
    - `wording`: words of pages.
    - `features`: functions of the domain, by name: ``'module:object'``. `REQUIRED_FEATURES` exist in each domain,
      others only where they make sense.

    Examples
    --------
    >>> vision = domain("vision")
    >>> vision.package, sorted(vision.registries)
    ('brainscore_vision', ['benchmark', 'data', 'metric', 'model', 'stimulus_set'])
    >>> vision.table.listed("MajajHong2015.IT-pls").parent
    'IT'
    >>> vision.offers("encoders"), domain("language").offers("encoders")
    (True, False)
    """

    name: str
    package: str
    plugin_index: PluginIndex
    registries: Mapping[str, Registry[Any]]
    loaders: Mapping[str, Callable[..., Any]]
    model_interface: str
    measurements: tuple[str, ...]
    control: str
    examples: tuple[str, ...]
    table: BenchmarkTable
    wording: Wording
    features: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for registry in self.registries.values():
            registry.owners_elsewhere = self._other_domains

    def _other_domains(self, noun: str, identifier: str) -> list[str]:
        """Names of the other domains that have an object of this name."""
        return [each.name for each in domains() if each.name != self.name and each.has_listed(noun, identifier)]

    def knows(self, kind: str, identifier: str) -> bool:
        """Whether an object is registered, or made by the resolver of its kind; no plugin is imported."""
        registry = self.registries.get(kind)
        return registry is not None and (identifier in registry or registry.resolver_of(identifier) is not None)

    def has_listed(self, noun: str, identifier: str) -> bool:
        """Whether a registry of this noun is known to have an object."""
        return any(each.noun == noun and each.lists(identifier) for each in self.registries.values())

    def folder(self, kind: str, identifier: str) -> Path | None:
        """Folder of the plugin that registers an object, or of its resolver; None if there is neither."""
        registry = self.registries.get(kind.rpartition(" ")[2])  # such as selection data
        return None if registry is None else registry.folder(identifier)

    def require_model(self, model: str, identifier: str | None = None, how: Mapping[str, Any] | None = None) -> None:
        """Raise an error if a model is neither registered nor of a library, or if options are given for it."""
        self.registries["model"].require(model, [*(["identifier"] if identifier is not None else []), *(how or {})])

    def offers(self, feature: str) -> bool:
        """Whether the domain has a feature."""
        return feature in self.features

    def feature(self, name: str) -> Any:
        """Import a function of the domain, or another object of `features`.

        Raises UserError if the domain does not have it; the message names the domains that do.
        """
        if name not in self.features:
            others = [each.name for each in domains() if each.offers(name)]
            raise UserError(
                f"{name} {'is' if not name.endswith('s') else 'are'} for models of {' or '.join(others)}, "
                f"not of {self.name}"
                if others
                else f"no domain has {name}"
            )
        return imported(self.features[name])

    def load(self, kind: str, identifier: str, *arguments: Any, **options: Any) -> Any:
        """Load an object of a kind of `registries`."""
        if kind not in self.loaders:
            raise UserError(f"{self.name} has no {kind.replace('_', ' ')}s", remedy=f"kinds: {', '.join(self.loaders)}")
        return self.loaders[kind](identifier, *arguments, **options)

    def load_model(self, identifier: str) -> Any:
        """Load a model, which has the methods of `model_interface`."""
        return self.load("model", identifier)

    def load_benchmark(self, identifier: str) -> Benchmark:
        """Load a benchmark: called with a model, it returns a score."""
        return self.load("benchmark", identifier)

    def load_dataset(self, identifier: str) -> Any:
        """Load measurements."""
        return self.load("data", identifier)

    def load_metric(self, identifier: str, *arguments: Any, **options: Any) -> Any:
        """Make a metric."""
        return self.load("metric", identifier, *arguments, **options)

    def exposure(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Finding]:
        """Whether models were trained on the stimuli of benchmarks; unknown if the domain does not record it."""
        if self.offers("exposure"):
            findings: dict[tuple[str, str], Finding] = self.feature("exposure")(pairs)
            return findings
        unknown = Finding("unknown", f"models of {self.name} do not state what they were trained on")
        return dict.fromkeys(pairs, unknown)

    def tree(self, further: Iterable[BenchmarkInfo] = ()) -> Tree:
        """Make the tree of the benchmarks that come with the domain, and of `further` ones below their parents."""
        return self.table.tree(further)


REQUIRED_FEATURES = ("isolated model", "model server", "unregistered model")
"""Features of all domains: what ``--isolated`` needs, and a model from a file or an object."""


def imported(address: str) -> Any:
    """Import the object of an address ``'module:name'``, or a module."""
    module, _, name = address.partition(":")
    content = importlib.import_module(module)
    return getattr(content, name) if name else content


@cache
def domain(name: str = FIRST) -> Domain:
    """Import the description of a domain.

    Raises UserError if the domain is unknown; the message lists the domains.

    Examples
    --------
    >>> domain("music")
    Traceback (most recent call last):
        ...
    brainscore_core.errors.UserError: 'music' is not a domain
    domains: vision, language
    """
    if name not in DOMAINS:
        raise UserError(f"{name!r} is not a domain", remedy=f"domains: {', '.join(DOMAINS)}")
    description: Domain = imported(DOMAINS[name])
    return description


def domains(names: Iterable[str] | None = None) -> tuple[Domain, ...]:
    """Import the descriptions of all domains, or of those that are named."""
    return tuple(domain(name) for name in (DOMAINS if names is None else names))


class Name(NamedTuple):
    """A name without prefix, and the name of its domain."""

    domain: str
    identifier: str


def find(kind: str, text: str, *, among: Collection[str] | None = None) -> Name:
    """Find the domain of a name.

    No plugin is imported, except for names that no domain knows: they may be identifiers of benchmarks with other keys.

    - `kind`: ``'model'``, ``'benchmark'``, ``'metric'``, ``'data'`` or ``'stimulus_set'``.
    - `text`: a name, alone or with the name of its domain in front: ``language:gpt2``.
    - `among`: names of domains to look in; by default all.

    Returns: ``domain`` and ``identifier``. If no domain knows the name, the domain with the nearest name, whose
    registry raises the error. Raises UserError: the name is ambiguous: the message has all spellings. Or its prefix is
    not among the domains.

    Examples
    --------
    >>> find("model", "vision:pixels"), find("model", "word-length")
    (Name(domain='vision', identifier='pixels'), Name(domain='language', identifier='word-length'))
    """
    stated, identifier = split_name(text)
    allowed = [name for name in DOMAINS if among is None or name in among]
    if stated is not None:
        if stated not in allowed:
            raise UserError(
                f"{text!r} is of the domain {stated}, not of {' or '.join(allowed)}", remedy="choose another"
            )
        return Name(stated, identifier)
    registries = {name: domain(name).registries[kind] for name in allowed if kind in domain(name).registries}
    owners = [name for name, registry in registries.items() if registry.lists(identifier)]
    owners = owners or [name for name, registry in registries.items() if identifier in registry]
    if len(owners) > 1:
        spellings = [f"{name}{SEPARATOR}{identifier}" for name in owners]
        raise UserError(
            f"The {kind.replace('_', ' ')} {identifier!r} exists in {' and '.join(owners)}",
            remedy=f"write {' or '.join(spellings)}",
        )
    if owners or len(allowed) == 1:
        return Name((owners or allowed)[0], identifier)
    return Name(_likely_domain(kind, identifier, allowed), identifier)


def domain_of(kind: str, identifier: str) -> Domain:
    """Return the domain of a name without prefix, as :func:`find` finds it."""
    return domain(find(kind, identifier).domain)


def find_pair(model: Any, benchmark: str, *, among: Collection[str] | None = None) -> tuple[str, Any, str]:
    """Find the domain of a model and a benchmark, and return it with both names without prefix.

    `model`: a name; or a file or an object, which belongs to the domain of the benchmark. A name that several domains
    know, such as ``huggingface:gpt2``, belongs to that of the benchmark, too.

    Raises UserError: the two are of different domains, or the benchmark's name is ambiguous.

    Examples
    --------
    >>> find_pair("word-length", "NaturalStories2021-added")
    ('language', 'word-length', 'NaturalStories2021-added')
    """
    stated, name = split_name(model) if isinstance(model, str) else (None, model)
    owner, benchmark = find("benchmark", benchmark, among=among)
    if stated is not None and stated != owner:
        raise UserError(
            f"The model {model!r} is of {stated}, the benchmark {benchmark!r} of {owner}",
            remedy="score models on benchmarks of their own domain",
        )
    if isinstance(name, str) and not domain(owner).registries["model"].lists(name):
        others = [each.name for each in domains() if each.name != owner and each.registries["model"].lists(name)]
        if others:
            raise UserError(
                f"The model {name!r} is of {' and '.join(others)}, the benchmark {benchmark!r} of {owner}",
                remedy="score models on benchmarks of their own domain",
            )
    return owner, name, benchmark


def _likely_domain(kind: str, identifier: str, allowed: Collection[str]) -> str:
    """The domain in which an object has this identifier, but another key; else the one with the nearest name."""
    registries = {name: domain(name).registries[kind] for name in allowed if kind in domain(name).registries}
    near = nearest(identifier, {key for registry in registries.values() for key in registry}, limit=1)
    order = sorted(registries, key=lambda name: not near or near[0] not in registries[name])
    for name in order if kind == "benchmark" else ():
        with contextlib.suppress(UnknownIdentifier):
            registries[name].resolve(identifier)
            return name
    return order[0]
