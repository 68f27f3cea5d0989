"""Secrets where people leave them, and program text that only speaks of secrets."""

from __future__ import annotations

import random
import string
from collections.abc import Sequence

from bench.inputs import SEED

_LETTERS = string.ascii_letters + string.digits
_SMALL = string.ascii_lowercase + string.digits

# Where the secret stands; `@` is a made-up value of mixed letters, `~` of small ones.
_PLACES = (
    "OPENAI_API_KEY=sk-proj-@",
    "export ANTHROPIC_API_KEY='sk-ant-api03-@'",
    "git clone https://oauth2:ghp_@@github.example/x.git",
    "remote: using token github_pat_@",
    "aws_access_key_id = AKIA2E0A8F3B244C9986",
    "aws_secret_access_key = @/@",
    "Authorization: Bearer @",
    "authorization: Basic @",
    "curl -H 'X-Api-Key: @' https://api.example.org/v1",
    "curl -u admin:@ https://api.example.org/v1",
    'headers = {"Authorization": "Bearer @"}',
    "postgres://app:~@db.internal:5432/app",
    "mongodb+srv://svc:~@cluster0.example.net/prod",
    "redis://:~@cache.internal:6379/0",
    "mysql --user=root --password=~ shop",
    "sshpass -p ~ ssh deploy@host",
    "DATABASE_PASSWORD: ~",
    "spring.datasource.password=~",
    "client_secret: @",
    '"client_secret": "@"',
    '"refresh_token":"@"',
    '{"password": "~", "user": "anna"}',
    "Set-Cookie: sessionid=~; HttpOnly; Path=/",
    "Cookie: auth=~; theme=dark",
    "https://hooks.slack.example/x?token=~&channel=1",
    "GET /download?access_token=~ HTTP/1.1",
    "slack: xoxb-123456789012-@",
    "stripe key sk_live_@",
    "SENDGRID=SG.@.@",
    "google AIzaSyA@",
    "hugging face hf_@",
    "//registry.npmjs.example/:_authToken=npm_@",
    "jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.@",
    "密码：~",
    "token 是 @",
    "the root password is ~",
    "my api key: @",
    "passwd=~",
    'export DB_PASS="~"',
    "docker login -u ci -p ~",
    "vault token: hvs.@",
    "glpat-@ is the deploy token",
    "TWILIO_AUTH_TOKEN=~",
    "-----BEGIN RSA PRIVATE KEY-----\n@\n@\n-----END RSA PRIVATE KEY-----",
    "key -----BEGIN OPENSSH PRIVATE KEY-----\n@@\n-----END OPENSSH PRIVATE KEY-----",
)

CODE = (
    "def rotate_token(self, token: str, *, key: bytes) -> Token:",
    "    password = getpass.getpass('Password: ')",
    "    return self.secret_store.get(name, default=None)",
    "if token is None or token.expired:",
    "const token = await getToken(user.id);",
    "api_key = os.environ['SERVICE_API_KEY']",
    "apiKey: process.env.SERVICE_API_KEY,",
    "token_count = len(tokens)",
    "max_tokens=4096, temperature=0.2",
    "tokens = tokenizer.encode(text)",
    'raise ValueError("password must not be empty")',
    "class PasswordResetForm(forms.Form):",
    "    secret: SecretStr = Field(default=...)",
    "assert response.headers['Authorization'] == expected",
    "headers['Authorization'] = f'Bearer {token}'",
    "key = (row.tenant_id, row.kind)",
    "primary_key=True, verbose_name='auth token'",
    "for key, value in sorted(settings.items()):",
    "SELECT token_hash FROM sessions WHERE user_id = $1",
    "ALTER TABLE users ADD COLUMN password_hash text NOT NULL",
    "password_field.send_keys(password)",
    "auth = HTTPBasicAuth(username, password)",
    "csrf_token = get_token(request)",
    "- name: AUTH_URL\n  value: http://auth.internal/login",
    "token = next(lexer)",
    "parser.add_argument('--token', required=True, help='API token')",
    "if (!password) { throw new Error('missing password'); }",
    "export type AuthState = { token?: string; user: User | null };",
    "secretKeyRef:\n  name: db-credentials\n  key: password",
    "cache_key = f'user:{user_id}:token'",
    "func (s *Store) Token(ctx context.Context) (string, error) {",
    'let password = prompt_password("Password: ")?;',
    "self.auth_backend = auth_backend or DefaultBackend()",
    "commit 9f8e7d6c5b4a39281706f5e4d3c2b1a098765432",
    "sha256:4a5b6c7d8e9f00112233445566778899aabbccddeeff00112233445566778899",
    "request id 3f2b8c1e-9d4a-4e6b-8f70-1a2b3c4d5e6f",
    "password: {{ db_password }}",
    "token: ${{ secrets.DEPLOY_TOKEN }}",
    "TOKEN=$(cat /run/secrets/token)",
    "# the secret is read from the vault at start",
)
"""Lines without any secret in them."""


def make_secrets(seed: int = SEED) -> list[tuple[str, list[str]]]:
    """Return texts with the secrets in each."""
    dice = random.Random(seed)
    return [_fill(place, dice) for place in _PLACES]


def _fill(place: str, dice: random.Random) -> tuple[str, list[str]]:
    secrets: list[str] = []
    parts: list[str] = []
    for char in _marked(place):
        if char in ("@", "~"):
            letters = _LETTERS if char == "@" else _SMALL
            secrets.append("".join(dice.choices(letters, k=24)))
            parts.append(secrets[-1])
        else:
            parts.append("@" if char == "\0" else char)
    return "".join(parts), secrets or ["AKIA2E0A8F3B244C9986"]


def _marked(place: str) -> str:
    """Tell the at sign before a host from the mark for a value."""
    for host in ("github.example", "db.internal", "cluster0", "cache.internal", "host"):
        place = place.replace(f"@{host}", f"\0{host}")
    return place


def share_masked(
    texts: Sequence[tuple[str, list[str]]], redacted: Sequence[str]
) -> float:
    """Return the share of texts in which no part of a secret is left to read."""
    clean = [
        not any(secret[4:-4] in after for secret in secrets)
        for (_, secrets), after in zip(texts, redacted, strict=True)
    ]
    return sum(clean) / len(clean)
