"""Settings of the site; values of an installation are read from environment variables (see docs/site.md)."""

from __future__ import annotations

import os
from importlib import resources
from typing import Any

from csp.constants import NONE, SELF

from brainscore_core.paths import site_home
from brainscore_web.environment import (
    comma_separated,
    contact_address,
    database_settings,
    email_settings,
    flag,
    login_providers,
    positive_integer,
    secret_key,
    site_address,
    web_address,
)
from brainscore_web.operations.logs import configuration

SITE_HOME = site_home()
SECRET_KEY = secret_key()
DEBUG = flag("BRAINSCORE_SITE_DEBUG")
PUBLIC = flag("BRAINSCORE_SITE_PUBLIC")  # served to the public, through HTTPS
ALLOWED_HOSTS = comma_separated("BRAINSCORE_SITE_HOSTS") or ["localhost", "127.0.0.1", "[::1]"]
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in comma_separated("BRAINSCORE_SITE_HOSTS")] if PUBLIC else []

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.sitemaps",
    "whitenoise.runserver_nostatic",
    "brainscore_web.apps.StaticFilesApp",
    "csp",
    "brainscore_web.apps.AccountsConfig",
    "brainscore_web.apps.ProfileConfig",  # before uploads and submissions, which end with their owner unless passed on
    "brainscore_web.apps.LeaderboardConfig",
    "brainscore_web.compare",
    "brainscore_web.apps.CompetitionsConfig",
    "brainscore_web.pages",
    "brainscore_web.api",
    "brainscore_web.apps.JobsConfig",
    "brainscore_web.apps.UploadsConfig",
    "brainscore_web.apps.SubmissionsConfig",
    "brainscore_web.apps.ScoringConfig",
    "brainscore_web.apps.QuestionsConfig",
    "brainscore_web.apps.SearchConfig",
    "brainscore_web.apps.FollowsConfig",
    "brainscore_web.snapshots",
    "brainscore_web.apps.OperationsConfig",
    "django_htmx",
    "django_tasks",
    "django_tasks_db",
    "allauth",  # after accounts, whose templates take precedence
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.github",
    "allauth.socialaccount.providers.orcid",
]

MIDDLEWARE = [
    "brainscore_web.operations.middleware.Requests",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "brainscore_web.operations.middleware.NoStore",
    "brainscore_web.pages.navigation.Navigation",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "brainscore_web.operations.middleware.ComputingTime",
]

ROOT_URLCONF = "brainscore_web.urls"
WSGI_APPLICATION = "brainscore_web.wsgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": ["brainscore_web.pages.documents"],
            "libraries": {
                "scoring": "brainscore_web.scoring.views",
                "validity": "brainscore_web.leaderboard.cards.validity",
            },
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "brainscore_web.pages.navigation.site",
            ],
        },
    }
]

DATABASES = {"default": database_settings()}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",  # a writer waits for its lock at the start; later, SQLite cannot wait
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-64000;",
    }
else:
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CACHES = {
    "default": {  # counters shared by all processes: login attempts, used codes, uses of clients
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "accounts_shared_cache",
        "KEY_FUNCTION": "brainscore_web.accounts.callers.hashed_key",
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    },
    "rates": {  # what each client uses in this minute
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "rates",
        "OPTIONS": {"MAX_ENTRIES": 20_000},
    },
    "highlighting": {  # highlighted source code, by hash
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "highlighting",
        "TIMEOUT": 24 * 3600,
        "OPTIONS": {"MAX_ENTRIES": 300},
    },
}
COMPUTING_SECONDS = {  # of processors, for reading pages and files, a minute
    "anonymous": positive_integer("BRAINSCORE_SITE_COMPUTING_ANONYMOUS", 20),
    "known": positive_integer("BRAINSCORE_SITE_COMPUTING_KNOWN", 60),
}
API_RATES = {  # requests a minute, in all processes of the server
    "anonymous": positive_integer("BRAINSCORE_SITE_RATE_ANONYMOUS", 120),
    "known": positive_integer("BRAINSCORE_SITE_RATE_KNOWN", 600),
}

AUTH_USER_MODEL = "accounts.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "accounts:profile"
LOGOUT_REDIRECT_URL = "/"

