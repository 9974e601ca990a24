"""Labs: their public pages, members and invitations, and what they own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.core import ratelimit
from django import forms
from django.contrib import messages
from django.db import transaction
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.text import slugify
from django.views.decorators.http import require_POST, require_safe

from brainscore_core.errors import UserError
from brainscore_web.accounts.adapter import clean_name
from brainscore_web.accounts.callers import confirmed_email_required, current_user
from brainscore_web.accounts.models import Invitation, Lab, Membership, User
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.leaderboard.revision import exclusive_write
from brainscore_web.profile.people import contributions
from brainscore_web.submissions.models import Plugin, PluginKind, Submission

_confirmed_only = confirmed_email_required("submissions/unconfirmed.html")
_Role = Membership.Role
_TABLES: dict[str, tuple[type[Model], str, dict[str, Any]]] = {
    "submission": (Submission, "pk", {}),
    "model": (VisionModel, "identifier", {}),
    "benchmark": (Benchmark, "identifier", {"is_mean": False}),
}


class LabForm(forms.ModelForm):
    """Name and describe a lab."""

    class Meta:
        """The editable fields."""

        model = Lab
        fields = ("name", "description")

    def clean_name(self) -> str:
        """Normalise the name, and refuse one that reads like another lab's."""
        name = clean_name(self.cleaned_data["name"])
        slug = slugify(name)[:60]
        if not slug:
            raise forms.ValidationError("The name needs Latin letters or digits, for the address of the page.")
        if slug == "new" or Lab.objects.filter(slug=slug).exclude(pk=self.instance.pk).exists():
            raise forms.ValidationError("A lab has this name.")
        self.instance.slug = self.instance.slug or slug  # addresses of pages stay
        return name


class InvitationForm(forms.Form):
    """Invite somebody by an e-mail address."""

    email = forms.EmailField(label="E-mail address", max_length=254)

    def clean_email(self) -> str:
        """Normalise the address."""
        return User.objects.normalize_email(self.cleaned_data["email"])


