"""Importing foreign conversations, from a file or an upload to rows."""
