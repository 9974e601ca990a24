import importlib
import pytest
from django.db import transaction
T = importlib.import_module("tests.web.test_authorisation")
rows = importlib.import_module("tests.web.scoring.rows")
T.PARTS[:] = [rows]
site = T.site
@pytest.mark.parametrize("who", T.WHO)
def test_rows(site, who):
    wrong = []
    for name in rows.ROWS:
        (_, _, get, post, *others) = T.TABLE[name]
        for method in T.METHODS:
            row = {"get": get, "head": get, "post": post}.get(method) or (others or [post])[0]
            wanted = row[T.WHO.index(who)]
            with transaction.atomic():
                got = T.outcome(T.ask(site, name, who, method))
                transaction.set_rollback(True)
            if got != wanted: wrong.append((name, method, who, got, wanted))
    assert not wrong, wrong
