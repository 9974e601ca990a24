"""URLs of reviews."""

from django.urls import path

from brainscore_web.submissions.review import views

app_name = "review"
urlpatterns = [
    path("", views.queue, name="queue"),
    path("<uuid:key>/", views.newest, name="newest"),
    path("<uuid:key>/claim/", views.claim, name="claim"),
    path("<uuid:key>/resolve/<int:comment>/", views.resolve, name="resolve"),
    path("<uuid:key>/<int:number>/", views.show, name="show"),
    path("<uuid:key>/<int:number>/file/", views.file, name="file"),
    path("<uuid:key>/<int:number>/changes/", views.changes, name="changes"),
    path("<uuid:key>/<int:number>/judge/", views.judge, name="judge"),
    path("<uuid:key>/<int:number>/comment/", views.comment, name="comment"),
]
