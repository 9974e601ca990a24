"""Tables of the leaderboard: models, the tree of benchmarks with their versions, scores, layer profiles.

Scoring writes receipts; the site ingests them (``brainscore_web.leaderboard.ingest``). Nothing else writes scores.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Case, Q, Value, When
from django.db.models.signals import pre_delete
from django.dispatch import receiver
from django.utils import timezone

from brainscore_core.domain_names import DOMAINS, FIRST
from brainscore_core.formatting import time_text
from brainscore_core.metrics import ABOVE_CEILING
from brainscore_core.receipts.assessment import QUESTION_PARTS
from brainscore_web.accounts.models import User, lab_field, owned_by, owns
from brainscore_web.leaderboard.clean import check_identifier
from brainscore_web.leaderboard.reasons import withheld_reason

Visitor: TypeAlias = User | AnonymousUser
"""The user who makes a request."""

T = TypeVar("T")
Contributed = TypeVar("Contributed", "VisionModel", "Benchmark")
_PARAMETERS = 400  # a query may have two such lists; SQLite allows at least 999 parameters


def chunks(items: Collection[T], size: int = _PARAMETERS) -> Iterator[Sequence[T]]:
    """Split a collection, since the number of parameters of a query is limited."""
    sequence = list(items)
    for start in range(0, len(sequence), size):
        yield sequence[start : start + size]


class Visibility(models.TextChoices):
    """Who may see a row."""

    PUBLIC = "public"
    PRIVATE = "private"


def _sees_all(visitor: Visitor) -> bool:
    return bool(visitor.is_active and visitor.has_perm("leaderboard.view_private"))


def _visible(visitor: Visitor, model: str) -> Q:
    """Return the condition for models that a visitor may see; `model` is the lookup prefix of the model."""
    if _sees_all(visitor):
        return Q()
    public = Q(**{f"{model}visibility": Visibility.PUBLIC})
    return public | owned_by(visitor, model) if visitor.is_authenticated else public


def _public_or_own(visitor: Visitor, benchmark: str) -> Q:
    """Return the condition for benchmarks whose data are public or the visitor's."""
    public = Q(**{f"{benchmark}access": Visibility.PUBLIC})
    return public | owned_by(visitor, benchmark) if visitor.is_authenticated else public


def _shows_data(visitor: Visitor, benchmark: str) -> Case:
    """Return `Benchmark.shows_data_to` as an expression; `benchmark` is the lookup prefix of the benchmark."""
    shown = Case(When(_public_or_own(visitor, benchmark), then=Value(True)), default=Value(False))
    condition = Value(True) if _sees_all(visitor) else shown
    return Case(When(pk__isnull=False, then=condition), default=Value(False), output_field=models.BooleanField())


def domain_choices() -> list[tuple[str, str]]:
    """Return the domains as choices of a form."""
    return [(name, name.capitalize()) for name in DOMAINS]


def domain_field() -> models.CharField[str, str]:
    """Return the column of the name of a domain of `brainscore_core.domains`."""
    return models.CharField(max_length=20, choices=domain_choices, default=FIRST, db_default=FIRST)


class _Synchronised(models.Model):
    """A row of which receipts or the catalogue state some values; values that were edited stay."""

    synced = models.JSONField(
        default=dict,
        blank=True,
        editable=False,
        help_text="What was read last from receipts or the catalogue; what differs from it was edited, and stays.",
    )

    class Meta:
        """A base of tables."""

        abstract = True


class _Catalogued(_Synchronised):
    """A model or a benchmark. Identifiers are unique across domains."""

    identifier = models.CharField(max_length=200, unique=True)
    domain = domain_field()
    lab = lab_field()
    bibtex = models.TextField(blank=True)
    source = models.URLField(max_length=500, blank=True)
    plugin = models.CharField(max_length=200, blank=True, help_text="Folder of its code.")
    details = models.JSONField(default=dict, blank=True, help_text="What else the catalogue says.")
    created = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        """A base of tables."""

        abstract = True

    def clean(self) -> None:
        """Refuse identifiers that cannot be part of a URL."""
        try:
            check_identifier(self.identifier, "the identifier", 200)
        except ValueError as error:
            raise ValidationError({"identifier": str(error)}) from error


