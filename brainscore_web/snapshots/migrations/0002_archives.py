import gzip
import json

from django.db import migrations, models

from brainscore_web.snapshots.citing import archive_of


def pack(apps, schema_editor):
    """Store the files that were computed for each request."""
    for row in apps.get_model("snapshots", "FrozenView").objects.using(schema_editor.connection.alias).iterator():
        text = gzip.decompress(bytes(row.content))
        row.archive = archive_of(row, json.loads(text), text)
        row.save(update_fields=["archive"])


class Migration(migrations.Migration):
    dependencies = [
        ("snapshots", "0001_snapshots"),
    ]

    operations = [
        migrations.AddField(
            model_name="frozenview",
            name="archive",
            field=models.BinaryField(
                default=b"",
                help_text="The ZIP file to deposit: the document in JSON, the same as CSV, metadata.",
            ),
            preserve_default=False,
        ),
        migrations.RunPython(pack),
        migrations.RemoveField(model_name="frozenview", name="content"),
    ]
