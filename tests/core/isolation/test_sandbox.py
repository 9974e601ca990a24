"""Commands in sandboxes: what they try there comes to nothing, and is named."""

import json
import os
import socket
import subprocess
import sys
import sysconfig
import tempfile
import textwrap
import threading
from pathlib import Path

import pytest

import brainscore_core
from brainscore_core.errors import UserError
from brainscore_core.isolation import _launch, sandbox
from brainscore_core.isolation.sandbox import HOME, Sandbox, require_sandbox, run_in_sandbox


def can_sandbox():
    try:
        require_sandbox()
    except UserError:
        return False
    return True


# where CI is set they fail instead: nobody would notice that they are left out
pytestmark = pytest.mark.skipif(not os.environ.get("CI") and not can_sandbox(), reason="no sandboxes on this machine")

ATTACKS = """
import ctypes, errno, json, os, socket, sys

told = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
tried = {}

def attempt(name):
    def run(function):
        try:
            tried[name] = ["done", str(function())]
        except OSError as error:
            tried[name] = [type(error).__name__, errno.errorcode.get(error.errno, str(error.errno))]
        except Exception as error:
            tried[name] = [type(error).__name__, str(error)]
    return run

def call(name, *arguments):
    ctypes.set_errno(0)
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)

attempt("loopback")(lambda: socket.create_connection(("127.0.0.1", told["port"]), timeout=2))
attempt("abstract socket")(lambda: socket.socket(socket.AF_UNIX).connect("\\0" + told["abstract"]))
attempt("named socket")(lambda: socket.socket(socket.AF_UNIX).connect(told["socket"]))
attempt("outside")(lambda: socket.create_connection(("192.0.2.1", 80), timeout=2))
attempt("names")(lambda: socket.getaddrinfo("example.com", 80))
attempt("vsock")(lambda: socket.socket(getattr(socket, "AF_VSOCK", 40), socket.SOCK_STREAM))
for name, path in told["secrets"].items():
    attempt(name)(lambda: open(path).read())
    attempt(name + " by link")(lambda: (os.symlink(path, "/tmp/link"), open("/tmp/link").read()))
    os.path.lexists("/tmp/link") and os.unlink("/tmp/link")
scorer = told["scorer"]
attempt("scorer's memory file")(lambda: open(f"/proc/{scorer}/mem"))
attempt("scorer's variables")(lambda: open(f"/proc/{scorer}/environ").read())
attempt("signal")(lambda: os.kill(scorer, 0))
attempt("ptrace")(lambda: call("ptrace", 16, scorer, 0, 0))
attempt("process_vm_readv")(lambda: call("process_vm_readv", scorer, 0, 0, 0, 0, 0))
attempt("keys")(lambda: call("syscall", 250 if os.uname().machine == "x86_64" else 219, 0, -3, 0))
attempt("user namespace")(lambda: call("unshare", 0x10000000))
attempt("mount")(lambda: call("mount", b"none", b"/tmp", b"tmpfs", 0, None))
attempt("become root")(lambda: os.setuid(0))
attempt("setting of the system")(lambda: open("/proc/sys/kernel/hostname", "w").write("x"))
mounts = {line.split()[4] for line in open("/proc/self/mountinfo")}
for place in sorted(mounts | {"/etc", "/stimuli", "/dev", sys.prefix}):
    if os.path.isdir(place):
        attempt("write " + place)(lambda: open(os.path.join(place, "mine"), "w").write("x"))
attempt("change what is shown")(lambda: open(told["shown"], "a").write("x"))
attempt("link what is shown")(lambda: os.link(told["shown"], "/tmp/mine2"))
attempt("read what is shown")(lambda: open(told["shown"]).read())
attempt("fill scratch")(lambda: open("/tmp/home/large", "wb").write(bytes(30_000_000)))
os.path.exists("/tmp/home/large") and os.unlink("/tmp/home/large")
tried["processes"] = sorted(int(one) for one in os.listdir("/proc") if one.isdigit())
tried["variables"] = dict(os.environ)
tried["first process"] = open("/proc/1/environ").read().split("\\0")
tried["descriptors"] = sorted(int(one) for one in os.listdir("/proc/self/fd"))
tried["rights"] = [line for line in open("/proc/self/status") if line.startswith(("Cap", "NoNewPrivs", "Seccomp:"))]
tried["user"] = [os.getuid(), os.getgid(), os.getgroups(), os.uname().nodename, os.getcwd()]
tried["top"] = sorted(os.listdir("/"))
tried["beside the platform"] = sorted(os.listdir(told["platform"]))
print(json.dumps(tried))
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """What lies outside: secrets, a server, sockets."""
    folder = tmp_path_factory.mktemp("machine")
    secrets = {}
    for name in ("result", "home", "other plugin", "private stimulus"):
        file = folder / name.replace(" ", "-") / "secret.txt"
        file.parent.mkdir()
        file.write_text("nobody's business")
        secrets[name] = str(file)
    shown = folder / "shown.txt"
    shown.write_text("for all")
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(socket.AF_UNIX) as named,
    ):
        abstract.bind(f"\0brainscore-test-{os.getpid()}")
        abstract.listen()
        path = f"/tmp/brainscore-test-{os.getpid()}"
        named.bind(path)
        named.listen()
        yield {
            "port": server.getsockname()[1],
            "abstract": f"brainscore-test-{os.getpid()}",
            "socket": path,
            "secrets": {**secrets, "shadow": "/etc/shadow", "mounts": "/proc/1/root/etc/shadow"},
            "scorer": os.getpid(),
            "shown": str(shown),
            "platform": str(Path(require_sandbox.__code__.co_filename).parents[2]),
        }
        os.unlink(path)


@pytest.fixture(scope="module")
def tried(machine):
    """What came of everything that was tried in one sandbox."""
    os.environ["SECRET_TOKEN"] = "abc"
    try:
        sandbox = Sandbox(files=[Path(machine["shown"])], scratch=20_000_000, environment={"WANTED": "yes"})
        ended = run_in_sandbox([sys.executable, "-c", ATTACKS, json.dumps(machine)], sandbox, timeout=60)
    finally:
        del os.environ["SECRET_TOKEN"]
    assert ended.cause == "", ended.output
    return json.loads(ended.output.splitlines()[-1])


class TestAttacks:
    @pytest.mark.parametrize(
        ("attack", "refused"),
        [
            ("loopback", "ECONNREFUSED"),
            ("abstract socket", "ECONNREFUSED"),
            ("named socket", "ENOENT"),
            ("outside", "ENETUNREACH"),
            ("vsock", "EAFNOSUPPORT"),
            ("signal", "ESRCH"),
            ("ptrace", "EPERM"),
            ("process_vm_readv", "EPERM"),
            ("keys", "EPERM"),
            ("mount", "EPERM"),
            ("user namespace", "EPERM"),
            ("become root", ("EPERM", "EINVAL")),
            ("setting of the system", ("EACCES", "EROFS")),
            ("scorer's memory file", "ENOENT"),
            ("scorer's variables", "ENOENT"),
            ("change what is shown", ("EROFS", "EACCES")),
            ("link what is shown", "EXDEV"),
            ("fill scratch", "ENOSPC"),
        ],
    )
    def test_refused(self, tried, attack, refused):
        assert tried[attack][1] in refused, tried[attack]
        assert tried[attack][0] != "done"

    def test_names_are_not_looked_up(self, tried):
        assert tried["names"][0] == "gaierror"

    @pytest.mark.parametrize("way", ["", " by link"])
    @pytest.mark.parametrize("secret", ["result", "home", "other plugin", "private stimulus", "shadow", "mounts"])
    def test_files_of_others_are_not_there(self, tried, secret, way):
        assert tried[secret + way][1] in ("ENOENT", "EACCES")

    def test_what_is_shown_can_be_read(self, tried):
        assert tried["read what is shown"] == ["done", "for all"]

    def test_only_scratch_can_be_written(self, tried):
        places = {name.removeprefix("write "): how for name, how in tried.items() if name.startswith("write ")}
        assert {"/", "/etc", "/dev", "/stimuli", "/usr", sys.prefix} <= set(places) | {"/usr"}
        assert {place for place, how in places.items() if how[0] == "done"} == {"/tmp", "/dev/shm"}

    def test_the_environment_holds_no_secrets(self, tried):
        assert tried["variables"]["WANTED"] == "yes"
        assert tried["variables"]["HOME"] == HOME
        assert "SECRET_TOKEN" not in tried["variables"]
        assert not any(one.startswith("SECRET_TOKEN") for one in tried["first process"])

    def test_nothing_is_inherited(self, tried):
        assert tried["descriptors"] in ([0, 1, 2], [0, 1, 2, 3])  # the last is the listing's own
        assert tried["processes"][0] == 1
        assert len(tried["processes"]) <= 3

    def test_no_rights(self, tried):
        rights = dict(line.split() for line in tried["rights"])
        assert {int(rights[name], 16) for name in rights if name.startswith("Cap")} == {0}
        assert rights["NoNewPrivs:"] == "1"
        assert rights["Seccomp:"] == "2"
        assert tried["user"] == [1000, 1000, [], "sandbox", HOME]

    def test_only_the_platform_is_shown_of_its_folder(self, tried):
        assert "brainscore_core" in tried["beside the platform"]
        assert not {"tests", ".git", "manage.py"} & set(tried["beside the platform"])
        if not _is_installed():  # the interpreter's packages are visible, of which the site may be one
            assert "brainscore_web" not in tried["beside the platform"]
        assert "home" not in tried["top"] or not str(Path.home()).startswith("/home")


def _is_installed():
    """Whether the platform is among the packages of the interpreter, and not in a checkout."""
    return Path(brainscore_core.__file__).is_relative_to(sysconfig.get_paths()["purelib"])


def descendants(root):
    """Processes below one, with their users, as seen from here."""
    found, ahead = {}, [root]
    while ahead:
        pid = ahead.pop()
        try:
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
            found[pid] = next(line.split()[1:] for line in lines if line.startswith("Uid:"))
            ahead += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
        except OSError:
            continue
    return found


def run(code, timeout=60, max_output=1 << 20, **options):
    sandbox = Sandbox(**{"memory": 400_000_000, "processes": 40, "scratch": 100_000_000, **options})
    return run_in_sandbox(
        [sys.executable, "-c", textwrap.dedent(code)], sandbox, timeout=timeout, max_output=max_output
    )


@pytest.mark.skipif(os.getuid() != 0, reason="who is not root keeps the user")
def test_the_user_outside_is_nobody():
    seen = []

    def look(text):
        if "ready" in text:
            seen.append(descendants(os.getpid()))

    ended = run_in_sandbox(
        [sys.executable, "-c", "import time; print('ready', flush=True); time.sleep(1)"],
        Sandbox(),
        timeout=60,
        on_output=look,
    )
    assert ended.cause == "", ended.output
    users = [set(users) for users in seen[0].values()]
    confined = [one for one in users if one != {"0"}]
    assert len(confined) >= 3, "bubblewrap outside, bubblewrap inside, the command"
    assert all(len(one) == 1 and 61184 <= int(next(iter(one))) < 65536 for one in confined)


class TestLimits:
    def test_files_in_memory_on_their_way(self):
        """What is in a socket is held open by no process; the control group counts it all the same."""
        try:
            require_sandbox(control_group=True)
        except UserError as error:
            pytest.skip(str(error))
        ended = run(
            """
            import os, socket, time
            ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
            for _ in range(30):
                file = os.memfd_create('hidden')
                os.write(file, bytes(40_000_000))
                socket.send_fds(ends[0], [b'x'], [file])
                os.close(file)
            time.sleep(60)
            """,
            memory=300_000_000,
        )
        assert ended.cause == "memory"

    def test_fork_bomb(self):
        ended = run("""
            import os
            while True:
                try:
                    os.fork()
                except OSError:
                    pass
        """)
        assert (ended.cause, ended.message) == ("processes", "ran more than 40 processes and threads")
        assert ended.seconds < 30

    def test_memory(self):
        ended = run("kept = []\nwhile True: kept.append(b'x' * 5_000_000)")
        assert (ended.cause, ended.message) == ("memory", "used more than 400.0 MB of memory")

    def test_memory_of_several_processes_and_of_files_without_names(self):
        ended = run("""
            import os, time
            if os.fork():
                kept = b"x" * 250_000_000
            else:
                file = os.memfd_create("mine")
                while True:
                    os.write(file, bytes(5_000_000))
            time.sleep(60)
        """)
        assert ended.cause == "memory"

    def test_shared_pages_count_once(self):
        ended = run("""
            import os, time
            kept = b"x" * 200_000_000
            for _ in range(4):
                if not os.fork():
                    time.sleep(0.5)
                    os._exit(0)
            time.sleep(1)
        """)
        assert ended.cause == "", ended

    def test_one_huge_allocation_is_an_error_of_its_own(self):
        ended = run("b = bytearray(1 << 42)")
        assert ended.cause == "exit"
        assert "MemoryError" in ended.output

    @pytest.mark.slow(reason="waits for a limit of time")
    def test_endless_loop(self):
        ended = run("print('begun', flush=True)\nwhile True: pass", timeout=1.5)
        assert (ended.cause, ended.message) == ("timeout", "ran longer than 1.5 s")

    def test_time_of_the_sandbox(self):
        ended = run("while True: pass", seconds=0.7)
        assert (ended.cause, ended.message) == ("timeout", "ran longer than 0.7 s")

    def test_flood(self):
        ended = run("while True: print('x' * 9999)")
        assert (ended.cause, ended.message) == ("output", "printed more than 1.0 MB")
        assert len(ended.output) < 1_200_000

    def test_size_of_files(self):
        ended = run("open('/dev/shm/a', 'wb').write(bytes(2_000_000))", file_size=1_000_000)
        assert ended.cause in ("exit", "crash")
        assert "File too large" in ended.output or ended.status == 128 + 25

    def test_stopped(self):
        begun = threading.Event()
        ended = run_in_sandbox(
            [sys.executable, "-c", "import time; print('here', flush=True); time.sleep(60)"],
            Sandbox(),
            timeout=60,
            on_output=lambda text: begun.set(),
            stopped=begun.is_set,
        )
        assert (ended.cause, ended.message) == ("stopped", "was stopped")
        assert ended.output.startswith("here")

    def test_crash_and_exit(self):
        ended = run("import sys; sys.exit(7)")
        assert (ended.cause, ended.status) == ("exit", 7)
        ended = run("import ctypes; ctypes.string_at(0)")
        assert ended.cause == "crash"
        assert "segmentation fault" in ended.message

    def test_nothing_is_left(self):
        before, processes = set(Path("/tmp").glob("brainscore-sandbox-*")), set(descendants(os.getpid()))
        run("""
            import os, time
            if not os.fork():
                os.setsid()
                time.sleep(600)
        """)
        assert set(Path("/tmp").glob("brainscore-sandbox-*")) <= before
        assert set(descendants(os.getpid())) <= processes


class TestFolders:
    def test_writable(self, tmp_path):
        file = tmp_path / "result"
        file.touch()
        ended = run(f"open('{file}', 'w').write('x')", writable=[file])
        assert ended.cause == "", ended.output
        assert file.read_text() == "x"
        ended = run(
            f"import time\nopen('{file}', 'wb').write(bytes(9_000_000))\ntime.sleep(60)",
            writable=[file],
            scratch=5_000_000,
        )
        assert (ended.cause, ended.message) == ("scratch", "wrote more than 5.0 MB")

    def test_a_writable_file_stays_alone_and_what_it_is(self, tmp_path):
        file = tmp_path / "out" / "result"
        file.parent.mkdir()
        file.touch()
        ended = run(
            f"""
            import os
            for attempt in (
                lambda: os.mkdir('{file.parent}/folder'),
                lambda: open('{file.parent}/another', 'w'),
                lambda: os.unlink('{file}'),
                lambda: os.rename('{file}', '{file}2'),
                lambda: os.link('{file}', '/tmp/home/link'),
            ):
                try:
                    attempt()
                except OSError:
                    continue
            """,
            writable=[file],
        )
        assert ended.cause in ("", "exit"), ended.output
        assert [path.name for path in file.parent.iterdir()] == ["result"]
        assert file.is_file()
        assert not file.is_symlink()
        assert file.stat().st_nlink == 1

    def test_many_entries(self):
        """Files without content take memory of the kernel, and no block of a disk."""
        ended = run(
            """
            import itertools, os
            for number in itertools.count():
                os.mkdir(f'/tmp/home/{number}')
            """,
            entries=20_000,
        )
        assert (ended.cause, ended.message) == ("entries", "made more than 20,000 files and folders")

    def test_folders_within_folders(self):
        ended = run(
            """
            import os
            for _ in range(5_000):
                os.mkdir('d')
                os.chdir('d')
            print('deep')
            """
        )
        assert ended.output == "deep\n"  # and nothing of it is on a disk

    @pytest.mark.skipif(os.getuid() != 0, reason="another user cannot read them either")
    def test_closed_ones(self, tmp_path):
        (tmp_path / "closed").mkdir(mode=0o700)
        with pytest.raises(UserError, match=r"unprivileged user cannot read(?s:.*)chmod -R o\+rX"):
            run("pass", folders=[tmp_path / "closed"])
        file = tmp_path / "weights"
        file.write_text("numbers")
        file.chmod(0o600)
        ended = run(f"print(open('{file}').read())", files=[file])
        assert ended.output == "numbers\n"

    def test_missing_ones(self, tmp_path):
        with pytest.raises(UserError, match=r"the folder .* does not exist"):
            run("pass", folders=[tmp_path / "nowhere"])
        with pytest.raises(UserError, match=r"the file .* does not exist"):
            run("pass", files=[tmp_path / "nowhere"])
        with pytest.raises(UserError, match="memory=0"):
            Sandbox(memory=0)


class TestMissing:
    def test_bubblewrap(self, monkeypatch):
        monkeypatch.setattr(sandbox.shutil, "which", lambda *args, **options: None)
        with pytest.raises(UserError, match=r"bubblewrap is not installed(?s:.*)apt install bubblewrap"):
            run("pass")

    def test_namespaces(self, monkeypatch, tmp_path):
        broken = tmp_path / "bwrap"
        broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
        broken.chmod(0o755)
        for parent in (tmp_path, *tmp_path.parents):  # another user has to find it
            if parent == Path(tempfile.gettempdir()):
                break
            parent.chmod(0o755)
        monkeypatch.setattr(sandbox.shutil, "which", lambda *args, **options: str(broken))
        with pytest.raises(UserError, match=r"No permissions to create new namespace(?s:.*)user namespaces"):
            require_sandbox()

    def test_no_control_group(self, monkeypatch, tmp_path):
        monkeypatch.setattr(_launch, "_GROUPS_ROOT", tmp_path)
        sandbox._limits_memory.cache_clear()
        require_sandbox()
        with pytest.raises(UserError, match=r"no control group(?s:.*)Delegate=yes"):
            require_sandbox(control_group=True)
        sandbox._limits_memory.cache_clear()

    def test_other_systems(self, monkeypatch):
        monkeypatch.setattr(sandbox.sys, "platform", "darwin")
        with pytest.raises(UserError, match="a sandbox requires Linux"):
            require_sandbox()


@pytest.mark.slow(reason="in processes of its own")
def test_without_the_process_that_wanted_it(tmp_path):
    """When it is killed, the sandbox goes, too."""
    code = """
        import sys
        from brainscore_core.isolation.sandbox import Sandbox, run_in_sandbox
        inside = "import time; print('ready', flush=True); time.sleep(600)"
        run_in_sandbox(
            [sys.executable, "-c", inside], Sandbox(), timeout=600, on_output=lambda text: print(text, flush=True)
        )
    """
    before = set(Path(tempfile.gettempdir()).glob("brainscore-sandbox-*"))
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    below = descendants(process.pid)
    assert len(below) >= 5
    process.kill()
    process.wait()
    process.stdout.close()
    for _ in range(200):
        if not any(Path(f"/proc/{pid}").exists() for pid in below):
            break
        threading.Event().wait(0.05)
    else:
        pytest.fail("still there")
    left = [folder for folder in Path(tempfile.gettempdir()).glob("brainscore-sandbox-*") if folder not in before]
    run("pass")
    assert not any(folder.exists() for folder in left), "the next sandbox clears up"
