"""What of a conversation must survive a compaction, found by rules and in one pass.

Extraction (`extract_*`) turns messages into `EvidenceItem`s, `collect` runs all of it
and settles what is superseded or resolved, `carry` reads a previous summary back into
items, and `writing` writes items as a summary within a budget of tokens.
"""
