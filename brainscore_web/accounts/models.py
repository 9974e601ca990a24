"""Users, identified by their e-mail address, their labs, who owns what, and the API tokens of their programs."""

from __future__ import annotations

import hashlib
import re
import secrets
import unicodedata
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models.functions import Lower
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property

if TYPE_CHECKING:
    from django.db.models.manager import RelatedManager

REVIEWERS = "reviewers"
"""Name of the group of reviewers."""

SCOPES = {
    "read": "read everything that you can see, including your private models",
    "submit": "submit models and benchmarks, withdraw them, and ask about scores",
    "receipts:write": "post receipts, if you have the permission",
    "jobs:run": "score pairs for this site on your own machines, if you have the permission",
}
"""Scopes of tokens, with their descriptions."""


# characters without a glyph that are not of the category of format characters
_INVISIBLE = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10)}


def clean_address(email: str) -> str:
    """Return an e-mail address without spaces around and invisible characters, which pasted text may have.

    Examples
    --------
    >>> clean_address("ada@example.org\u200b ")
    'ada@example.org'
    """
    visible = (
        character for character in email if unicodedata.category(character) != "Cf" and ord(character) not in _INVISIBLE
    )
    return unicodedata.normalize("NFKC", "".join(visible)).strip()


def check_orcid(identifier: str) -> None:
    """Raise a validation error unless an ORCID iD has the right form and check digit (ISO 7064, mod 11-2).

    Examples
    --------
    >>> check_orcid("0000-0002-1825-0097")
    """
    digits = identifier.replace("-", "")
    total = 0
    if re.fullmatch(r"([0-9]{4}-){3}[0-9]{3}[0-9X]", identifier):
        for digit in digits[:-1]:
            total = 2 * (total + int(digit))
        if "0123456789X"[(12 - total % 11) % 11] == digits[-1]:
            return
    raise ValidationError("An ORCID iD has the form 0000-0002-1825-0097. Please check its digits.")


class UserManager(BaseUserManager["User"]):
    """Creates users."""

    use_in_migrations = True

    @classmethod
    def normalize_email(cls, email: str | None) -> str:
        """Clean an e-mail address, in lower case: providers ignore its case, and users type it inconsistently."""
        return super().normalize_email(clean_address(email or "")).lower()

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> User:
        """Create a user; without a password, the user cannot log in."""
        if not email:
            raise ValueError("an e-mail address is required")
        user = self.model(email=self.normalize_email(email), **fields)
        user.set_password(password)
        user.full_clean(exclude=["password"])
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> User:
        """Create an administrator, whose e-mail address counts as confirmed."""
        from allauth.account.models import EmailAddress

        user = self.create_user(email, password, **{**fields, "is_staff": True, "is_superuser": True})
        EmailAddress.objects.using(self._db).create(user=user, email=user.email, verified=True, primary=True)
        return user

    def get_by_natural_key(self, username: str | None) -> User:
        """Find a user by e-mail address, ignoring its case."""
        return self.get(email__iexact=self.normalize_email(username))


class User(AbstractBaseUser, PermissionsMixin):
    """A user of the site."""

    email = models.EmailField("e-mail address", unique=True, error_messages={"unique": "This address is taken."})
    display_name = models.CharField(
        max_length=100, blank=True, help_text="Shown to others instead of the e-mail address, which is never shown."
    )
    affiliation = models.CharField(max_length=200, blank=True, help_text="Such as your institute.")
    orcid = models.CharField("ORCID iD", max_length=19, blank=True, validators=[check_orcid])
    public_page = models.BooleanField(
        "have a public page",
        default=False,
        help_text="With your display name, affiliation, ORCID iD, public models and benchmarks, and labs.",
    )
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField("may use the administration", default=False)
    date_joined = models.DateTimeField(default=timezone.now, editable=False)

    if TYPE_CHECKING:
        memberships: RelatedManager[Membership]

    objects = UserManager()

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        """E-mail addresses are unique regardless of their case."""

        constraints = (models.UniqueConstraint(Lower("email"), name="email_whatever_its_case"),)
        permissions = (("review_submissions", "Can review submissions"),)

    def __str__(self) -> str:
        return self.public_name

    def clean(self) -> None:
        """Normalise the e-mail address."""
        super().clean()
        self.email = type(self).objects.normalize_email(self.email)

    def set_password(self, raw_password: str | None) -> None:
        """Store the hash of a password in its normal form (NFKC): keyboards and systems write accents differently."""
        super().set_password(None if raw_password is None else unicodedata.normalize("NFKC", raw_password))

    def check_password(self, raw_password: str) -> bool:
        """Compare a password in its normal form."""
        return super().check_password(unicodedata.normalize("NFKC", raw_password))

    @property
    def public_name(self) -> str:
        """The name that others see; never the e-mail address."""
        return self.display_name or f"member {self.pk}"

    @property
    def page(self) -> str:
        """The address of the user's public page; empty without one."""
        return reverse("people:person", args=[self.pk]) if self.public_page and self.is_active else ""

    @cached_property
    def lab_keys(self) -> frozenset[int]:
        """The keys of the user's labs."""
        return frozenset(self.memberships.values_list("lab", flat=True))

    @property
    def role(self) -> str:
        """The role of the user: ``'administrator'``, ``'reviewer'`` or ``'member'``."""
        if self.is_staff and self.is_superuser:
            return "administrator"
        return "reviewer" if self.has_perm("accounts.review_submissions") else "member"


