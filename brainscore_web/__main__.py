"""``python -m brainscore_web``: Django's management commands."""

import os
import sys

from django.core.management import execute_from_command_line
from django.db import OperationalError, ProgrammingError

from brainscore_core.errors import UserError
from brainscore_web.processes import require_database, require_migrations


def main() -> None:
    """Run a management command; errors that the user can fix are shown without a traceback."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brainscore_web.settings")
    sys.argv[0] = "python -m brainscore_web"
    try:
        try:
            execute_from_command_line(sys.argv)
        except (OperationalError, ProgrammingError):
            require_database()
            require_migrations()
            raise
    except UserError as error:
        sys.stderr.write(f"Error: {error}\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