class VisionModelQuerySet(models.QuerySet["VisionModel"]):
    """Queries of models."""

    def visible_to(self, visitor: Visitor) -> VisionModelQuerySet:
        """Return public models and the visitor's own; all models for administrators."""
        return self.filter(_visible(visitor, ""))

    def erase(self) -> None:
        """Delete what is known of private models, also their scores and assessments, but keep a row with the name.

        Without the row, reading receipts again would recreate the model as a public one. The caller opens a transaction
        and increments the revision.
        """
        for table in (Score, LayerProfile):
            table.objects.filter(model__in=self).delete()
        StoredAssessment.objects.filter(vision_models__in=self).delete()
        self.update(**_ERASED)


_ERASED: dict[str, Any] = {
    "title": "", "architecture": "", "family": "", "parameters": None, "size_mb": None, "training_data": "",
    "trained_on": None, "fine_tuned_from": "",
    "regions": {}, "source": "", "bibtex": "", "plugin": "", "details": {}, "synced": {}, "runnable": False,
}  # fmt: skip


class VisionModel(_Catalogued):
    """A model of any domain. Identifiers are unique across domains."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="models"
    )
    visibility = models.CharField(max_length=10, choices=Visibility, default=Visibility.PUBLIC)
    title = models.CharField(max_length=200, blank=True, help_text="Shown instead of the identifier.")
    architecture = models.CharField(max_length=200, blank=True)
    family = models.CharField(max_length=100, blank=True)
    parameters = models.BigIntegerField(null=True, blank=True)
    size_mb = models.FloatField("size of the weights in MB", null=True, blank=True)
    training_data = models.CharField(max_length=200, blank=True)
    trained_on: models.JSONField[Any, Any] = models.JSONField(
        null=True, blank=True, help_text="Names of all data sets, [] if there are none; empty: not known."
    )
    fine_tuned_from = models.CharField(
        max_length=200, blank=True, help_text="Identifier of the model with whose weights training began."
    )
    runnable = models.BooleanField(default=True, help_text="Whether it can be loaded with what is published.")
    regions = models.JSONField(default=dict, blank=True, help_text="Layers of regions: {region: [layer, …]}.")

    objects = VisionModelQuerySet.as_manager()

    class Meta:
        """By name."""

        ordering = ("identifier",)
        verbose_name = "model"
        permissions = (("view_private", "Can see private models and withheld data"),)

    def __str__(self) -> str:
        return self.title or self.identifier

    def clean(self) -> None:
        """Refuse identifiers that cannot be part of a URL, and models that are fine-tuned from each other."""
        super().clean()
        names = self.trained_on
        if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
            raise ValidationError({"trained_on": 'It is a list of names, such as ["Places365"], [] or empty.'})
        above = dict(VisionModel.objects.order_by().values_list("identifier", "fine_tuned_from"))
        above[self.identifier] = self.fine_tuned_from
        current, passed = self.fine_tuned_from, {self.identifier}
        while current:
            if current in passed:
                raise ValidationError({"fine_tuned_from": "The models would be fine-tuned from each other."})
            passed.add(current)
            current = above.get(current, "")


class Benchmark(_Catalogued):
    """A benchmark, or a mean of the nodes below it. Together they form the tree.

    Scores of benchmarks are always public; `access` is the access to stimuli and measurements. Identifiers are unique
    across domains.
    """

    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="children")
    is_mean = models.BooleanField(default=False, help_text="A node whose value is the mean of those below it.")
    order = models.IntegerField(default=999, help_text="Siblings stand in this order, then by identifier.")
    title = models.CharField(max_length=200, blank=True)
    version = models.CharField(
        max_length=50, blank=True, help_text="The version whose scores count; empty: any version's."
    )
    control = models.BooleanField(default=False, help_text="Checks the method; counts in no mean.")
    in_tree = models.BooleanField(default=True, help_text="Whether it counts in means; else it stands apart.")
    access = models.CharField(
        "access to stimuli and measurements", max_length=10, choices=Visibility, default=Visibility.PRIVATE
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="benchmarks"
    )
    credit = models.CharField(max_length=500, blank=True, help_text="Who contributed the benchmark.")
    description = models.TextField(blank=True)
    region = models.CharField(max_length=50, blank=True)
    species = models.CharField(max_length=100, blank=True)
    task = models.CharField(max_length=200, blank=True)
    method = models.CharField("method of measurement", max_length=200, blank=True)
    stimuli = models.CharField("kind of stimuli", max_length=200, blank=True)
    n_stimuli = models.IntegerField(null=True, blank=True)
    taken_from: models.JSONField[Any, Any] = models.JSONField(
        null=True, blank=True, help_text="Data sets that hold the stimuli, [] if there are none; empty: not known."
    )
    n_subjects = models.IntegerField(null=True, blank=True)
    n_neuroids = models.IntegerField(null=True, blank=True)
    metric = models.CharField(max_length=200, blank=True)

    class Meta:
        """In the tree's order among siblings."""

        ordering = ("order", "identifier")

    def __str__(self) -> str:
        return (self.is_mean and self.title) or self.identifier

    def clean(self) -> None:
        """Refuse identifiers that cannot be part of a URL, and parents that break the tree."""
        super().clean()
        if not self.is_mean and self.pk is not None and self.children.exists():
            raise ValidationError({"is_mean": "It has children, which only a mean can have."})
        if self.parent_id is None:
            return
        if self.parent is not None and self.parent.domain != self.domain:
            raise ValidationError({"parent": f"It is of the domain {self.parent.domain}, not {self.domain}."})
        rows = Benchmark.objects.order_by().values_list("pk", "parent_id", "is_mean")
        known = {pk: (parent, is_mean) for pk, parent, is_mean in rows}
        if self.parent_id == self.pk:
            raise ValidationError({"parent": "It cannot be its own parent."})
        if not known.get(self.parent_id, (None, True))[1]:
            raise ValidationError({"parent": "This is a benchmark, but only means can have children."})
        above: int | None = self.parent_id
        passed: set[int | None] = {self.pk}
        while above is not None:
            if above in passed:
                raise ValidationError({"parent": "The parents would form a cycle."})
            passed.add(above)
            above = known.get(above, (None, True))[0]

    def shows_data_to(self, visitor: Visitor) -> bool:
        """Whether this visitor may see stimuli and measurements, and output of models that have seen them."""
        return self.access == Visibility.PUBLIC or owns(visitor, self) or _sees_all(visitor)

    def reason_to(self, visitor: Visitor, state: str, reason: str) -> str:
        """Return why there is no score, as this visitor may read it: error messages of models could contain stimuli."""
        return reason if self.shows_data_to(visitor) else withheld_reason(state, reason)


