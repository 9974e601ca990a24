"""A site in an environment of its own, with what `requirements/site.txt` lists, tests and scores a new model."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CUDA = re.compile(r"(cuda-|nvidia-|triton$)")
"""What torch for CUDA needs: gigabytes. Where the index has torch for CUDA, pip installs them with it."""
TORCH = re.compile(r"(torch|torchvision)$")
"""Installed without a hash, so that the machine's own index may have it for the CPU alone."""
ADDRESS, PASSWORD = "operator@example.org", "correct horse battery"

pytestmark = [
    pytest.mark.slow(reason="installs an environment of 1.6 GB, which takes about a minute", first=True),
    pytest.mark.skipif(
        not os.environ.get("CI") and shutil.which("bwrap") is None,
        reason="needs bubblewrap, which keeps submitted code apart",
    ),
]


def installed(folder):
    """The interpreter of an environment with the package and the locked requirements, and nothing else."""
    lines = re.sub(r"\\\n", "", (ROOT / "requirements" / "site.txt").read_text()).splitlines()
    entries = {line.partition("==")[0].partition("[")[0]: line for line in lines if re.match(r"[a-z0-9]", line)}
    hashed = [line for name, line in entries.items() if not CUDA.match(name) and not TORCH.match(name)]
    (folder / "hashed.txt").write_text("\n".join(hashed))
    torch = [line.split()[0] for name, line in entries.items() if TORCH.match(name)]
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, check=True)
    subprocess.run([sys.executable, "-m", "venv", folder / "environment"], check=True)
    python = folder / "environment" / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    subprocess.run([*install, "--no-deps", "--require-hashes", "-r", folder / "hashed.txt"], check=True)
    subprocess.run([*install, *torch], check=True)
    subprocess.run([*install, "--no-deps", *folder.glob("*.whl")], check=True)
    return python


class Site:
    """`brainscore serve` as operators start it, and what they ask it."""

    def __init__(self, python, folder):
        known = {name: text for name, text in os.environ.items() if not name.startswith(("BRAINSCORE_", "DJANGO_"))}
        for name in ("DATABASE_URL", "PYTHONPATH"):
            known.pop(name, None)
        self.environment = known | {
            "BRAINSCORE_HOME": str(folder / "home"),
            "BRAINIO_HOME": str(folder / "brainio"),
            "BRAINSCORE_SITE_HOME": str(folder / "site-example"),
            "BRAINSCORE_SITE_MAIL": f"file://{folder}",
            "BRAINSCORE_SITE_SCORED_MODELS": "pixels",
            "BRAINSCORE_SITE_SCORED_BENCHMARKS": "Simulated2026.V1-rdm",
            "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
            "PYTHONUNBUFFERED": "1",
            "OMP_NUM_THREADS": "1",
        }
        self._python, self._folder, self._log = python, folder, folder / "log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [python, "-P", "-m", "brainscore", "serve", "--port", "0"],
                env=self.environment | {"BRAINSCORE_SITE_HOME": str(folder / "site")}, cwd=folder,
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self.url = self.line(r"at (http://\S+?)/ ")[1]

    def line(self, pattern, after=0):
        """The first match in what it prints; waits for it."""
        return self.until(lambda: re.compile(pattern).search(self._log.read_text(), after))

    def until(self, get, seconds=240):
        end = time.monotonic() + seconds
        while not (result := get()):
            assert self.process.poll() is None, self._log.read_text()
            assert time.monotonic() < end, self._log.read_text()
            time.sleep(0.2)
        return result

    def printed(self):
        return self._log.read_text()

    def command(self, module, *arguments):
        command = [self._python, "-P", "-m", module, *arguments]
        done = subprocess.run(
            command, env=self.environment, cwd=self._folder, timeout=240, capture_output=True, text=True
        )
        assert done.returncode == 0, (done.stdout, done.stderr, self.printed())
        return done.stdout

    def ready(self):
        try:
            answer = urllib.request.urlopen(f"{self.url}/health/ready", timeout=60)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            return json.load(answer)

    def end(self):
        os.killpg(self.process.pid, signal.SIGINT)
        try:
            self.process.wait(60)
        finally:
            if self.process.poll() is None:
                os.killpg(self.process.pid, signal.SIGKILL)


def test_a_new_model_is_tested_and_scored(tmp_path):
    tmp_path.chmod(0o755)
    site = Site(installed(tmp_path), tmp_path)
    try:
        site.command("brainscore_web", "createsuperuser", "--noinput", "--email", ADDRESS)
        token = site.command(
            "brainscore_web", "api_token", ADDRESS, "--name", "t", "--scope", "read", "--scope", "submit"
        )
        site.environment |= {"BRAINSCORE_TOKEN": token.split()[-1], "BRAINSCORE_SITE": site.url}
        site.until(lambda: site.ready()["state"] == "ready")
        worker = int(site.line(r"Worker (\d+) scores")[1])

        os.kill(worker, signal.SIGKILL)
        site.line(r"The worker has ended; it is started again in 1 s\.")
        site.line(rf"Worker (?!{worker} )\d+ scores")

        site.command("brainscore", "new", "model", "stripes", "--folder", str(tmp_path / "plugins"))
        site.command("brainscore", "submit", str(tmp_path / "plugins" / "models" / "stripes"), "--wait")
        query = "model=stripes&benchmark=Simulated2026.V1-rdm"
        with urllib.request.urlopen(f"{site.url}/api/v1/scores?{query}", timeout=60) as answer:
            (score,) = json.load(answer)["items"]
        assert (score["state"], 0 < score["value"] < 1) == ("scored", True)
        assert "Traceback" not in site.printed()
    finally:
        site.end()
