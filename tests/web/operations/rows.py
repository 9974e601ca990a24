"""Who may do what at the addresses of operations, asked on this machine; see tests/web/test_authorisation.py."""

OPEN = (200,) * 6
READ_ONLY = (405,) * 6

ROWS = {
    "operations:live": ({}, {}, OPEN, READ_ONLY),
    "operations:ready": ({}, {}, OPEN, READ_ONLY),
    "operations:metrics": ({}, {}, OPEN, READ_ONLY),
}
