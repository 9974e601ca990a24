"""``python -m brainscore_web api_token EMAIL --name NAME --scope read``: creates an API token."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from brainscore_web.accounts.models import SCOPES, ApiToken, User


class Command(BaseCommand):
    """Create a token for a user and print it once."""

    help = "Create an API token for a user. It is printed only once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="e-mail address of the user")
        parser.add_argument("--name", required=True, help="what the token is used for")
        scopes = "; ".join(f"{scope}: {text}" for scope, text in SCOPES.items())
        parser.add_argument(
            "--scope", action="append", choices=list(SCOPES), dest="scopes", help=f"can be repeated. {scopes}"
        )
        parser.add_argument("--days", type=int, help="days until it expires (default: never)")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(email__iexact=User.objects.normalize_email(options["email"])).first()
        if user is None:
            raise CommandError(f"there is no user with the address {options['email']}")
        if not user.is_active:
            raise CommandError(f"{options['email']} is not active")
        days = options["days"]
        if days is not None and not 1 <= days <= 36_500:
            raise CommandError("--days must be at least 1, and at most 36500")
        scopes = list(dict.fromkeys(options["scopes"] or ["read"]))
        expires = timezone.now() + timedelta(days=days) if days else None
        try:
            token, text = ApiToken.issue(user, options["name"], scopes, expires=expires)
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from error
        if "receipts:write" in token.scopes and not user.has_perm("leaderboard.add_score"):
            self.stderr.write(f"{user.email} may not add scores yet: give them the permission leaderboard.add_score.")
        self.stderr.write(
            f"Token {token.name!r} of {user.email} ({', '.join(token.scopes)}). Store it safely, it is not shown again:"
        )
        self.stdout.write(text)
