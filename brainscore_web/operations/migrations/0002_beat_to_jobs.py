"""The table of heartbeats goes to the app `jobs` as it is, under another name."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("operations", "0001_initial")]

    operations = [
        migrations.RemoveConstraint("beat", "one_beat_a_process"),
        migrations.AddConstraint(
            "beat", models.UniqueConstraint(fields=("kind", "name"), name="one_heartbeat_a_process")
        ),
        migrations.AlterModelTable("Beat", "jobs_heartbeat"),
        migrations.SeparateDatabaseAndState(state_operations=[migrations.DeleteModel("Beat")]),
    ]
