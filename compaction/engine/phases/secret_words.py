"""Vocabulary of the redaction: data only.

Which words make a name a secret's name, which make it something else, and which values
are no secret whatever their name.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PASSWORD_WORDS = _words("password passwd passphrase passcode pwd pass 密码 口令 暗号")

NAME_WORDS = PASSWORD_WORDS | _words(
    "secret token key credential credentials auth signature sig "
    "密钥 秘钥 私钥 令牌 密匙"
)
"""A name that holds one of these may speak of a secret."""

SECRET_KEY_QUALIFIERS = _words(
    "api access private secret encryption encrypt decryption signing sign signature "
    "master license licence account shared service deploy ssh app application "
    "consumer client auth admin root symmetric aes hmac jwt webhook "
    "subscription storage server integration personal bot"
)
"""What makes `…_key` a secret. Every other key belongs to a table or a map, unless it
is named like a vendor's environment variable (ACME_KEY) or a header (x-acme-key)."""

PLAIN_KEY_QUALIFIERS = _words(
    "primary foreign public cache sort partition range hash idempotency dict map "
    "lookup group index object row unique composite candidate hot short arrow event "
    "list data query config json parent child routing ordering registry cookie field "
    "form env feature translation locale"
)

HARMLESS_ENDINGS = _words(
    "type types count counts counter limit limits budget usage used len length id "
    "ids idx index indices num number size name names file files filename path dir "
    "url uri endpoint expiry expires expire expiration expired ttl at in field fields "
    "label hint prompt placeholder policy strength regex pattern format prefix suffix "
    "min max required optional valid invalid error errors message reset provider "
    "manager service store ref refs reference arn version class kind mode input "
    "inputs output outputs form view page test tests enabled disabled rotation hasher "
    "encoder validator validation checker algorithm alg scheme position pos offset "
    "start end per price cost rate ratio map list dict stream embedding embeddings "
    "string header env var variable column param params arg args schema model "
    "estimate estimator left remaining window encoding status state source method "
    "func fn callback handler factory getter generator parser address symbol decimals "
    "supply contract balance balances holder holders owner"
)
"""Words after the secret word that make the name harmless: token_count, secretName."""

HARMLESS_BEGINNINGS = _words(
    "max min num total pad eos bos unk sep cls mask special stop per is has no show "
    "hide needs require requires use with without public prompt completion input "
    "output cached reasoning forgot missing invalid valid"
)
"""Words before it that do the same: max_token, has_password."""

NO_VALUES = _words(
    "str string int integer float number bool boolean bytes any none null nil object "
    "dict list tuple set optional union text varchar char undefined unknown void "
    "secretstr self true false yes no required missing invalid incorrect wrong empty "
    "hidden unchanged expired disabled enabled protected encrypted hashed unset "
    "redacted masked password passwd token secret key credentials basic bearer "
    "default global local never always auto manual file env prompt ask input value "
    "variable const readonly let var function return async and are was has for from "
    "with that this the must should will can may test foo bar baz abc n/a na"
)
"""Types, states and words of prose that stand where a value could."""

SECRET_WORDS = ("password", "passwd", "secret", "token", "pwd", "credential")
