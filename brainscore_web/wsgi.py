"""The WSGI application: ``gunicorn brainscore_web.wsgi``."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brainscore_web.settings")

application = get_wsgi_application()
