"""The tables of e-mails and heartbeats, which were those of the apps `submissions` and `operations`."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

MOVED = {("submissions", "letter"): ("email", "e-mail"), ("operations", "beat"): ("heartbeat", "heartbeat")}
"""App and name of each model before → its name now, and its name for people."""


def rename_content_types(apps, schema_editor):
    """Keep what refers to the models: permissions of groups and users, and the log of the administration."""
    for (app, old), (new, label) in MOVED.items():
        _rename(apps, schema_editor.connection.alias, (app, old), ("jobs", new), label)


def restore_content_types(apps, schema_editor):
    for (app, old), (new, _label) in MOVED.items():
        _rename(apps, schema_editor.connection.alias, ("jobs", new), (app, old), old)


def _rename(apps, database, before, after, label):
    types = apps.get_model("contenttypes", "ContentType").objects.using(database)
    permissions = apps.get_model("auth", "Permission").objects.using(database)
    (old_app, old), (new_app, new) = before, after
    row = types.filter(app_label=old_app, model=old).first()
    if row is None or types.filter(app_label=new_app, model=new).exists():
        return  # a new database: they are created after the migrations
    types.filter(pk=row.pk).update(app_label=new_app, model=new)
    for action in ("add", "change", "delete", "view"):
        permissions.filter(content_type_id=row.pk, codename=f"{action}_{old}").update(
            codename=f"{action}_{new}", name=f"Can {action} {label}"
        )


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("contenttypes", "0002_remove_content_type_name"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("submissions", "0003_letter_to_jobs"),
        ("operations", "0002_beat_to_jobs"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="Heartbeat",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("kind", models.CharField(help_text="Such as 'worker'.", max_length=40)),
                        ("name", models.CharField(help_text="Of the process.", max_length=200)),
                        ("seen", models.DateTimeField(default=django.utils.timezone.now)),
                    ],
                    options={
                        "ordering": ("kind", "-seen", "name"),
                        "constraints": [
                            models.UniqueConstraint(fields=("kind", "name"), name="one_heartbeat_a_process")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Email",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("claim", models.CharField(blank=True, editable=False, max_length=40)),
                        ("claimed", models.DateTimeField(blank=True, editable=False, null=True)),
                        ("worker", models.CharField(blank=True, editable=False, max_length=200)),
                        ("attempts", models.IntegerField(default=0, editable=False)),
                        ("subject", models.CharField(max_length=300)),
                        ("body", models.TextField()),
                        ("created", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                        ("sent", models.DateTimeField(blank=True, null=True)),
                        ("due", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                        ("problem", models.CharField(blank=True, max_length=500)),
                        (
                            "submission",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="emails",
                                to="submissions.submission",
                            ),
                        ),
                        (
                            "to",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="emails",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "verbose_name": "e-mail",
                        "ordering": ("created",),
                        "indexes": [models.Index(fields=["sent", "due"], name="email_sent_due")],
                    },
                ),
            ],
        ),
        migrations.RunPython(rename_content_types, restore_content_types),
    ]
