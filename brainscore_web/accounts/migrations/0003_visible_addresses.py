"""E-mail addresses lose invisible characters: with them, no account can be found by what its owner types."""

import logging
import unicodedata
from typing import Any

from django.db import migrations

_INVISIBLE = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10)}
_log = logging.getLogger(__name__)


def clean(address: str) -> str:
    """Return an address as forms have stored it since then."""
    visible = (c for c in address if unicodedata.category(c) != "Cf" and ord(c) not in _INVISIBLE)
    return unicodedata.normalize("NFKC", "".join(visible)).strip().lower()


def clean_addresses(apps: Any, schema_editor: Any) -> None:
    """Clean the addresses of users and their confirmations; those that two accounts would share stay, and are logged."""
    alias = schema_editor.connection.alias
    users = apps.get_model("accounts", "User").objects.using(alias).order_by("pk")
    confirmations = apps.get_model("account", "EmailAddress").objects.using(alias).order_by("pk")
    pairs = [*users.values_list("pk", "email"), *confirmations.values_list("user_id", "email")]
    owners: dict[str, set[int]] = {}
    for user, address in pairs:
        owners.setdefault(clean(address), set()).add(user)
    for user, address in sorted({pair for pair in pairs if pair[1] != clean(pair[1])}):
        cleaned = clean(address)
        if len(owners[cleaned]) > 1:
            others = ", ".join(str(other) for other in sorted(owners[cleaned] - {user}))
            _log.warning("the address of account %s has invisible characters; without, it is that of %s", user, others)
            continue
        users.filter(pk=user, email=address).update(email=cleaned)
        same = confirmations.filter(user=user, email__in=(address, cleaned)).order_by("-verified", "-primary", "pk")
        if (kept := same.first()) is not None:
            same.exclude(pk=kept.pk).delete()
            confirmations.filter(pk=kept.pk).update(email=cleaned)


class Migration(migrations.Migration):
    dependencies = [
        ("account", "0009_emailaddress_unique_primary_email"),
        ("accounts", "0002_shared_cache_and_reviewers"),
    ]

    operations = [migrations.RunPython(clean_addresses, migrations.RunPython.noop)]
