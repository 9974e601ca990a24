"""Published plugins by version, at first those that are live."""

from typing import Any

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


def add_live(apps: Any, _: Any) -> None:
    """Add the live version of each plugin, with the licence that its models' metadata state."""
    details = dict(apps.get_model("leaderboard", "VisionModel").objects.values_list("identifier", "details"))
    rows = []
    for plugin in apps.get_model("submissions", "Plugin").objects.exclude(code="").iterator():
        stated = [details.get(name) for name in plugin.identifiers] if plugin.kind == "models" else []
        licences = {str(one.get("code_licence") or "") for one in stated if isinstance(one, dict)} - {""}
        rows.append(
            apps.get_model("submissions", "PublishedVersion")(
                kind=plugin.kind, name=plugin.name, code=plugin.code, revision_id=plugin.revision_id,
                published=plugin.published, licence=", ".join(sorted(licences))[:200],
            )
        )  # fmt: skip
    apps.get_model("submissions", "PublishedVersion").objects.bulk_create(rows)


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0006_training_data"),
        ("submissions", "0005_unexamined_files"),
    ]

    operations = [
        migrations.CreateModel(
            name="PublishedVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("models", "model"),
                            ("benchmarks", "benchmark"),
                            ("data", "data"),
                            ("metrics", "metric"),
                        ],
                        max_length=10,
                    ),
                ),
                ("name", models.CharField(help_text="Of its folder.", max_length=200)),
                ("code", models.CharField(help_text="Hash of its files, as receipts have it.", max_length=64)),
                (
                    "licence",
                    models.CharField(
                        blank=True, help_text="Of its code, as its models' metadata state it.", max_length=200
                    ),
                ),
                ("published", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="published_versions",
                        to="submissions.revision",
                    ),
                ),
            ],
            options={
                "ordering": ("-published", "-pk"),
                "constraints": [
                    models.UniqueConstraint(fields=("kind", "name", "code"), name="one_published_version_a_hash")
                ],
            },
        ),
        migrations.RunPython(add_live, migrations.RunPython.noop),
    ]
