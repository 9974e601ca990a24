"""URLs of health checks and metrics."""

from django.urls import path

from brainscore_web.operations import views

app_name = "operations"
urlpatterns = [
    path("health/live", views.live, name="live"),
    path("health/ready", views.ready, name="ready"),
    path("metrics", views.numbers, name="metrics"),
]
