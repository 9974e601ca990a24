"""Create the tables of the search."""

from django.db import migrations, models


def create_words(apps, schema_editor):
    from brainscore_web.search.models import TABLES

    for statement in TABLES[schema_editor.connection.vendor]:
        schema_editor.execute(statement)


def drop_words(apps, schema_editor):
    schema_editor.execute("DROP TABLE search_words")


class Migration(migrations.Migration):
    initial = True
    dependencies: list[tuple[str, str]] = []
    operations = [
        migrations.CreateModel(
            name="Entry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=20)),
                ("key", models.CharField(max_length=200)),
                ("row", models.BigIntegerField(null=True)),
                ("domain", models.CharField(blank=True, max_length=20)),
                ("title", models.CharField(max_length=200)),
                ("identifier", models.CharField(blank=True, max_length=200)),
                ("address", models.CharField(max_length=1000)),
                ("summary", models.TextField(blank=True)),
                ("text", models.TextField(blank=True)),
                ("digest", models.CharField(max_length=64)),
            ],
            options={
                "verbose_name_plural": "entries",
                "constraints": [models.UniqueConstraint(fields=("kind", "key"), name="one_entry_a_page")],
            },
        ),
        migrations.CreateModel(
            name="Words",
            fields=[],
            options={"db_table": "search_words", "managed": False},
        ),
        migrations.RunPython(create_words, drop_words),
    ]
