"""Invented conversations for the first start: everybody and everything is made up.

`outputs` makes what tools print, `script` strings turns together, the `stories_*`
modules tell what happened, `seeding` brings them into the database.
"""

from __future__ import annotations
