"""``python -m brainscore_web``: Django's management commands."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brainscore_web.settings")
    sys.argv[0] = "python -m brainscore_web"
    execute_from_command_line(sys.argv)
