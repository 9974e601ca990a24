"""Who may do what at the addresses of competitions."""

from django.utils import timezone

LOGIN = "/accounts/login/"
OPEN, READ_ONLY = (200,) * 6, (405,) * 6
MEMBERS_READ_ONLY = (LOGIN, *(405,) * 5)
DRAFT = (404, 404, 404, 404, 404, 200)
ORGANISE = (LOGIN, 404, 404, 404, 404, 200)
ASKED_AGAIN = (LOGIN, 404, 404, 404, 404, 400)
NOT_SO = (LOGIN, 404, 404, 404, 404, 405)
TO = "/competitions/draft-quagga/manage/"
BACK = (LOGIN, 404, 404, 404, 404, TO)
PUBLIC = "/competitions/open-quagga/"

_MANAGED = (ORGANISE, ASKED_AGAIN, NOT_SO)
ROWS = {
    "competition-of-year": ({"year": 2024}, {}, OPEN, READ_ONLY),
    "competitions:new": ({}, {}, *_MANAGED),
    "competitions:show": ("draft_competition", {}, DRAFT, READ_ONLY),
    "competitions:standings-csv": ("draft_competition", {}, DRAFT, READ_ONLY),
    "competitions:standings-json": ("draft_competition", {}, DRAFT, READ_ONLY),
    "competitions:frozen": ("draft_frozen", {}, DRAFT, READ_ONLY),
    "competitions:enter": ("draft_enter", {}, ORGANISE, ASKED_AGAIN, MEMBERS_READ_ONLY),
    "competitions:withdraw": (
        "open_entry", {"because": "x"}, (LOGIN, 404, 200, 404, 404, 200), (LOGIN, 404, PUBLIC, 404, 404, PUBLIC),
        MEMBERS_READ_ONLY,
    ),
    "competitions:team": ("open_competition", {}, (LOGIN, *(200,) * 5), (LOGIN, *(400,) * 5), MEMBERS_READ_ONLY),
    "competitions:join": (
        "open_invitation", {}, (LOGIN, *(200,) * 5), (LOGIN, *(f"{PUBLIC}team/",) * 5), MEMBERS_READ_ONLY,
    ),
    "competitions:unsubscribe": ("open_mail", {}, OPEN, OPEN, READ_ONLY),
    "competitions:mail": ("draft_competition", {}, *_MANAGED),
    "competitions:manage": ("draft_competition", {}, ORGANISE, NOT_SO, NOT_SO),
    "competitions:texts": ("draft_competition", {}, *_MANAGED),
    "competitions:section": ("draft_dates", {}, *_MANAGED),
    "competitions:new-track": ("draft_competition", {}, *_MANAGED),
    "competitions:track": ("draft_track", {}, *_MANAGED),
    "competitions:awards": ("draft_track", {}, *_MANAGED),
    "competitions:add-entry": ("draft_track", {}, *_MANAGED),
    "competitions:publish": ("draft_competition", {}, NOT_SO, BACK, NOT_SO),
    "competitions:close": ("draft_competition", {}, NOT_SO, BACK, NOT_SO),
    "competitions:reopen": ("draft_competition", {}, NOT_SO, BACK, NOT_SO),
    "competitions:freeze": ("draft_competition", {}, ORGANISE, BACK, NOT_SO),
    "competitions:take-winners": ("draft_competition", {}, NOT_SO, BACK, NOT_SO),
    "competitions:announce": ("draft_competition", {}, NOT_SO, BACK, NOT_SO),
}  # fmt: skip


def build(people):
    """A draft, and an open competition that the owner has entered."""
    from brainscore_web.competitions.actions import mail_key
    from brainscore_web.competitions.models import Competition, Entry, Membership, Snapshot, Team, Track

    draft = Competition.objects.create(slug="draft-quagga", year=2031, title="Draft", summary="-")
    track = Track.objects.create(competition=draft, title="Track", listed="pixels")
    frozen = Competition.objects.create(slug="draft-frozen", year=2031, title="Frozen", summary="-")
    snapshot = Snapshot.objects.create(competition=frozen, document={"tracks": [], "currency": "$"})
    shown = Competition.objects.create(slug="open-quagga", year=2031, title="Open", summary="-", published=True)
    entry = Entry.objects.create(
        track=Track.objects.create(competition=shown, title="Track", listed="pixels"),
        identifier="Simulated000.V1-pls",
        by=people["owner"],
        entered=timezone.now(),
    )
    team = Team.objects.create(competition=shown, name="Owner's")
    membership = Membership.objects.create(team=team, competition=shown, user=people["owner"])
    return {
        "open_competition": {"slug": shown.slug},
        "open_invitation": {"slug": shown.slug, "invitation": team.invitation},
        "open_mail": {"slug": shown.slug, "key": mail_key(membership)},
        "draft_competition": {"slug": draft.slug},
        "draft_dates": {"slug": draft.slug, "name": "dates"},
        "draft_track": {"slug": draft.slug, "key": track.pk},
        "draft_enter": {"slug": draft.slug, "track": track.pk},
        "draft_frozen": {"slug": frozen.slug, "key": snapshot.pk},
        "open_entry": {"slug": shown.slug, "entry": entry.pk},
    }
