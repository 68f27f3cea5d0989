"""Settings under test: the real ones, on a data folder of their own.

`DATABASE_URL` and `CELERY_BROKER_URL` count as always, so that the same suite
runs on SQLite with the file broker and on PostgreSQL with Redis.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

if "HERMES_WEB_TEST_DATA" not in os.environ:
    _folder = tempfile.mkdtemp(prefix="hermes-web-tests-")
    atexit.register(shutil.rmtree, _folder, ignore_errors=True)
    os.environ["HERMES_WEB_TEST_DATA"] = _folder
    # A model that somebody uses by hand is never called by a test.
    _MODELS = ("SUMMARISER_", "OPENAI_")
    for _name in [name for name in os.environ if name.startswith(_MODELS)]:
        del os.environ[_name]
os.environ["HERMES_WEB_DATA"] = os.environ["HERMES_WEB_TEST_DATA"]
os.environ["TIKTOKEN_CACHE_DIR"] = str(Path(os.environ["HERMES_WEB_DATA"]) / "tiktoken")
os.environ["SECRET_KEY"] = "only for tests"
os.environ["HERMES_HOME"] = str(Path(os.environ["HERMES_WEB_DATA"]) / "no-hermes-home")

from hermes_web.settings import *  # noqa: F403
from hermes_web.settings import DATA_DIR, DATABASES, STORAGES

ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]

# A file, so that a real worker or server in its own process sees the same rows.
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}

# No collected files in tests: names as they are, found where they lie.
STORAGES["staticfiles"] = {
    "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
}
WHITENOISE_USE_FINDERS = True
(DATA_DIR / "static").mkdir(exist_ok=True)

# Tasks run in the caller; tests of real workers turn this off (tests/live.py).
CELERY_TASK_ALWAYS_EAGER = True
CELERY_TASK_EAGER_PROPAGATES = True
# A queue of its own for each test process, on a broker that several may share.
CELERY_TASK_DEFAULT_QUEUE = Path(os.environ["HERMES_WEB_TEST_DATA"]).name

# Fast hashing: no test is about the strength of a hash.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
