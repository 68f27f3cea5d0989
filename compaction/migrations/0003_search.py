"""The full-text index, and the fingerprint by which an import knows its messages."""

from django.db import migrations, models

_MAKE = {
    "sqlite": [
        # Accents and case are settled before words come here (store/search_words.py).
        "CREATE VIRTUAL TABLE compaction_search USING fts5("
        "words, content='', columnsize=0, tokenize='unicode61 remove_diacritics 0')",
    ],
    "postgresql": [
        # No foreign key: it would forbid truncating the message table alone.
        "CREATE TABLE compaction_search ("
        "message_id bigint PRIMARY KEY, words tsvector NOT NULL)",
        "CREATE INDEX compaction_search_words ON compaction_search USING gin (words)",
    ],
}


def make(apps, schema_editor):
    for statement in _MAKE[schema_editor.connection.vendor]:
        schema_editor.execute(statement)


def drop(apps, schema_editor):
    schema_editor.execute("DROP TABLE compaction_search")


class Migration(migrations.Migration):

    dependencies = [
        ("compaction", "0002_audit_head"),
    ]

    operations = [
        migrations.RunPython(make, drop),
        migrations.AddField(
            model_name="message",
            name="source_digest",
            field=models.CharField(blank=True, max_length=32),
        ),
    ]
