import pytest

from brainscore_core import memory
from brainscore_core.errors import UserError
from brainscore_core.memory import (
    available_memory,
    format_size,
    machine_limit,
    memory_limit,
    parse_size,
    resident_memory,
)

GB = 10**9


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4GB", 4 * 10**9),
        ("4 gb", 4 * 10**9),
        ("4G", 4 * 10**9),
        ("4GiB", 4 * 2**30),
        ("1.5TiB", 3 * 2**39),
        ("800m", 8 * 10**8),
        (" .5kB ", 500),
        ("123", 123),
        ("123 B", 123),
        (123.9, 123),
        (7, 7),
    ],
)
def test_sizes(text, expected):
    assert parse_size(text) == expected


@pytest.mark.parametrize(
    "text", ["", "GB", "4 XB", "4 bits", "-4GB", "0", "0.1", "1e9", "four", float("nan"), 0, True, "4GBGB"]
)
def test_no_sizes(text):
    with pytest.raises(UserError, match="is not a size in bytes\nwrite it like 4GB"):
        parse_size(text)


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (2.5e12, "2.5 TB"),
        (2.5e15, "2,500.0 TB"),
    ],
)
def test_readable(count, expected):
    assert format_size(count) == expected


def test_which_limit_counts(monkeypatch):
    monkeypatch.delenv("BRAINSCORE_MAX_MEMORY", raising=False)
    assert memory_limit() == machine_limit()
    monkeypatch.setenv("BRAINSCORE_MAX_MEMORY", "2GB")
    assert memory_limit() == 2 * GB
    assert memory_limit("1GB") == GB
    monkeypatch.setenv("BRAINSCORE_MAX_MEMORY", "lots")
    assert memory_limit(5) == 5
    with pytest.raises(UserError, match="BRAINSCORE_MAX_MEMORY: 'lots' is not a size"):
        memory_limit()


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """``machine(groups, files)`` writes what a Linux system of 10 GB would show."""
    monkeypatch.setattr(memory, "_process_limits", list)

    def write(groups, **files):
        texts = {
            "proc/meminfo": f"MemTotal: {10 * GB // 1024} kB\nMemFree: 1 kB\nMemAvailable: {8 * GB // 1024} kB\n",
            "proc/self/cgroup": groups,
            **{name.replace("__", "."): text for name, text in files.items()},
        }
        for name, text in texts.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return tmp_path

    return write


def test_without_groups(machine):
    root = machine("0::/\n")
    assert machine_limit(root) == pytest.approx(8 * GB, rel=1e-6)
    assert available_memory(root) == pytest.approx(8 * GB, rel=1e-6)
    (root / "proc/self/cgroup").unlink()
    assert machine_limit(root) == pytest.approx(8 * GB, rel=1e-6)


def test_second_version_and_the_groups_around_it(machine):
    root = machine(
        "0::/slurm/job\n",
        **{
            "sys/fs/cgroup/slurm/memory.max": f"{4 * GB}\n",
            "sys/fs/cgroup/slurm/memory.current": f"{3 * GB}\n",
            "sys/fs/cgroup/slurm/memory.stat": f"anon 5\ninactive_file {GB}\n",
            "sys/fs/cgroup/slurm/job/memory.max": "max\n",
        },
    )
    assert machine_limit(root) == 0.8 * 4 * GB
    assert available_memory(root) == 2 * GB
    (root / "sys/fs/cgroup/slurm/job/memory.max").write_text(f"{GB}\n")
    assert machine_limit(root) == 0.8 * GB
    (root / "sys/fs/cgroup/slurm/job/memory.max").write_text(f"{100 * GB}\n")
    assert machine_limit(root) == 0.8 * 4 * GB


def test_first_version(machine):
    root = machine(
        "5:cpu,memory:/job\n4:devices:/elsewhere\n",
        **{
            "sys/fs/cgroup/memory/job/memory.limit_in_bytes": f"{2 * GB}\n",
            "sys/fs/cgroup/memory/job/memory.usage_in_bytes": f"{GB // 2}\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "sys/fs/cgroup/memory/elsewhere/memory.limit_in_bytes": "1\n",
        },
    )
    assert machine_limit(root) == 0.8 * 2 * GB
    assert available_memory(root) == 1.5 * GB


def test_inside_a_container(machine):
    """The group's path is the host's, its limit stands at the top of what is seen."""
    root = machine("0::/../../docker/abc\n", **{"sys/fs/cgroup/memory.max": f"{3 * GB}\n"})
    assert machine_limit(root) == int(0.8 * 3 * GB)


def test_the_process_own_limit(machine, monkeypatch):
    root = machine("0::/\n")
    monkeypatch.setattr(memory, "_process_limits", lambda: [GB])
    assert machine_limit(root) == 0.8 * GB


def test_this_machine():
    assert 10**7 < resident_memory() < machine_limit() * 2
    assert available_memory() > 0
    assert memory._physical(memory.Path("/")) >= machine_limit()
    held = resident_memory()
    block = bytearray(4 * 10**8)  # the system counts large pages in portions of more than 100 MB
    assert resident_memory() - held > 2 * 10**8
    assert len(block) == 4 * 10**8
