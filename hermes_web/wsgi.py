"""WSGI entry point, for tools that insist on one.

Live pages need ASGI: under WSGI a server-sent event stream never ends.
"""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hermes_web.settings")

application = get_wsgi_application()
