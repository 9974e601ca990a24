from django.db import migrations, models

from brainscore_core.populations import condition

_LONGEST = 200


def _read_conditions(apps, schema_editor):
    """Read the condition of each version from its newest score."""
    versions = apps.get_model("leaderboard", "BenchmarkVersion")
    scores = apps.get_model("leaderboard", "Score").objects.exclude(estimates="")
    for version in versions.objects.iterator():
        newest = scores.filter(benchmark=version.benchmark_id, version=version.version).order_by("-created").first()
        text = condition(newest.estimates) if newest is not None else ""
        if text:
            version.condition = text[:_LONGEST]
            version.save(update_fields=["condition"])


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0007_shared_units"),
    ]

    operations = [
        migrations.AddField(
            model_name="benchmarkversion",
            name="condition",
            field=models.CharField(
                blank=True,
                default="",
                help_text="For which few subjects or groups alone scores hold, by the newest receipt; empty: for new ones.",
                max_length=200,
            ),
            preserve_default=False,
        ),
        migrations.RunPython(_read_conditions, migrations.RunPython.noop),
    ]
