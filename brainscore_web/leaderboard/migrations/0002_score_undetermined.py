"""Scores say whether they are undetermined; those of known receipts are looked through."""

from django.db import migrations, models

_BATCH = 500


def fill(apps, schema_editor):
    """Read from the receipts of scores relative to a ceiling why they say nothing, if so."""
    from brainscore_core.scoring import Receipt, ReceiptError

    score_model = apps.get_model("leaderboard", "Score")
    scores = score_model.objects.using(schema_editor.connection.alias)
    changed = []
    rows = scores.filter(state="scored", scale="ceiled", document__isnull=False).only("pk", "document").order_by()
    for score in rows.iterator(chunk_size=_BATCH):
        try:
            reason = Receipt.from_dict(score.document).undetermined
        except ReceiptError:  # kept from a version that checked less
            continue
        if reason:
            score.undetermined = reason
            changed.append(score)
    scores.bulk_update(changed, ["undetermined"], batch_size=_BATCH)


class Migration(migrations.Migration):
    """Adds the field, and fills it."""

    dependencies = [("leaderboard", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="score",
            name="undetermined",
            field=models.CharField(
                blank=True,
                default="",
                help_text="Why the score relative to its ceiling says nothing, if so.",
                max_length=200,
            ),
            preserve_default=False,
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
