from django.db import migrations, models

_UNRECORDED = "unknown subjects and groups: not recorded"


def mark_unrecorded(apps, schema_editor):
    """Mark the versions of which no score states over what it generalises."""
    scores = apps.get_model("leaderboard", "Score").objects.filter(value__isnull=False)
    stated = models.Q(estimates__startswith="new ") | models.Q(document__raw__ci_estimates__startswith="new ")
    for version in apps.get_model("leaderboard", "BenchmarkVersion").objects.filter(condition="").iterator():
        own = scores.filter(benchmark=version.benchmark_id, version=version.version)
        if own.exists() and not own.filter(stated).exists():
            version.condition = _UNRECORDED
            version.synced.pop("condition_read", None)
            version.save(update_fields=["condition", "synced"])


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0008_condition"),
    ]

    operations = [
        migrations.RunPython(mark_unrecorded, migrations.RunPython.noop),
    ]
