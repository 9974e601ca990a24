"""URLs of submissions, for submitters."""

from django.urls import path, register_converter

from brainscore_web.submissions import views
from brainscore_web.submissions.models import Step


class StepConverter:
    """URL converter of kinds of steps."""

    regex = "|".join(Step.Kind.values)

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(StepConverter, "kind_of_step")

app_name = "submissions"
urlpatterns = [
    path("", views.home, name="home"),
    path("new/", views.new, name="new"),
    path("<uuid:key>/", views.show, name="show"),
    path("<uuid:key>/progress/", views.progress, name="progress"),
    path("<uuid:key>/revise/", views.revise, name="revise"),
    path("<uuid:key>/withdraw/", views.withdraw, name="withdraw"),
    path("<uuid:key>/cancel/", views.cancel, name="cancel"),
    path("<uuid:key>/visibility/", views.visibility, name="visibility"),
    path("<uuid:key>/retry/<kind_of_step:step>/", views.retry, name="retry"),
    path("<uuid:key>/<int:number>/code/", views.code, name="code"),
    path("<uuid:key>/<int:number>/changes/", views.changes, name="changes"),
    path("<uuid:key>/<int:number>/archive.zip", views.archive, name="archive"),
]
