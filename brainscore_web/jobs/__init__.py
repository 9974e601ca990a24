"""What the apps of the site share to work in the background: queues of tasks, heartbeats, e-mail that is sent later."""