SIGNUP_OPEN = flag("BRAINSCORE_SITE_SIGNUP", default=True)
ACCOUNT_ADAPTER = "brainscore_web.accounts.adapter.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
ACCOUNT_LOGIN_ON_EMAIL_CONFIRMATION = True  # only in the browser that signed up
ACCOUNT_CHANGE_EMAIL = True  # one address; a new one replaces it once confirmed
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = "[Brain-Score] "
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_RATE_LIMITS = {  # besides django-allauth's own: no flooding of mailboxes, no locking out of users
    "login_failed": "10/m/ip,5/5m/key,10/h/key,20/d/key",  # key: the account and the IP address together
    "login_failed_elsewhere": "100/h/key",  # key: the account; over all IP addresses without an earlier login to it
    "reset_password": "20/m/ip,5/h/key",
    "confirm_email": "1/3m/key,10/d/key",
    "provider_login": "20/m/ip",
    "invite": "20/d/user,3/d/key",
}
ACCOUNT_FORMS = {
    "signup": "brainscore_web.accounts.adapter.SignupForm",
    "login": "brainscore_web.accounts.adapter.LoginForm",
    "add_email": "brainscore_web.accounts.adapter.AddEmailForm",
    "change_password": "brainscore_web.accounts.adapter.ChangePasswordForm",
    "set_password": "brainscore_web.accounts.adapter.SetPasswordForm",
    "reset_password": "brainscore_web.accounts.adapter.ResetPasswordForm",
    "reset_password_from_key": "brainscore_web.accounts.adapter.ResetPasswordKeyForm",
    "reauthenticate": "brainscore_web.accounts.adapter.ReauthenticateForm",
}
SOCIALACCOUNT_PROVIDERS = login_providers()
SOCIALACCOUNT_ADAPTER = "brainscore_web.accounts.providers.ProviderAdapter"
SOCIALACCOUNT_FORMS = {"signup": "brainscore_web.accounts.providers.ProviderSignUpForm"}
SOCIALACCOUNT_AUTO_SIGNUP = False  # new users agree to the terms, and confirm an address
SOCIALACCOUNT_QUERY_EMAIL = False
MFA_ADAPTER = "brainscore_web.accounts.adapter.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["recovery_codes", "totp", "webauthn"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not PUBLIC  # without HTTPS, browsers use passkeys on localhost only
MFA_FORMS = {
    "add_webauthn": "brainscore_web.accounts.adapter.AddPasskeyForm",
    "edit_webauthn": "brainscore_web.accounts.adapter.RenamePasskeyForm",
    "authenticate": "brainscore_web.accounts.adapter.AuthenticateForm",
    "reauthenticate": "brainscore_web.accounts.adapter.ReauthenticateCodeForm",
    "activate_totp": "brainscore_web.accounts.adapter.ActivateTOTPForm",
    "deactivate_totp": "brainscore_web.accounts.adapter.DeactivateTOTPForm",
    "generate_recovery_codes": "brainscore_web.accounts.adapter.GenerateRecoveryCodesForm",
}

globals().update(email_settings(os.environ.get("BRAINSCORE_SITE_MAIL") or "console:"))
DEFAULT_FROM_EMAIL = os.environ.get("BRAINSCORE_SITE_MAIL_FROM") or "Brain-Score <noreply@localhost>"
ADDRESS = site_address(ALLOWED_HOSTS, public=PUBLIC)
CONTACT = contact_address(
    "BRAINSCORE_SITE_CONTACT"
)  # of the site's operators, for the footer; as are REPOSITORY and ISSUES
SECURITY_CONTACT = contact_address("BRAINSCORE_SITE_SECURITY_CONTACT") or CONTACT
REPOSITORY = web_address("BRAINSCORE_SITE_REPOSITORY")
ISSUES = web_address("BRAINSCORE_SITE_ISSUES")
DISCUSSIONS = web_address("BRAINSCORE_SITE_DISCUSSIONS")  # of each model and benchmark; may contain {identifier}
DEMONSTRATION = os.environ.get("BRAINSCORE_SITE_DEMONSTRATION", "")  # "simulated" or "example", as serving.py sets it

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = SITE_HOME / "static"
STATICFILES_DIRS = [("identity", str(resources.files("brainscore_core") / "identity"))]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "brainscore_web.apps.CompressedStaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = DEBUG
WHITENOISE_ALLOW_ALL_ORIGINS = False
MEDIA_ROOT = SITE_HOME / "media"  # not served directly: views check permissions first

UPLOADS = {  # storage and limits of uploads; see docs/uploads.md
    "address": os.environ.get("BRAINSCORE_SITE_UPLOADS") or str(SITE_HOME / "uploads"),
    "file": positive_integer("BRAINSCORE_SITE_UPLOAD_MB", 5_000) * 10**6,
    "person": positive_integer("BRAINSCORE_SITE_QUOTA_MB", 50_000) * 10**6,
    "memory": positive_integer("BRAINSCORE_SITE_CHECK_MEMORY_MB", 8_000) * 10**6,
}

