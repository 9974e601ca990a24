"""The table of e-mails goes to the app `jobs` as it is, under another name."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("submissions", "0002_leases")]

    operations = [
        migrations.RenameIndex("letter", new_name="email_sent_due", old_name="submissions_sent_adcbd5_idx"),
        migrations.AlterModelTable("Letter", "jobs_email"),
        migrations.SeparateDatabaseAndState(state_operations=[migrations.DeleteModel("Letter")]),
    ]
