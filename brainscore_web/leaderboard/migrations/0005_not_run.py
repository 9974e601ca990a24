"""Scores of pairs that the site could not run have a state of their own; those of known receipts are looked through."""

from django.db import migrations, models

_BATCH = 500


def mark(apps, schema_editor):
    """Find failures for lack of data, space or software of the site."""
    from brainscore_core.scoring import Receipt, ReceiptError
    from brainscore_web.leaderboard.reasons import NOT_RUN, not_run_reason

    score_model = apps.get_model("leaderboard", "Score")
    scores = score_model.objects.using(schema_editor.connection.alias)
    changed = []
    rows = scores.filter(state="failed", document__isnull=False).only("pk", "document").order_by()
    for score in rows.iterator(chunk_size=_BATCH):
        try:
            reason = not_run_reason(Receipt.from_dict(score.document))
        except ReceiptError:  # kept from a version that checked less
            continue
        if reason:
            score.state, score.reason = NOT_RUN, reason
            changed.append(score)
    scores.bulk_update(changed, ["state", "reason"], batch_size=_BATCH)


class Migration(migrations.Migration):
    """Adds the state, and sets it."""

    dependencies = [("leaderboard", "0004_stored_assessment")]

    operations = [
        migrations.AlterField(
            model_name="score",
            name="state",
            field=models.CharField(
                choices=[
                    ("scored", "Scored"),
                    ("undefined", "Undefined"),
                    ("not applicable", "Not Applicable"),
                    ("failed", "Failed"),
                    ("not run", "Not Run"),
                ],
                max_length=20,
            ),
        ),
        migrations.RunPython(mark, migrations.RunPython.noop),
    ]
