"""Administration of the texts of the site: Markdown with a preview."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import render
from django.urls import URLPattern, path

from brainscore_web.pages.documents import rendered, shipped, shipped_names
from brainscore_web.pages.models import News, Page


class _Text(admin.ModelAdmin):
    """A preview, and the last author; Django's log has all changes."""

    change_form_template = "admin/pages/change_form.html"

    def get_urls(self) -> list[URLPattern]:
        """Add the URL of the preview."""
        name = f"pages_{self.model._meta.model_name}_preview"
        return [path("preview/", self.admin_site.admin_view(self.preview), name=name), *super().get_urls()]

    def preview(self, request: HttpRequest) -> HttpResponse:
        """Show the text in the form as on the site; nothing is saved."""
        if not (self.has_change_permission(request) or self.has_add_permission(request)):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        text = rendered("preview", request.POST.get("body", "").replace("\r\n", "\n"))
        document = replace(text, name="preview", title=request.POST.get("title") or "(no title)")
        response = render(request, "pages/text.html", {"document": document, "preview": True})
        response["Cache-Control"] = "no-store, private"
        return response

    def render_change_form(  # type: ignore[override] # further arguments are passed on
        self, request: HttpRequest, context: dict[str, Any], **kwargs: Any
    ) -> HttpResponse:
        """Add the URL of the preview to the form."""
        context["preview_url"] = f"admin:pages_{self.model._meta.model_name}_preview"
        return super().render_change_form(request, context, **kwargs)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Record the author."""
        obj.by = request.user
        super().save_model(request, obj, form, change)

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Enlarge the text field."""
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if db_field.name == "body" and field is not None:
            field.widget.attrs.update({"rows": 28, "cols": 110})
        return field


@admin.register(Page)
class PageAdmin(_Text):
    """Pages, including those of the package."""

    change_list_template = "admin/pages/change_list.html"
    list_display = ("title", "slug", "published", "changed", "by")
    list_select_related = ("by",)
    search_fields = ("slug", "title", "body")
    fields = ("slug", "title", "body", "published")

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Add the included pages that have not been edited."""
        written = set(Page.objects.values_list("slug", flat=True))
        as_shipped = [name for name in shipped_names() if name not in written]
        return super().changelist_view(request, {**(extra_context or {}), "as_shipped": as_shipped})

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Start with the text of an included page."""
        data: dict[str, Any] = {**super().get_changeform_initial_data(request)}
        text = shipped(str(data.get("slug", "")))
        if text is not None:
            heading, _, body = text.partition("\n")
            data |= {"title": heading.removeprefix("# ").strip(), "body": body.strip() + "\n"}
        return data


class _NewsForm(forms.ModelForm):
    def clean_slug(self) -> str:
        """Refuse the address of the feed."""
        slug = str(self.cleaned_data["slug"])
        if slug == "feed":
            raise ValidationError("The feed of all news is at this address. Choose another name.")
        return slug


@admin.register(News)
class NewsAdmin(_Text):
    """News."""

    form = _NewsForm
    list_display = ("title", "published", "draft", "changed", "by")
    list_filter = ("draft",)
    list_select_related = ("by",)
    search_fields = ("title", "body")
    fields = ("title", "slug", "body", "published", "draft")
    prepopulated_fields: ClassVar[dict[str, Any]] = {"slug": ("title",)}