SUBMISSIONS = {  # limits and folders of submissions; see docs/submissions.md
    "folder": os.environ.get("BRAINSCORE_SITE_PLUGINS") or str(SITE_HOME / "plugins"),
    "size": positive_integer("BRAINSCORE_SITE_SUBMISSION_MB", 20) * 10**6,
    "person": positive_integer("BRAINSCORE_SITE_SUBMISSIONS_MB", 500) * 10**6,
    "open": positive_integer("BRAINSCORE_SITE_OPEN_SUBMISSIONS", 20),
    "day": positive_integer("BRAINSCORE_SITE_SUBMISSIONS_A_DAY", 50),
    "test_seconds": positive_integer("BRAINSCORE_SITE_TEST_MINUTES", 20) * 60,
    "tests_seconds": positive_integer("BRAINSCORE_SITE_TESTS_MINUTES", 60) * 60,
    "pair_seconds": positive_integer("BRAINSCORE_SITE_PAIR_MINUTES", 120) * 60,
    "models": comma_separated("BRAINSCORE_SITE_SCORED_MODELS") or ["*"],
    "benchmarks": comma_separated("BRAINSCORE_SITE_SCORED_BENCHMARKS") or ["*"],
    "results": os.environ.get("BRAINSCORE_SITE_RESULTS") or str(SITE_HOME / "results"),
    "without_control_group": flag("BRAINSCORE_SITE_WITHOUT_CONTROL_GROUP"),
    "result_size": positive_integer("BRAINSCORE_SITE_RESULT_MB", 500) * 10**6,
    "remote_pairs": positive_integer("BRAINSCORE_SITE_REMOTE_PAIRS", 10),
    "verified_share": min(positive_integer("BRAINSCORE_SITE_VERIFIED_PERCENT", 10), 100) / 100,
}
QUESTIONS = {  # limits on questions about stored scores; see docs/questions.md
    "open": positive_integer("BRAINSCORE_SITE_OPEN_QUESTIONS", 5),
    "day": positive_integer("BRAINSCORE_SITE_QUESTIONS_A_DAY", 50),
    "site_open": positive_integer("BRAINSCORE_SITE_ALL_OPEN_QUESTIONS", 200),
    "site_day": positive_integer("BRAINSCORE_SITE_ALL_QUESTIONS_A_DAY", 1_000),
    "seconds": positive_integer("BRAINSCORE_SITE_QUESTION_MINUTES", 10) * 60,
    "memory": positive_integer("BRAINSCORE_SITE_QUESTION_MB", 4_000) * 10**6,
}
TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend", "QUEUES": ["default", "long"]}}

STIMULUS_SAMPLES = flag("BRAINSCORE_SITE_STIMULUS_SAMPLES", default=not PUBLIC)  # stimuli may have their own licences

OPERATIONS = {  # monitoring, and retention in days; see docs/operators/operations.md
    "metrics_token": os.environ.get("BRAINSCORE_SITE_METRICS_TOKEN", ""),
    "worker": flag("BRAINSCORE_SITE_WORKER"),
    "free": positive_integer("BRAINSCORE_SITE_FREE_MB", 1_000) * 10**6,
    "logs": positive_integer("BRAINSCORE_SITE_KEEP_LOGS", 180),
    "letters": positive_integer("BRAINSCORE_SITE_KEEP_LETTERS", 90),
    "tasks": positive_integer("BRAINSCORE_SITE_KEEP_TASKS", 14),
    "folders": positive_integer("BRAINSCORE_SITE_KEEP_FOLDERS", 7),
    "environments": positive_integer("BRAINSCORE_SITE_ENVIRONMENTS_GB", 100) * 10**9,
    "unconfirmed": positive_integer("BRAINSCORE_SITE_KEEP_UNCONFIRMED", 30),
}

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = PUBLIC
SECURE_REDIRECT_EXEMPT = [r"^health/", r"^metrics$"]  # requested on this machine, not through the proxy
SECURE_HSTS_SECONDS = 31_536_000 if PUBLIC else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = PUBLIC
BEHIND_PROXY = flag("BRAINSCORE_SITE_PROXY")  # whether to trust X-Forwarded-… headers
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
ALLAUTH_TRUSTED_PROXY_COUNT = int(BEHIND_PROXY)

LOGGING = configuration(os.environ.get("BRAINSCORE_SITE_LOG") or "plain")
