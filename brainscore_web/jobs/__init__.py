"""Background work shared by the site's apps: the task queue, heartbeats, and the e-mail outbox."""
