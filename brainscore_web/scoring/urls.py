"""URLs of scoring."""

from django.urls import path

from brainscore_web.scoring import views

app_name = "scoring"
urlpatterns = [
    path("", views.home, name="home"),
    path("live/", views.live, name="live"),
    path("of/<uuid:key>/", views.of_submission, name="submission"),
    path("of/<uuid:key>/cancel/", views.cancel_of, name="cancel-all"),
    path("<int:pk>/", views.job, name="job"),
    path("<int:pk>/retry/", views.retry, name="retry"),
    path("<int:pk>/cancel/", views.cancel, name="cancel"),
]
