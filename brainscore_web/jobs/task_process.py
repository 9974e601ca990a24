"""A process that runs the django-tasks worker of a queue; it ends together with the worker that started it."""

from __future__ import annotations

import signal
import sys


def main(parent: int, queue: str) -> None:
    """Run the database worker of django-tasks until it is stopped."""
    from brainscore_web.processes import end_with_parent, set_up

    end_with_parent(parent)
    set_up()
    from django.core.management import call_command

    call_command("db_worker", queue_name=queue, verbosity=0, startup_delay=False, reload=False, interval=0.5)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C also reaches the worker, which then ends this process
    main(int(sys.argv[1]), sys.argv[2])
