"""The admin pages of users and tokens."""

from __future__ import annotations

from typing import Any, ClassVar

from allauth.account.decorators import secure_admin_login
from allauth.account.models import EmailAddress
from allauth.socialaccount.admin import SocialApp, SocialToken
from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.db.models import QuerySet
from django.http import HttpRequest

from brainscore_web.accounts.models import SCOPES, ApiToken, Lab, Membership, User

admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign] # throttled, and with second factor
admin.site.unregister((SocialApp, SocialToken))  # clients of providers are settings, and their tokens are not stored


class ReadOnlyAdmin:
    """Rows cannot be added, changed or deleted here, since other rows, states or files depend on them."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class _Change(UserChangeForm):
    class Meta(UserChangeForm.Meta):
        model = User


class _Create(AdminUserCreationForm):
    class Meta(AdminUserCreationForm.Meta):
        model = User
        fields = ("email", "display_name")
        field_classes: ClassVar[dict[str, Any]] = {}


@admin.register(User)
class PersonAdmin(UserAdmin):
    """Users, by e-mail address."""

    form = _Change
    add_form = _Create
    ordering = ("email",)
    list_display = ("email", "display_name", "is_active", "is_staff", "date_joined")
    search_fields = ("email", "display_name")
    readonly_fields = ("last_login", "date_joined")
    fieldsets = (
        (None, {"fields": ("email", "password", "display_name", "affiliation", "orcid", "public_page")}),
        ("Permissions", {"fields": ("is_active", "is_staff", "is_superuser", "groups", "user_permissions")}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )
    add_fieldsets = ((None, {"fields": ("email", "display_name", "usable_password", "password1", "password2")}),)

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Delete earlier addresses if the address changes; the new one must be confirmed at the next login."""
        super().save_model(request, obj, form, change)
        if "email" in form.changed_data:
            EmailAddress.objects.filter(user=obj).exclude(email=obj.email).delete()

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """Delete users one after the other, so that none passes a lab on to another of them."""
        for user in queryset:
            user.delete()


class _MembershipInline(admin.TabularInline):
    model = Membership
    extra = 0
    autocomplete_fields = ("user",)


@admin.register(Lab)
class LabAdmin(admin.ModelAdmin):
    """Labs with their members."""

    list_display = ("name", "slug", "created")
    search_fields = ("name",)
    inlines = (_MembershipInline,)


class _TokenForm(forms.ModelForm):
    scopes = forms.MultipleChoiceField(
        choices=tuple(SCOPES.items()), widget=forms.CheckboxSelectMultiple, help_text="What the token may do."
    )


@admin.register(ApiToken)
class ApiTokenAdmin(admin.ModelAdmin):
    """API tokens; the text of a new token is shown once."""

    form = _TokenForm
    list_display = ("name", "user", "prefix", "scopes", "created", "last_used", "expires", "revoked")
    list_filter = ("revoked",)
    list_select_related = ("user",)
    search_fields = ("name", "user__email", "prefix")
    autocomplete_fields = ("user",)
    readonly_fields = ("prefix", "created", "last_used")

    def save_model(self, request: HttpRequest, obj: ApiToken, form: Any, change: bool) -> None:
        """Create a new token and show its text."""
        if change:
            super().save_model(request, obj, form, change)
            return
        issued, text = ApiToken.issue(obj.user, obj.name, obj.scopes, expires=obj.expires)
        obj.__dict__.update(issued.__dict__)
        messages.warning(request, f"The token is {text}. It is not shown again.")
