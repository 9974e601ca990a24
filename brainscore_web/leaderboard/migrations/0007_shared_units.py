"""Influences of units name the stimulus sets and studies that the units are from, so that data sets can share them."""

from django.db import migrations, models

_BATCH = 500
_COLLECTIONS = {
    "FreemanZiemba2013",
    "Geirhos2019",
    "ImageNet (ILSVRC 2012), validation",
    "Natural Scenes Dataset",
    "THINGS",
}
"""What receipts did not name, and several benchmarks are taken from."""
_OF_SUBJECTS = ("subjects", "neuroids", "blocks of neuroids")


def name(apps, schema_editor):
    """Add names to rows with the name of the data set alone, from the receipt and what the benchmark is taken from."""
    from brainscore_core.scoring import Receipt, ReceiptError
    from brainscore_core.statistics.units import sources_of

    rows = apps.get_model("leaderboard", "StoredInfluence").objects.using(schema_editor.connection.alias)
    rows = rows.exclude(parts=[]).exclude(score__document=None).select_related("score__benchmark").order_by()
    changed = []
    for row in rows.defer("content").iterator(chunk_size=_BATCH):
        try:
            receipt = Receipt.from_dict(row.score.document)
        except ReceiptError:  # kept from a version that checked less
            continue
        taken_from = sorted(_COLLECTIONS.intersection(row.score.benchmark.taken_from or ()))
        row.parts = [
            [kind, [*sources_of(receipt, kind), *(() if kind in _OF_SUBJECTS else taken_from)], *rest]
            for kind, _, *rest in row.parts
        ]
        changed.append(row)
    rows.bulk_update(changed, ["parts"], batch_size=_BATCH)


class Migration(migrations.Migration):
    """Adds the names."""

    dependencies = [("leaderboard", "0006_training_data")]

    operations = [
        migrations.AlterField(
            model_name="storedinfluence",
            name="parts",
            field=models.JSONField(
                default=list, help_text="Kind, names of data, number of units, in blocks, paired, sums."
            ),
        ),
        migrations.RunPython(name, migrations.RunPython.noop),
    ]
