"""Operation of the site: health checks, metrics, logs, backups, retention."""
