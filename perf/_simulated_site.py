"""A simulated site of a given size, served by processes of its own."""

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

FILL = """
import sys
from brainscore_web.processes import set_up
set_up()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from brainscore_web.leaderboard.simulation import simulate_leaderboard
simulate_leaderboard(models=int(sys.argv[1]), benchmarks=int(sys.argv[2]), versions=2, private=0)
"""
SERVE = """
import sys
from brainscore_web.serving import listen, prepare, serve
taken = listen("127.0.0.1", 0)
prepare(None, say=print)
print(taken.getsockname()[1], flush=True)
serve(taken, workers=int(sys.argv[1]))
"""


@contextmanager
def site(folder, workers):
    """A running site's port and its process."""
    environment = {**os.environ, "BRAINSCORE_SITE_HOME": folder, "BRAINSCORE_SITE_COMPUTING_ANONYMOUS": "1000000"}
    environment.pop("DATABASE_URL", None)
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(workers)], env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        port = int(process.stdout.readline())
        with urlopen(f"http://127.0.0.1:{port}/", timeout=120) as page:  # answers when the processes are ready
            page.read()
        yield port, process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def memory(process):
    """Bytes of the server's processes, without what they share."""
    children = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()
    sizes = []
    for number in children:
        text = Path(f"/proc/{number}/smaps_rollup").read_text()
        sizes.append(int(re.search(r"Pss:\s+(\d+)", text)[1]) * 1024)
    return sum(sizes)
