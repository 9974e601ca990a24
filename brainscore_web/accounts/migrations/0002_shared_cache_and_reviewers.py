from django.db import migrations, models
from django.db.models.functions import Lower


def lower_addresses(apps, schema_editor):
    apps.get_model("accounts", "User").objects.using(schema_editor.connection.alias).update(email=Lower("email"))


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
    ]

    operations = [
        migrations.RunPython(lower_addresses, migrations.RunPython.noop),
        migrations.CreateModel(
            name="SharedCacheRow",
            fields=[
                ("cache_key", models.CharField(max_length=255, primary_key=True, serialize=False)),
                ("value", models.TextField()),
                ("expires", models.DateTimeField(db_index=True)),
            ],
            options={
                "db_table": "accounts_shared_cache",
            },
        ),
        migrations.AlterModelOptions(
            name="user",
            options={"permissions": (("review_submissions", "Can review submissions"),)},
        ),
    ]
