"""Addresses of competitions."""

from django.urls import path

from brainscore_web.competitions import organising, views

app_name = "competitions"
urlpatterns = [
    path("", views.overview, name="overview"),
    path("new/", organising.new, name="new"),
    path("<slug:slug>/", views.show, name="show"),
    path("<slug:slug>/standings.csv", views.standings_csv, name="standings-csv"),
    path("<slug:slug>/standings.json", views.standings_json, name="standings-json"),
    path("<slug:slug>/frozen/<int:key>.json", views.frozen, name="frozen"),
    path("<slug:slug>/tracks/<int:track>/enter/", views.enter, name="enter"),
    path("<slug:slug>/entries/<int:entry>/withdraw/", views.withdraw, name="withdraw"),
    path("<slug:slug>/manage/", organising.manage, name="manage"),
    path("<slug:slug>/manage/texts/", organising.texts, name="texts"),
    path("<slug:slug>/manage/lists/<slug:name>/", organising.section, name="section"),
    path("<slug:slug>/manage/tracks/new/", organising.new_track, name="new-track"),
    path("<slug:slug>/manage/tracks/<int:key>/", organising.track, name="track"),
    path("<slug:slug>/manage/tracks/<int:key>/awards/", organising.awards, name="awards"),
    path("<slug:slug>/manage/tracks/<int:key>/entries/", organising.add_entry, name="add-entry"),
    path("<slug:slug>/manage/publish/", organising.publish, name="publish"),
    path("<slug:slug>/manage/freeze/", organising.freeze, name="freeze"),
    path("<slug:slug>/manage/winners/", organising.take_winners, name="take-winners"),
    path("<slug:slug>/manage/announce/", organising.announce, name="announce"),
]
