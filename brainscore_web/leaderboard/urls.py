"""URLs of the leaderboard."""

from django.urls import path

from brainscore_web.leaderboard import views

app_name = "leaderboard"
urlpatterns = [
    path("", views.page, name="board"),
    path("data.json", views.data, name="data"),
    path("columns.json", views.columns, name="columns"),
    path("cell.json", views.cell, name="cell"),
    path("export.csv", views.export, {"kind": "csv"}, name="export-csv"),
    path("export.parquet", views.export, {"kind": "parquet"}, name="export-parquet"),
    path("export.bib", views.export, {"kind": "bib"}, name="export-bib"),
]
