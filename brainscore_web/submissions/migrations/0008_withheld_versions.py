"""Versions that were replaced while private."""

from typing import Any

from django.db import migrations, models

from brainscore_web.leaderboard.clean import objects_in


def withhold(apps: Any, _: Any) -> None:
    """Withhold versions that are no longer live if their submission, or any model that it registers, is private."""
    private = set(
        apps.get_model("leaderboard", "VisionModel")
        .objects.filter(visibility="private")
        .values_list("identifier", flat=True)
    )
    live = set(apps.get_model("submissions", "Plugin").objects.values_list("kind", "name", "code"))
    versions = apps.get_model("submissions", "PublishedVersion").objects
    keys = []
    rows = versions.values_list("pk", "kind", "name", "code", "revision__submission__visibility", "revision__plugins")
    for key, kind, name, code, visibility, plugins in rows.iterator():
        known = objects_in({"plugins": plugins}, "plugins")
        named = {entry.get("key") for plugin in known for entry in objects_in(plugin, "registrations")}
        if (kind, name, code) not in live and (visibility == "private" or named & private):
            keys.append(key)
    versions.filter(pk__in=keys).update(withheld=True)


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0006_training_data"),
        ("submissions", "0007_long_steps"),
    ]

    operations = [
        migrations.AddField(
            model_name="publishedversion",
            name="withheld",
            field=models.BooleanField(
                db_default=False, default=False, help_text="Whether it was replaced while private, and stays so."
            ),
        ),
        migrations.RunPython(withhold, migrations.RunPython.noop),
    ]
