"""URLs of cards, receipts and lists. Identifiers may contain slashes."""

from django.urls import path

from brainscore_web.leaderboard.cards import views

app_name = "cards"
urlpatterns = [
    path("models/", views.models, name="models"),
    path("benchmarks/", views.benchmarks, name="benchmarks"),
    path("model/<path:identifier>/", views.model, name="model"),
    path("benchmark/<path:identifier>/", views.benchmark, name="benchmark"),
    path("benchmark/<path:identifier>/croissant.json", views.benchmark_croissant, name="benchmark-croissant"),
    path("receipt/<str:receipt>/", views.receipt, name="receipt"),
    path("receipt/<str:receipt>/receipt.json", views.receipt_json, name="receipt-json"),
    path("sample/<int:pk>/<str:name>", views.sample, name="sample"),
]
