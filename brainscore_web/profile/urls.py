"""URLs of the profile, beside those of django-allauth."""

from django.urls import path

from brainscore_web.profile import views

app_name = "accounts"
urlpatterns = [
    path("", views.home, name="home"),
    path("profile/", views.profile, name="profile"),
    path("name/", views.name, name="name"),
    path("models/visibility/", views.model_visibility, name="model_visibility"),
    path("benchmarks/access/", views.benchmark_access, name="benchmark_access"),
    path("tokens/", views.new_token, name="new_token"),
    path("tokens/<int:key>/revoke/", views.revoke_token, name="revoke_token"),
    path("data/", views.own_data, name="own_data"),
    path("delete/", views.delete, name="delete"),
]