def check_scopes(scopes: Any) -> None:
    """Raise a validation error unless the scopes are a non-empty list of keys of `SCOPES`."""
    if not isinstance(scopes, list) or not scopes or not set(scopes) <= set(SCOPES):
        raise ValidationError(f"Scopes must be some of: {', '.join(SCOPES)}.")


class Lab(models.Model):
    """A group of users who own models and benchmarks together."""

    MOST_OWNED: ClassVar[int] = 10

    name = models.CharField(max_length=100)
    slug = models.SlugField(max_length=60, unique=True, help_text="Part of the address of its page.")
    description = models.TextField(max_length=2000, blank=True)
    created = models.DateTimeField(default=timezone.now, editable=False)

    if TYPE_CHECKING:
        memberships: RelatedManager[Membership]
        invitations: RelatedManager[Invitation]

    class Meta:
        """By name."""

        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    @property
    def page(self) -> str:
        """The address of its public page."""
        return reverse("people:lab", args=[self.slug])


class Membership(models.Model):
    """That a user belongs to a lab; owners of a lab also invite and remove members."""

    class Role(models.TextChoices):
        """What a member may do for the lab."""

        OWNER = "owner"
        MEMBER = "member"

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role, default=Role.MEMBER)
    joined = models.DateTimeField(default=timezone.now, editable=False)
    receives_mail = models.BooleanField("receives e-mails about submissions of other members", default=True)

    class Meta:
        """Each user once, owners first."""

        ordering = ("-role", "joined")
        constraints = (models.UniqueConstraint(fields=["lab", "user"], name="one_membership_a_lab"),)

    def __str__(self) -> str:
        return f"{self.user} in {self.lab}"


class InvitationQuerySet(models.QuerySet["Invitation"]):
    """Queries of invitations."""

    def valid(self) -> InvitationQuerySet:
        """Return those that have not expired."""
        return self.filter(created__gt=timezone.now() - Invitation.LIFETIME)

    def of(self, user: User) -> InvitationQuerySet:
        """Return the valid ones to a confirmed address of a user."""
        from allauth.account.models import EmailAddress

        addresses = EmailAddress.objects.filter(user=user, verified=True).values_list("email", flat=True)
        return self.valid().filter(email__in=[address.lower() for address in addresses])


class Invitation(models.Model):
    """An invitation to a lab, for whoever has an account with the e-mail address."""

    LIFETIME: ClassVar[timedelta] = timedelta(days=30)

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField("e-mail address")
    by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    created = models.DateTimeField(default=timezone.now, editable=False)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        """Each address once."""

        ordering = ("created",)
        constraints = (models.UniqueConstraint(fields=["lab", "email"], name="one_invitation_an_address"),)

    def __str__(self) -> str:
        return f"invitation to {self.lab}"


def lab_field() -> models.ForeignKey[Lab | None, Lab | None]:
    """Return the column of the lab whose members own a row together with its owner."""
    return models.ForeignKey(Lab, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")


def owned_by(visitor: Any, prefix: str = "") -> models.Q:
    """Return the condition for rows that a logged-in visitor owns, alone or with a lab; `prefix` leads to the row."""
    labs = Membership.objects.filter(user=visitor).values("lab")
    return models.Q(**{f"{prefix}owner": visitor}) | models.Q(**{f"{prefix}lab__in": labs})


def owns(visitor: Any, row: Any) -> bool:
    """Whether a visitor owns a row, alone or with a lab."""
    if visitor is None or not visitor.is_authenticated:
        return False
    return row.owner_id == visitor.pk or (row.lab_id is not None and row.lab_id in visitor.lab_keys)


class ApiToken(models.Model):
    """A token with which a program acts for a user; only its hash is stored."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100, help_text="What the token is for.")
    prefix = models.CharField(max_length=8, editable=False)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    scopes = models.JSONField(default=list, validators=[check_scopes])
    created = models.DateTimeField(default=timezone.now, editable=False)
    last_used = models.DateTimeField(null=True, blank=True, editable=False)
    expires = models.DateTimeField(null=True, blank=True)
    revoked = models.BooleanField(default=False)

    class Meta:
        """Sort tokens by date, newest first."""

        ordering = ("-created",)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @classmethod
    def issue(
        cls, user: User, name: str, scopes: list[str], *, expires: datetime | None = None
    ) -> tuple[ApiToken, str]:
        """Create a token, and return it with its text, which is not stored and cannot be shown again."""
        text = f"bs_{secrets.token_urlsafe(32)}"
        token = cls(user=user, name=name, scopes=scopes, expires=expires, prefix=text[:8], digest=_digest(text))
        token.full_clean()
        token.save()
        return token, text

    @classmethod
    def find(cls, text: str) -> ApiToken | None:
        """Return the valid token with this text; None if unknown, expired, revoked, or of an inactive user."""
        token = cls.objects.select_related("user").filter(digest=_digest(text), revoked=False).first()
        if token is None or not token.user.is_active or (token.expires and token.expires <= timezone.now()):
            return None
        return token


class SharedCacheRow(models.Model):
    """An entry of the cache ``default``, shared by all processes of the server: login attempts, used login codes.

    The cache backend accesses the table with SQL of its own; this model exists so that migrations create the table.
    """

    cache_key = models.CharField(max_length=255, primary_key=True)
    value = models.TextField()
    expires = models.DateTimeField(db_index=True)

    class Meta:
        """The table name is the location of the cache in the settings."""

        db_table = "accounts_shared_cache"

    def __str__(self) -> str:
        return self.cache_key


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()  # 256 random bits: impossible to guess, so a fast hash is enough
