"""URLs of the comparison."""

from django.urls import path

from brainscore_web.compare import views

app_name = "compare"
urlpatterns = [
    path("", views.page, name="page"),
    path("compare.svg", views.svg, name="svg"),
    path("compare.csv", views.csv, name="csv"),
]
