"""URLs of competitions."""

from django.urls import path

from brainscore_web.competitions import views

app_name = "competitions"
urlpatterns = [
    path("", views.overview, name="overview"),
    path("new/", views.new, name="new"),
    path("<slug:slug>/", views.show, name="show"),
    path("<slug:slug>/standings.csv", views.standings_csv, name="standings-csv"),
    path("<slug:slug>/standings.json", views.standings_json, name="standings-json"),
    path("<slug:slug>/frozen/<int:key>.json", views.frozen, name="frozen"),
    path("<slug:slug>/tracks/<int:track>/enter/", views.enter, name="enter"),
    path("<slug:slug>/entries/<int:entry>/withdraw/", views.withdraw, name="withdraw"),
    path("<slug:slug>/manage/", views.manage, name="manage"),
    path("<slug:slug>/manage/texts/", views.texts, name="texts"),
    path("<slug:slug>/manage/lists/<slug:name>/", views.section, name="section"),
    path("<slug:slug>/manage/tracks/new/", views.new_track, name="new-track"),
    path("<slug:slug>/manage/tracks/<int:key>/", views.track, name="track"),
    path("<slug:slug>/manage/tracks/<int:key>/awards/", views.awards, name="awards"),
    path("<slug:slug>/manage/tracks/<int:key>/entries/", views.add_entry, name="add-entry"),
    path("<slug:slug>/manage/publish/", views.publish, name="publish"),
    path("<slug:slug>/manage/close/", views.close, name="close"),
    path("<slug:slug>/manage/reopen/", views.reopen, name="reopen"),
    path("<slug:slug>/manage/freeze/", views.freeze, name="freeze"),
    path("<slug:slug>/manage/winners/", views.take_winners, name="take-winners"),
    path("<slug:slug>/manage/announce/", views.announce, name="announce"),
]