@require_safe
def show(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a lab with what it has contributed, and those members who have a public page."""
    lab = get_object_or_404(Lab, slug=slug)
    members = User.objects.filter(memberships__lab=lab, public_page=True, is_active=True).order_by("display_name", "pk")
    is_member = request.user.is_authenticated and lab.pk in request.user.lab_keys
    follows = request.user.is_authenticated and lab.follows.filter(user=request.user).exists()
    context = {
        "lab": lab,
        "closed": not lab.memberships.exists(),
        "members": members,
        "is_member": is_member,
        "follows": follows,
        **contributions(request, Q(lab=lab)),
    }
    return render(request, "people/lab.html", context)


@_confirmed_only
def new(request: HttpRequest) -> HttpResponse:
    """Create a lab, whose first owner is the visitor."""
    user = current_user(request)
    form = LabForm(request.POST or None, label_suffix="")
    if request.method == "POST":
        with exclusive_write():  # of several requests, each counts the labs before it and sees their names
            if form.is_valid():
                if user.memberships.filter(role=_Role.OWNER).count() < Lab.MOST_OWNED:
                    lab = form.save()
                    lab.memberships.create(user=user, role=_Role.OWNER)
                    return redirect("people:manage-lab", lab.slug)
                form.add_error(None, f"You own {Lab.MOST_OWNED} labs. Leave one first.")
    return render(request, "people/lab_form.html", {"form": form})


@_confirmed_only
def manage(request: HttpRequest, slug: str) -> HttpResponse:
    """Show members, invitations and what the lab owns, for members; change them."""
    user = current_user(request)
    lab = get_object_or_404(Lab, slug=slug, memberships__user=user)
    mine = lab.memberships.get(user=user)
    if request.method == "POST":
        action = _ACTIONS.get(request.POST.get("action", ""))
        if action is None:
            return HttpResponseBadRequest(f"action must be one of: {', '.join(_ACTIONS)}")
        try:
            response = action(request, lab, mine)
        except UserError as error:
            messages.error(request, error.line())
            response = None
        return response or redirect("people:manage-lab", lab.slug)
    rows = [
        (kind, _key(row), row)
        for kind, (table, _field, conditions) in _TABLES.items()
        for row in table._default_manager.filter(lab=lab, **conditions).select_related("owner").order_by("pk")
    ]
    context = {
        "lab": lab,
        "mine": mine,
        "is_owner": mine.role == _Role.OWNER,
        "members": lab.memberships.select_related("user"),
        "invitations": lab.invitations.valid(),
        "rows": rows,
        "choices": [
            (kind, _key(row), row)
            for kind, (table, _field, conditions) in _TABLES.items()
            for row in table._default_manager.filter(owner=user, lab=None, **conditions).order_by("pk")[:_MOST_CHOICES]
        ],
        "form": InvitationForm(label_suffix=""),
    }
    return render(request, "people/manage_lab.html", context)


_MOST_CHOICES = 200


@_confirmed_only
@require_POST
def answer(request: HttpRequest, key: int) -> HttpResponse:
    """Accept or decline an invitation to one of the visitor's confirmed addresses."""
    user = current_user(request)
    with transaction.atomic():
        invitation = get_object_or_404(Invitation.objects.of(user).select_for_update(of=("self",)), pk=key)
        invitation.delete()
        if request.POST.get("answer") == "accept":
            Membership.objects.get_or_create(lab=invitation.lab, user=user)
            messages.success(request, f"You are a member of {invitation.lab}.")
            return redirect("people:manage-lab", invitation.lab.slug)
    return redirect("accounts:profile")


def _owners_only(mine: Membership) -> None:
    if mine.role != _Role.OWNER:
        raise UserError("only owners of the lab can do this", remedy="ask one of them")


def _invite(request: HttpRequest, lab: Lab, mine: Membership) -> HttpResponse | None:
    """Invite an address; the response does not depend on whether it has an account."""
    _owners_only(mine)
    form = InvitationForm(request.POST)
    if not form.is_valid():
        raise UserError("this is not an e-mail address", remedy="check it")
    email = form.cleaned_data["email"]
    if refused := ratelimit.consume_or_429(request, action="invite", key=email, user=mine.user):
        return refused
    lab.invitations.update_or_create(email=email, defaults={"by": mine.user, "created": timezone.now()})
    get_adapter().send_mail("accounts/email/invitation", email, {"lab": lab, "by": mine.user, "request": request})
    messages.success(request, f"{email} is invited.")
    return None


def _cancel(request: HttpRequest, lab: Lab, mine: Membership) -> None:
    """Cancel an invitation."""
    _owners_only(mine)
    _member_or_404(lab.invitations, request).delete()


def _member_or_404(rows: Any, request: HttpRequest) -> Any:
    key = request.POST.get("key", "")
    return get_object_or_404(rows, pk=int(key) if key.isdecimal() and len(key) < 10 else 0)


def _promote(request: HttpRequest, lab: Lab, mine: Membership) -> None:
    """Make a member an owner."""
    _owners_only(mine)
    member = _member_or_404(lab.memberships, request)
    member.role = _Role.OWNER
    member.save(update_fields=["role"])


def _remove(request: HttpRequest, lab: Lab, mine: Membership) -> HttpResponse | None:
    """Remove a member, or leave; what members brought in stays theirs, and leaves the lab with them."""
    with exclusive_write():
        Lab.objects.select_for_update().get(pk=lab.pk)  # of two owners who leave, one is the last
        member = _member_or_404(lab.memberships.select_related("user"), request)
        if member.pk != mine.pk:
            _owners_only(mine)
        others = lab.memberships.exclude(pk=member.pk)
        if others.exists() and not others.filter(role=_Role.OWNER).exists():
            raise UserError("the lab would have no owner", remedy="make another member an owner first")
        for table in (Submission, Plugin, VisionModel, Benchmark):
            table._default_manager.filter(lab=lab, owner=member.user).update(lab=None)
        lab.invitations.filter(by=member.user).delete()  # by which they could return
        member.delete()
        if not others.exists():
            lab.delete()
        revision.bump()
    return redirect("accounts:profile") if member.user_id == mine.user_id else None


def _switch_mail(request: HttpRequest, lab: Lab, mine: Membership) -> None:
    """Begin or end e-mails to the visitor about submissions of other members."""
    mine.receives_mail = not mine.receives_mail
    mine.save(update_fields=["receives_mail"])


def _edit(request: HttpRequest, lab: Lab, mine: Membership) -> HttpResponse | None:
    """Change name and description."""
    _owners_only(mine)
    form = LabForm(request.POST if "name" in request.POST else None, instance=lab, label_suffix="")
    if form.is_valid():
        form.save()
        return None
    return render(request, "people/lab_form.html", {"form": form, "lab": lab})


def _share(request: HttpRequest, lab: Lab, mine: Membership) -> None:
    """Let the lab own something together with the visitor."""
    _set_lab(_item(request, owner=mine.user), lab)


def _unshare(request: HttpRequest, lab: Lab, mine: Membership) -> None:
    """End that the lab owns something; its owner and owners of the lab may."""
    row = _item(request, lab=lab)
    if row.owner_id != mine.user_id:
        _owners_only(mine)
    _set_lab(row, None)


def _item(request: HttpRequest, **conditions: Any) -> Any:
    kind, _, key = request.POST.get("item", "").partition(":")
    if kind not in _TABLES:
        raise UserError("nothing is chosen", remedy="choose a submission, model or benchmark")
    table, field, others = _TABLES[kind]
    for row in table._default_manager.filter(**conditions, **others).order_by("pk"):
        if str(getattr(row, field)) == key:
            return row
    raise UserError("this is not yours", remedy="choose a submission, model or benchmark of yours")


def _key(row: Any) -> str:
    return str(row.pk) if isinstance(row, Submission) else row.identifier


def _set_lab(row: Any, lab: Lab | None) -> None:
    """Set the lab of a row; a submission and all that is published of it have the same one."""
    with exclusive_write():  # the same order of locks as ingestion
        submission = row if isinstance(row, Submission) else _submission_of(row)
        rows: list[QuerySet[Any]] = [type(row).objects.filter(pk=row.pk)]
        if submission is not None:
            rows += [Submission.objects.filter(pk=submission.pk), *_published(submission)]
        for part in rows:
            part.update(lab=lab)
        revision.bump()  # bulk updates send no signal


def _submission_of(row: VisionModel | Benchmark) -> Submission | None:
    kind = PluginKind.MODELS if isinstance(row, VisionModel) else PluginKind.BENCHMARKS
    same = {"owner": row.owner_id, "revision__submission__owner": row.owner_id}  # not a version of another member
    plugin = Plugin.objects.filter(domain=row.domain, kind=kind, name=row.plugin, **same).first()
    return None if plugin is None else plugin.revision.submission


def _published(submission: Submission) -> list[QuerySet[Any]]:
    plugins = Plugin.objects.filter(revision__submission=submission, owner=submission.owner_id)
    mine = {"owner": submission.owner_id, "domain": submission.domain}
    return [
        plugins,
        *(
            table.objects.filter(**mine, plugin__in=list(plugins.filter(kind=kind).values_list("name", flat=True)))
            for table, kind in ((VisionModel, PluginKind.MODELS), (Benchmark, PluginKind.BENCHMARKS))
        ),
    ]


def pass_on(user: User) -> None:
    """Before an account is deleted, give what its labs own to the longest member, owners first; a lab needs an owner.

    A lab without other members is closed: its page stays as long as a model or benchmark names it as contributor.
    """
    for membership in user.memberships.select_related("lab"):
        lab = membership.lab
        heir = lab.memberships.exclude(user=user).first()
        if heir is not None:
            for table in (Submission, Plugin, VisionModel, Benchmark):
                table._default_manager.filter(lab=lab, owner=user).update(owner=heir.user)
            heir.role = _Role.OWNER
            heir.save(update_fields=["role"])
            revision.bump()  # bulk updates send no signal
        elif not any(table._default_manager.filter(lab=lab).exists() for table in (VisionModel, Benchmark)):
            lab.delete()


_ACTIONS: dict[str, Callable[[HttpRequest, Lab, Membership], HttpResponse | None]] = {
    "invite": _invite,
    "cancel": _cancel,
    "promote": _promote,
    "remove": _remove,
    "mail": _switch_mail,
    "edit": _edit,
    "share": _share,
    "unshare": _unshare,
}