def with_contributors(rows: models.QuerySet[Contributed]) -> dict[int, Contributed]:
    """Return those rows that have an owner or a lab, with both, by primary key."""
    contributed = rows.exclude(owner=None, lab=None).order_by("pk").select_related("owner", "lab")
    of_owner = (f"owner__{name}" for name in ("display_name", "public_page", "is_active"))
    return {row.pk: row for row in contributed.only(*of_owner, "lab__name", "lab__slug")}


def benchmarks_at_or_below(roots: Collection[int | str]) -> dict[int, str]:
    """Return these benchmarks and means, given by primary keys or identifiers, and all below: identifiers by key."""
    names: dict[int, str] = {}
    children: dict[int | None, list[int]] = {}
    for pk, identifier, parent in Benchmark.objects.order_by().values_list("pk", "identifier", "parent_id"):
        names[pk] = identifier
        children.setdefault(parent, []).append(pk)
    reached: dict[int, str] = {}
    waiting = [pk for pk, identifier in names.items() if pk in roots or identifier in roots]
    while waiting:
        pk = waiting.pop()
        if pk not in reached:
            reached[pk] = names[pk]
            waiting += children.get(pk, ())
    return reached


class BenchmarkVersion(_Synchronised):
    """One version of a benchmark, with its ceiling."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="versions")
    version = models.CharField(max_length=50)
    since = models.DateTimeField(help_text="When it was first seen.")
    ceiling = models.FloatField(null=True, blank=True)
    ceiling_error = models.FloatField(null=True, blank=True)
    ceiling_low = models.FloatField(null=True, blank=True)
    ceiling_high = models.FloatField(null=True, blank=True)
    ceiling_level = models.FloatField(null=True, blank=True)
    ceiling_meaning = models.CharField(max_length=50, blank=True)
    ceiling_estimates = models.CharField(max_length=500, blank=True)
    ceiling_reason = models.CharField(max_length=500, blank=True, help_text="Why there is no error or interval.")
    lower_bound = models.FloatField(null=True, blank=True)
    condition = models.CharField(
        max_length=200,
        blank=True,
        help_text="For which few subjects or groups alone scores hold, by the newest receipt; empty: for new ones.",
    )
    changes = models.TextField(blank=True, help_text="What changed since the version before.")

    class Meta:
        """Newest first."""

        ordering = ("-since", "-version")
        constraints = (models.UniqueConstraint(fields=["benchmark", "version"], name="one_row_a_version"),)

    def __str__(self) -> str:
        return f"{self.benchmark.identifier} v{self.version}"


class ScoreQuerySet(models.QuerySet["Score"]):
    """Queries of scores."""

    def visible_to(self, visitor: Visitor) -> ScoreQuerySet:
        """Return scores of models that the visitor may see."""
        return self.filter(_visible(visitor, "model__"))

    def above_ceiling(self) -> ScoreQuerySet:
        """Return scores whose interval was above the ceiling, as that of a model that predicts noise."""
        return self.filter(error_reason__startswith=ABOVE_CEILING)

    def with_shows_data(self, visitor: Visitor) -> ScoreQuerySet:
        """Annotate scores with `shows_data`, the value of `Benchmark.shows_data_to`."""
        return self.annotate(shows_data=_shows_data(visitor, "benchmark__"))


class Score(models.Model):
    """The content of one receipt, which never changes. The newest one of a benchmark version counts."""

    class State(models.TextChoices):
        """The states of receipts; failures for lack of data, space or software of the site are *not run*."""

        SCORED = "scored"
        UNDEFINED = "undefined"
        NOT_APPLICABLE = "not applicable"
        FAILED = "failed"
        NOT_RUN = "not run"

    receipt = models.CharField(max_length=80, unique=True)
    model = models.ForeignKey(VisionModel, on_delete=models.CASCADE, related_name="scores")
    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="scores")
    version = models.CharField(max_length=50, blank=True, help_text="Empty: it was not known.")
    state = models.CharField(max_length=20, choices=State)
    reason = models.TextField(blank=True)
    value = models.FloatField(null=True)
    error = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    level = models.FloatField(null=True)
    estimates = models.CharField(max_length=500, blank=True, help_text="What the interval estimates.")
    error_reason = models.CharField(max_length=500, blank=True)
    undetermined = models.CharField(
        max_length=200, blank=True, help_text="Why the score relative to its ceiling says nothing, if so."
    )
    scale = models.CharField(max_length=20, blank=True)
    unclamped = models.FloatField(null=True)
    raw = models.FloatField(null=True)
    raw_error = models.FloatField(null=True)
    raw_low = models.FloatField(null=True)
    raw_high = models.FloatField(null=True)
    ceiling = models.FloatField(null=True)
    seconds = models.FloatField(null=True)
    created = models.DateTimeField(help_text="When the receipt was made.")
    document = models.JSONField(null=True, help_text="The whole receipt, where it was read as such.")

    objects = ScoreQuerySet.as_manager()

    class Meta:
        """Newest first; with indexes for scores of a model, of a benchmark, and up to a date."""

        ordering = ("-created",)
        indexes = (
            models.Index(fields=["model", "benchmark", "created"]),
            models.Index(fields=["benchmark", "created"]),
            models.Index(fields=["created"]),
        )

    def __str__(self) -> str:
        return self.receipt


class StoredInfluence(models.Model):
    """How units (stimuli, neuroids, subjects) influence a score, in a compact form, by which models are compared.

    Written by ``brainscore_web.leaderboard.influence``, from what is stored beside the receipt. A row without parts
    says that nothing is stored there by which models could be compared.
    """

    score = models.OneToOneField(Score, on_delete=models.CASCADE, related_name="influence")
    bias = models.FloatField(default=0.0)
    ceiling = models.FloatField(default=0.0, help_text="Change of the score by one standard error of its ceiling.")
    ceiling_id = models.CharField(max_length=300, blank=True)
    parts = models.JSONField(default=list, help_text="Kind, names of data, number of units, in blocks, paired, sums.")
    content = models.BinaryField(default=bytes)

    class Meta:
        """In the order of scores."""

        ordering = ("score",)

    def __str__(self) -> str:
        return f"{self.score_id}: {', '.join(str(part[0]) for part in self.parts) or 'none'}"


class StimulusList(models.Model):
    """Identifiers of stimuli, stored once for all scores on the same stimuli."""

    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the identifiers.")
    identifiers = models.JSONField(default=list)

    def __str__(self) -> str:
        return f"{len(self.identifiers)} stimuli"


class StoredOutcomes(models.Model):
    """How well a model does on each stimulus (`brainscore_core.statistics.stimuli`).

    Written by ``brainscore_web.leaderboard.outcomes``, from the predictions stored beside the receipt. A row without
    stimuli says that there are none of stimuli.
    """

    score = models.OneToOneField(Score, on_delete=models.CASCADE, related_name="outcomes")
    stimuli = models.ForeignKey(StimulusList, null=True, on_delete=models.PROTECT, related_name="outcomes")
    kind = models.CharField(max_length=20, blank=True)
    values = models.BinaryField(default=bytes, help_text="One number for each stimulus, in single precision.")
    reference = models.BinaryField(default=bytes, help_text="Those of subjects, if any.")

    class Meta:
        """In the order of scores."""

        ordering = ("score",)

    def __str__(self) -> str:
        return f"{self.score_id}: {self.kind or 'none'}"


class StoredAssessmentQuerySet(models.QuerySet["StoredAssessment"]):
    """Queries of assessments."""

    def visible_to(self, visitor: Visitor) -> StoredAssessmentQuerySet:
        """Return assessments all of whose models the visitor may see; answers to questions only with the data."""
        if _sees_all(visitor):
            return self
        withheld = Q(part__in=QUESTION_PARTS) & ~_public_or_own(visitor, "benchmark__")
        seen = VisionModel.objects.visible_to(visitor).order_by().values("pk")
        hidden = VisionModel.objects.order_by().exclude(pk__in=seen).values("pk")
        return self.exclude(vision_models__in=hidden).exclude(withheld)

    def newest(self) -> StoredAssessmentQuerySet:
        """Return the newest assessment of each benchmark, part, topic and sequence of models."""
        return self.filter(document__isnull=False)


class StoredAssessment(models.Model):
    """One part of the assessment of a benchmark. Only the newest with the same models has its document."""

    class Part(models.TextChoices):
        """The parts of an assessment."""

        AUDIT = "audit"
        CONTROLS = "controls"
        RECOVERY = "recovery"
        QUESTION = "question"
        EXPLANATION = "explanation"
        ATLAS = "atlas"
        DESIGN = "design"

    class State(models.TextChoices):
        """The states of assessments."""

        ASSESSED = "assessed"
        NOT_APPLICABLE = "not applicable"
        FAILED = "failed"

    class Outcome(models.TextChoices):
        """What audits and recoveries show on the leaderboard; others are empty."""

        NO_FINDING = "no finding"
        FINDINGS = "findings"
        RECOVERED = "recovered"
        NOT_RECOVERED = "not recovered"

    identifier = models.CharField(max_length=80, unique=True)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="assessments")
    version = models.CharField(max_length=50, blank=True, help_text="Version of the benchmark; empty: not known.")
    part = models.CharField(max_length=20, choices=Part)
    vision_models = models.ManyToManyField(VisionModel, related_name="assessments", blank=True)
    models_key = models.CharField(
        max_length=64, help_text="Hash of the names of the models, in their order, and of what is asked."
    )
    state = models.CharField(max_length=20, choices=State)
    outcome = models.CharField(max_length=20, choices=Outcome, blank=True)
    created = models.DateTimeField(help_text="When it was computed.")
    document = models.JSONField(null=True, help_text="The whole assessment; empty if there is a newer one.")

    objects = StoredAssessmentQuerySet.as_manager()

    class Meta:
        """Newest first."""

        ordering = ("-identifier",)
        constraints = (
            models.UniqueConstraint(
                fields=["benchmark", "part", "models_key"],
                condition=Q(document__isnull=False),
                name="one_newest_assessment",
            ),
        )

    def __str__(self) -> str:
        return self.identifier


@receiver(pre_delete, sender=VisionModel)
def _delete_assessments(instance: VisionModel, **_: Any) -> None:
    """Delete the assessments of a model with it: without the model, nothing would say who may see them."""
    StoredAssessment.objects.filter(vision_models=instance).delete()


class LayerProfile(models.Model):
    """How well each layer of a model predicts a region."""

    model = models.ForeignKey(VisionModel, on_delete=models.CASCADE, related_name="profiles")
    benchmark = models.CharField(max_length=200, help_text="What the layers were scored on.")
    region = models.CharField(max_length=50)
    document = models.JSONField()
    created = models.DateTimeField(default=timezone.now)

    class Meta:
        """One profile per model, region and benchmark."""

        ordering = ("region", "benchmark")
        constraints = (models.UniqueConstraint(fields=["model", "benchmark", "region"], name="one_profile_each"),)

    def __str__(self) -> str:
        return f"{self.model.identifier} · {self.region}"


def _sample_path(sample: StimulusSample, filename: str) -> str:
    return f"samples/{sample.benchmark_id}/{filename}"


class StimulusSample(models.Model):
    """A stimulus for the card of a benchmark, served by a view that checks permissions."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="samples")
    image = models.ImageField(upload_to=_sample_path)
    caption = models.CharField(max_length=200, blank=True)
    stimulus_id = models.CharField(max_length=200, blank=True, help_text="Its identifier in the data.")
    place = models.IntegerField(default=0)

    class Meta:
        """In display order."""

        ordering = ("place", "pk")

    @property
    def filename(self) -> str:
        """Name of its file, which changes with the file and is the end of its address."""
        return self.image.name.rsplit("/", 1)[-1]

    def __str__(self) -> str:
        return self.caption or f"sample {self.place}"


class Ingestion(models.Model):
    """One ingestion of receipts: its source and its result."""

    source = models.CharField(max_length=500)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    started = models.DateTimeField(default=timezone.now)
    finished = models.DateTimeField(null=True)
    added = models.IntegerField(default=0)
    known = models.IntegerField(default=0)
    problems: models.JSONField[Any, Any] = models.JSONField(default=list)

    class Meta:
        """Newest first."""

        ordering = ("-started",)

    def __str__(self) -> str:
        return f"{self.source}, {time_text(self.started)}"


class Revision(models.Model):
    """A single row with a number that grows with every visible change (see ``revision.py``)."""

    number = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return str(self.number)
