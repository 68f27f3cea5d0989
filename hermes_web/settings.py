"""Settings of the console: one file, every choice from the environment.

docs/operating.md lists the variables. Only `compaction/wiring` and this
package read settings.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

from csp.constants import NONCE, NONE, SELF

from hermes_web import environment as env

BASE_DIR = Path(__file__).resolve().parent.parent

# --- where things are kept -------------------------------------------------
DATA_DIR = env.make_folder(
    Path(os.environ.get("HERMES_WEB_DATA") or BASE_DIR / "var").expanduser().resolve()
)
UPLOAD_DIR = DATA_DIR / "uploads"
UPLOAD_BYTES = int(env.read_number("UPLOAD_MEGABYTES", 1_024) * 2**20)
HERMES_HOME = Path(os.environ.get("HERMES_HOME") or "~/.hermes").expanduser()

# tiktoken must find its rank files here and never ask the network for them.
os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(DATA_DIR / "tiktoken"))
TIKTOKEN_CACHE_DIR = Path(os.environ["TIKTOKEN_CACHE_DIR"])

# --- who may talk to it ----------------------------------------------------
DEBUG = env.read_flag("HERMES_WEB_DEBUG")
SECRET_KEY = os.environ.get("SECRET_KEY") or env.keep_secret(DATA_DIR / "secret_key")
ALLOWED_HOSTS = env.read_list("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = env.read_list("CSRF_TRUSTED_ORIGINS")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "csp",
    "django_htmx",
    "hermes_web",
    "compaction",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "hermes_web.urls"
ASGI_APPLICATION = "hermes_web.asgi.application"
WSGI_APPLICATION = "hermes_web.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
            ],
        },
    },
]

# --- database --------------------------------------------------------------
DATABASES = {
    "default": env.database(
        os.environ.get("DATABASE_URL") or f"sqlite:///{DATA_DIR / 'console.sqlite3'}"
    )
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Celery ----------------------------------------------------------------
CELERY_BROKER_URL = os.environ.get("CELERY_BROKER_URL") or "filesystem://localhost"
CELERY_BROKER_TRANSPORT_OPTIONS = env.broker_options(
    CELERY_BROKER_URL, DATA_DIR / "broker"
)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
# Remote control over files would write a message per worker event for nobody.
CELERY_WORKER_ENABLE_REMOTE_CONTROL = not CELERY_BROKER_URL.startswith("filesystem:")
# Sent by `run_console` itself, or by `celery beat` in production. A wake-up
# that waited longer than its own period is stale and dropped.
CELERY_BEAT_SCHEDULE = {
    "sweep": {
        "task": "compaction.tasks.sweep",
        "schedule": 5.0,
        "options": {"expires": 5.0},
    },
}

# --- static files ----------------------------------------------------------
STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}

# --- people ----------------------------------------------------------------
# There are no passwords: one-time links are the only way in.
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "overview"
SESSION_COOKIE_NAME = "hermes_web_session"
CSRF_COOKIE_NAME = "hermes_web_csrf"
CSRF_COOKIE_HTTPONLY = True

# --- what a browser may do with our pages ----------------------------------
# Transcripts are hostile input: nothing inline, nothing from elsewhere.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    },
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"

# Behind a proxy that ends TLS and sets X-Forwarded-Proto.
if env.read_flag("HERMES_WEB_HTTPS"):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_HSTS_SECONDS = 31_536_000
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True

# --- language and time -----------------------------------------------------
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = os.environ.get("HERMES_WEB_TIME_ZONE") or "UTC"

# --- the summariser --------------------------------------------------------
# Summaries by another endpoint than turns. The key itself is never a setting, only
# the name of the variable that holds it.
SUMMARISER_BASE_URL = os.environ.get("SUMMARISER_BASE_URL", "")
SUMMARISER_MODEL = os.environ.get("SUMMARISER_MODEL", "")
SUMMARISER_API_KEY_ENV = os.environ.get("SUMMARISER_API_KEY_ENV", "OPENAI_API_KEY")
SUMMARISER_WINDOW = int(env.read_number("SUMMARISER_WINDOW", 128_000))  # tokens
SUMMARISER_TIMEOUT = env.read_number("SUMMARISER_TIMEOUT", 120.0)  # seconds an answer
# Money for a million tokens; empty: the cost of a run is not shown.
SUMMARISER_INPUT_PRICE = env.read_price("SUMMARISER_INPUT_PRICE")
SUMMARISER_OUTPUT_PRICE = env.read_price("SUMMARISER_OUTPUT_PRICE")

# --- the agent's own turns ---------------------------------------------------
# An endpoint by the environment alone, for turns and summaries: a key is enough, or a
# base URL without one. Used while no endpoint of the page has the same task.
OPENAI_BASE_URL = os.environ.get("OPENAI_BASE_URL", "")
OPENAI_MODEL = os.environ.get("OPENAI_MODEL") or "gpt-4o"
OPENAI_WINDOW = int(env.read_number("OPENAI_WINDOW", 128_000))  # tokens
OPENAI_API_KEY_ENV = os.environ.get("OPENAI_API_KEY_ENV") or "OPENAI_API_KEY"
OPENAI_INPUT_PRICE = env.read_price("OPENAI_INPUT_PRICE")
OPENAI_OUTPUT_PRICE = env.read_price("OPENAI_OUTPUT_PRICE")
# Names that may be entered as the variable of a key, besides …_API_KEY.
ENDPOINT_KEY_VARIABLES = env.read_list("ENDPOINT_KEY_VARIABLES")
# The folder whose text files the agent may read; empty: it has no file tools.
AGENT_FILES_DIR = os.environ.get("AGENT_FILES_DIR", "")

# --- hooks -------------------------------------------------------------------
# Dotted paths, called with one frozen value around every compaction. A hook that
# fails, or takes longer than this many seconds, is logged and stops nothing.
BEFORE_COMPACTION = env.read_list("BEFORE_COMPACTION")
AFTER_COMPACTION = env.read_list("AFTER_COMPACTION")
COMPACTION_HOOK_SECONDS = env.read_number("COMPACTION_HOOK_SECONDS", 5.0)

# --- runs ------------------------------------------------------------------
# A worker that is silent for this many seconds lost its run to another one.
RUN_LEASE_SECONDS = env.read_number("RUN_LEASE_SECONDS", 30.0)
RUN_MAX_ATTEMPTS = int(env.read_number("RUN_MAX_ATTEMPTS", 5))

# --- log -------------------------------------------------------------------


def tell_refusals_in_one_line(record: logging.LogRecord) -> bool:
    """Take the traceback off what was refused by intent (4xx); keep it for faults."""
    if getattr(record, "status_code", 500) < 500:
        record.exc_info = None
    return True


LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}
    },
    "filters": {
        "refusals": {
            "()": "django.utils.log.CallbackFilter",
            "callback": tell_refusals_in_one_line,
        }
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": ["refusals"],
        }
    },
    "root": {
        "handlers": ["console"],
        "level": os.environ.get("LOG_LEVEL", "INFO").upper(),
    },
    "loggers": {
        # Django's own handlers would print a second time.
        "django": {"handlers": [], "propagate": True},
        "django.server": {"handlers": [], "propagate": True},
    },
}
