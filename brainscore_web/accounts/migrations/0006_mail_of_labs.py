from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0005_labs"),
    ]

    operations = [
        migrations.AddField(
            model_name="membership",
            name="receives_mail",
            field=models.BooleanField(default=True, verbose_name="receives e-mails about submissions of other members"),
        ),
    ]
