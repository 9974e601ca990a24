"""What keeps a site running: health, metrics, logs, backups, retention."""
