"""``python -m brainscore_web forget_unconfirmed``: deletes accounts without a confirmed address."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from brainscore_web.accounts.models import User


class Command(BaseCommand):
    """Delete accounts that were never confirmed; those with contributions stay."""

    help = "Delete accounts whose e-mail address was never confirmed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--days", type=int, default=30, help="minimum age of the account in days (default: 30)")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["days"] < 4:
            raise CommandError("--days must be at least 4, since confirmation links are valid for three days")
        before = timezone.now() - timedelta(days=options["days"])
        unconfirmed = (
            User.objects.filter(emailaddress__isnull=False, last_login=None, date_joined__lt=before, is_staff=False)
            .filter(models=None, benchmarks=None, tokens=None, ingestion=None)
            .exclude(emailaddress__verified=True)
            .distinct()
        )
        keys = list(unconfirmed.values_list("pk", flat=True))
        for key in keys:
            User.objects.filter(pk=key).delete()
        self.stdout.write(f"{len(keys)} accounts deleted.")
