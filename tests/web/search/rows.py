"""Who may search; see tests/web/test_authorisation.py."""

ROWS = {
    "search:page": ({}, {}, (200,) * 6, (405,) * 6),
    "search:suggestions": ({}, {}, (200,) * 6, (405,) * 6),
}
