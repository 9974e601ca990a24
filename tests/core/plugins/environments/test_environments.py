import json
import os
import re
import stat
import tarfile
import zipfile
from pathlib import Path

import numpy
import pytest

import brainscore_core
from brainscore_core.errors import UserError
from brainscore_core.plugins.environments import RequirementsError, environment_of, environments
from brainscore_core.plugins.environments import wheels as module_of_wheels
from brainscore_core.plugins.environments.base import base_of, minimal_variables
from brainscore_core.plugins.environments.wheels import _settings_of, examine_wheel

pytestmark = pytest.mark.slow(reason="makes virtual environments")


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_without_requirements_it_is_the_base(make, run, base, home):
    environment = make()
    assert environment.python.is_relative_to(home / environment.key)
    assert (environment.packages, environment.installed, environment.notes) == ({}, {}, ())
    code = "import brainscore_core, numpy, sys; print(brainscore_core.__file__, numpy.__version__, sys.prefix)"
    file, version, prefix = run(environment, code).split()
    assert Path(file).samefile(brainscore_core.__file__)
    assert version == numpy.__version__
    assert Path(prefix) == environment.folder


def test_the_running_interpreter_is_the_default(run, plugin):
    environment = environment_of([plugin("numpy\n")], plugin="mine")
    assert environment.installed == {}
    assert environment.packages["numpy"] == numpy.__version__
    file = run(environment, "import brainscore_core; print(brainscore_core.__file__)")
    assert Path(file).samefile(brainscore_core.__file__)
    environment.release()


@pytest.mark.slow(reason="installs several times")
def test_wheels_are_installed_in_front_of_the_base(make, run, wheels, base, plugin):
    base.install(wheels.add("tiny", "1.0"))
    base.install(wheels.add("steady", "1.0"))
    wheels.add("tiny", "2.0")
    wheels.add("steady", "2.0")
    wheels.add("other", "0.3", requires=["steady", "tiny<2"])
    shadowing = make(plugin("tiny>=2\nsteady\n"))
    assert shadowing.installed == {"tiny": "2.0"}
    assert shadowing.shadowed == {"tiny": "1.0"}
    assert shadowing.packages == {"tiny": "2.0", "steady": "1.0"}
    assert run(shadowing, "import steady, tiny; print(tiny.version, steady.version)") == "2.0 1.0"

    beside = make(plugin("other\n"))
    assert beside.installed == {"other": "0.3"}
    assert beside.packages == {"other": "0.3", "steady": "1.0", "tiny": "1.0"}
    assert run(beside, "import tiny; print(tiny.version)") == "1.0"
    assert not list(base.site.glob("other*"))


@pytest.mark.slow(reason="installs several times")
def test_the_base_stays_where_versions_allow_it(make, wheels, base, plugin):
    """The newest of `picky` wants another version of what the base has; an older one does not."""
    base.install(wheels.add("steady", "1.0"))
    wheels.add("steady", "2.0")
    wheels.add("picky", "1.0", requires=["steady"])
    wheels.add("picky", "2.0", requires=["steady>=2"])
    assert make(plugin("picky\n")).installed == {"picky": "1.0"}
    assert make(plugin("picky>=2\n")).installed == {"picky": "2.0", "steady": "2.0"}


@pytest.mark.slow(reason="installs several times")
def test_packages_of_the_base_that_no_longer_work_are_noted(make, wheels, base, plugin):
    base.install(wheels.add("tiny", "1.0"))
    base.install(wheels.add("needy", "1.0", requires=["tiny<2", "numpy"]))
    wheels.add("tiny", "2.0")
    assert make(plugin("tiny==2.0\n")).notes == ("needy 1.0 of the base needs tiny<2; the environment has tiny 2.0",)


def test_nothing_to_install_needs_neither_pip_nor_network(make, plugin, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.delenv("PIP_NO_INDEX")
    told = []
    environment = make(plugin("numpy>=1\nbrainscore_vision\nimp\n"), say=told.append)
    assert told == ["building the environment of mine"]
    assert environment.installed == {}
    assert environment.packages["numpy"] == numpy.__version__
    assert len(environment.notes) == 2


@pytest.mark.slow(reason="installs several times")
def test_what_the_platform_runs_on_stays(make, wheels, plugin):
    wheels.add("tiny")
    wheels.add("numpy", "1.26.4")
    wheels.add("old", "1.0", requires=["numpy<2"])
    for line in ("numpy<2", "old"):
        with pytest.raises(RequirementsError) as raised:
            make(plugin(f"tiny\n{line}\n"))
        error = raised.value
        assert f"requirements.txt:2: {line}" in error.message
        assert f"numpy stays at {numpy.__version__}" in error.remedy
        assert "conflict" in error.message


def test_requirements_that_do_not_go_together(make, wheels, plugin, home):
    wheels.add("left", "1.0", requires=["shared<2"])
    wheels.add("right", "1.0", requires=["shared>=2"])
    wheels.add("apart", "1.0")
    wheels.add("shared", "1.0")
    wheels.add("shared", "2.0")
    path = plugin("left\napart\nright\n")
    with pytest.raises(RequirementsError) as raised:
        make(path)
    error = raised.value
    assert f"of mine cannot be met:\n  {path}:1: left\n  {path}:3: right\n" in error.message
    assert "left 1.0 depends on shared<2" in error.message
    assert "right 1.0 depends on shared>=2" in error.message
    assert not [name for name in os.listdir(home) if name != ".locks"]


@pytest.mark.slow(reason="installs several times")
def test_what_is_nowhere(make, wheels, plugin):
    wheels.add("tiny", "1.0")
    wheels.add("needy", "1.0", requires=["nowhere"])
    for text, number in (("tiny\nabsent\n", 2), ("tiny==7\n", 1), ("numpy\n\nneedy\n", 3)):
        path = plugin(text)
        with pytest.raises(RequirementsError, match="No matching distribution") as raised:
            make(path)
        assert re.findall(r"requirements.txt:(\d+)", raised.value.message) == [str(number)]
        assert "PIP_FIND_LINKS" in raised.value.remedy


def test_sources_are_not_built(make, wheels, plugin, tmp_path):
    built = tmp_path / "built"
    (tmp_path / "setup.py").write_text(f"open({str(built)!r}, 'w')")
    with tarfile.open(wheels.folder / "raw-1.0.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "setup.py", "raw-1.0/setup.py")
    with pytest.raises(RequirementsError) as raised:
        make(plugin("raw\n"))
    assert "raw: no wheels for" in raised.value.remedy
    assert "pip wheel" in raised.value.remedy
    assert not built.exists()


def test_no_index_can_be_reached(make, wheels, plugin, monkeypatch):
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    path = plugin("absent\n")
    with pytest.raises(RequirementsError) as raised:
        make(path)
    assert f"{path}:1: absent" in raised.value.message
    assert "No package index could be reached" in raised.value.remedy
    assert "PIP_INDEX_URL" in raised.value.remedy


def test_settings_of_the_base_are_handed_on_and_do_not_stay(make, wheels, base, plugin, monkeypatch):
    for name in ("PIP_FIND_LINKS", "PIP_CONFIG_FILE"):
        monkeypatch.delenv(name)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS"):
        monkeypatch.setenv(name, str(base.folder))  # not the user's
    wheels.add("tiny")
    (base.folder / "pip.conf").write_text(f"[global]\nfind-links = {wheels.folder}\n")
    environment = make(plugin("tiny\n"))
    assert environment.installed == {"tiny": "1.0"}
    assert not (environment.folder / "pip.conf").exists()


def test_the_copy_of_settings_is_as_private_as_they_are(base, tmp_path):
    (base.folder / "pip.conf").write_text("[global]\nindex-url = https://me:secret@host/simple\n")
    (base.folder / "pip.conf").chmod(0o600)
    (tmp_path / "made").mkdir()
    with _settings_of(base_of(base.python), tmp_path / "made"):
        assert stat.S_IMODE((tmp_path / "made" / "pip.conf").stat().st_mode) == 0o600
    assert not (tmp_path / "made" / "pip.conf").exists()


def test_what_is_installed_with_a_marker_that_cannot_be_read(make, wheels, base, plugin):
    base.install(wheels.add("there", requires=["numpy", "gone ; python_version ~= 'x'"]))
    assert sorted(make(plugin("there\n")).packages) == ["numpy", "there"]


def test_settings_that_would_put_it_elsewhere_do_not_count(make, wheels, plugin, monkeypatch, tmp_path):
    wheels.add("tiny")
    monkeypatch.setenv("PIP_TARGET", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("PIP_DRY_RUN", "1")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert make(plugin("tiny\n")).installed == {"tiny": "1.0"}
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.slow(reason="installs several times")
def test_hashes_are_checked(make, wheels, plugin):
    import hashlib

    digest = hashlib.sha256(wheels.add("tiny").read_bytes()).hexdigest()
    assert make(plugin(f"tiny==1.0 --hash=sha256:{digest}\n")).installed == {"tiny": "1.0"}
    with pytest.raises(RequirementsError, match="HASHES"):
        make(plugin(f"tiny==1.0 \\\n  --hash=sha256:{digest[::-1]}\n"))


@pytest.mark.slow(reason="installs several times")
def test_constraints_of_a_plugin(make, wheels, base, plugin):
    base.install(wheels.add("tiny", "2.0"))
    wheels.add("tiny", "1.0")
    plugin("tiny<2\n", "limits.txt")
    assert make(plugin("tiny\n-c limits.txt\n")).installed == {"tiny": "1.0"}


def test_another_platform_is_not_brought_along(make, wheels, plugin):
    wheels.add("fork", files={"brainscore_vision/__init__.py": "", "fork.py": ""})
    with pytest.raises(RequirementsError, match="install another brainscore_vision") as raised:
        make(plugin("fork\n"))
    assert "requirements.txt:1: fork" in raised.value.message


def test_what_is_made_and_shared(make, wheels, plugin, home, run, monkeypatch):
    """Scripts, permissions and description of an environment, its use, and that another plugin gets the same."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    info = "tiny-1.0.dist-info/entry_points.txt"
    main = {"tiny/__init__.py": "def main(): print('ran')\n", "tiny/deep/__init__.py": "x = 1\n"}
    wheels.add("tiny", files={**main, info: "[console_scripts]\ntiny = tiny:main\n"})
    option = "--extra-index-url https://me:secret@127.0.0.1/simple\n"
    told, before = [], os.umask(0o077)
    try:
        environment = make(plugin(f"tiny\nnumpy\n{option}"), say=told.append)
    finally:
        os.umask(before)
    for path in [environment.folder, *environment.folder.rglob("*")]:
        if not path.is_symlink():  # others may read it: a sandbox has a user of its own
            needed = 0o755 if path.is_dir() else 0o644
            assert path.stat().st_mode & needed == needed, path

    script = (environment.folder / "bin" / "tiny").read_text()
    assert str(environment.python.parent) in script
    assert ".part" not in script

    document = json.loads((environment.folder / "environment.json").read_text())
    assert document["installed"] == {"tiny": "1.0"}
    assert document["options"] == ["--extra-index-url https://127.0.0.1/simple"]
    texts = [path.read_text(errors="replace") for path in environment.folder.rglob("*") if path.is_file()]
    assert not any("secret" in text for text in texts)

    files = everything(environment.folder)
    run(environment, "import tiny.deep, brainscore_core.errors")
    assert everything(environment.folder) == files  # nothing is written when it is used
    assert any(name.endswith(".pyc") for name in files)

    again = make(plugin(f"numpy # first\nTINY\n{option}", "other.txt"), name="another", say=told.append)
    assert again.key == environment.key
    assert told == ["building the environment of mine", "installing tiny"]
    [stored] = environments()
    assert (stored.key, stored.state, stored.in_use) == (environment.key, "good", True)
    assert stored.manifest.plugin == "mine"
    assert stored.folder == home / environment.key


def test_mounts_hold_all_that_it_reads(make, run):
    environment = make()
    code = """import sys, brainscore_core.errors, numpy
for module in list(sys.modules.values()):
    if getattr(module, "__file__", None): print(module.__file__)"""
    for file in run(environment, code).splitlines():
        assert any(Path(file).is_relative_to(folder) for folder in (*environment.mounts, environment.folder)), file


def test_another_base_is_another_environment(make, plugin):
    over_base, over_this = make(), environment_of([], plugin="mine")
    over_this.release()
    assert over_base.key != over_this.key


@pytest.mark.slow(reason="installs several times")
def test_a_changed_base_makes_a_new_one(make, wheels, base, plugin, run):
    base.install(wheels.add("tiny", "1.0"))
    wheels.add("needy", "1.0", requires=["tiny"])
    path = plugin("needy\n")
    first = make(path)
    base.install(wheels.add("unrelated"))
    assert make(path).key == first.key
    base.remove("tiny")
    base.install(wheels.add("tiny", "1.1"))
    second = make(path)
    assert second.key != first.key
    assert second.packages == {"needy": "1.0", "tiny": "1.1"}
    assert {entry.key: entry.state for entry in environments()} == {first.key: "base changed", second.key: "good"}
    base.remove("tiny")
    assert make(path).installed == {"needy": "1.0", "tiny": "1.1"}


@pytest.mark.parametrize("damage", ["missing", "short", "manifest", "base"])
def test_a_broken_one_is_made_anew(make, plugin, run, damage):
    path = plugin("numpy\n")
    first = make(path)
    link = next(first.folder.glob("lib/python*/site-packages/*.pth"))
    if damage == "missing":
        link.unlink()
    elif damage == "short":
        link.write_text("")
    elif damage == "manifest":
        (first.folder / "environment.json").write_text("{")
    else:
        first.python.unlink()
        first.python.symlink_to("nowhere")
    assert [entry.state for entry in environments()] == ["base missing" if damage == "base" else "broken"]
    told = []
    again = make(path, say=told.append)
    assert told == ["building the environment of mine"]
    assert again.key == first.key
    assert run(again, "import numpy; print(numpy.__version__)") == numpy.__version__
    assert [entry.state for entry in environments()] == ["good"]


def test_an_interpreter_that_is_none(tmp_path):
    with pytest.raises(UserError, match="cannot be used: No such file"):
        environment_of([], plugin="mine", base=tmp_path / "python")
    false = tmp_path / "false"
    false.write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    false.chmod(0o755)
    with pytest.raises(UserError, match="cannot be used: broken"):
        environment_of([], plugin="mine", base=false)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot") as raised:
        environment_of([], plugin="mine", root=tmp_path / "file" / "environments")
    assert "BRAINSCORE_HOME" in raised.value.remedy


def test_a_base_that_has_the_platform_neither_installed_nor_on_its_path(make, base, run):
    (base.site / "tests.pth").unlink()
    for link in base.site.glob("brainscore*"):
        link.unlink()
    file = run(make(), "import brainscore_core; print(brainscore_core.__file__)")
    assert Path(file).samefile(brainscore_core.__file__)


def test_folders_of_pythonpath_stay_visible(make, run, tmp_path, monkeypatch, plugin):
    """On clusters, modules put packages there."""
    (tmp_path / "modules" / "loaded-3.0.dist-info").mkdir(parents=True)
    (tmp_path / "modules" / "loaded-3.0.dist-info" / "METADATA").write_text("Name: loaded\nVersion: 3.0\n")
    (tmp_path / "modules" / "loaded.py").write_text("")
    without = make()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "modules"))
    environment = make(plugin("loaded>=3\n"))
    assert environment.packages == {"loaded": "3.0"}
    assert make().key != without.key
    monkeypatch.delenv("PYTHONPATH")
    assert run(environment, "import loaded; print(loaded.__file__)") == str(tmp_path / "modules" / "loaded.py")


def test_a_base_without_pip_uses_the_one_that_python_brings(make, base, wheels, plugin, run):
    ensurepip = pytest.importorskip("ensurepip")
    if not list((Path(ensurepip.__file__).parent / "_bundled").glob("pip-*.whl")):
        pytest.skip("needs the pip that Python brings")
    for link in base.site.glob("pip*"):
        link.unlink()
    wheels.add("tiny")
    environment = make(plugin("tiny\n"))
    assert environment.installed == {"tiny": "1.0"}
    assert run(environment, "import tiny; print(tiny.version)") == "1.0"


def test_nothing_of_a_wheel_runs_when_it_is_installed(make, wheels, plugin, tmp_path):
    """Even if a later wheel ends the installation with what looks like a conflict, so that a second one would start."""
    code = f"import os; open({str(tmp_path / 'trace')!r}, 'w')\n"
    wheels.add("tiny", files={"tiny.py": "", "_brainscore_base.pth": code})
    wheels.add("unfit", files={"unfit-1.0.data/conflict/file": ""}, requires=["tiny"])
    with pytest.raises(RequirementsError, match=r"run code when Python starts: '_brainscore_base.pth' of tiny-1.0"):
        make(plugin("unfit\n"))
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("_brainscore_base.pth", "run code when Python starts"),
        ("tiny.PTH", "run code when Python starts"),
        ("tiny.start", "run code when Python starts"),
        ("tiny-1.0.data/purelib/tiny.pth", "run code when Python starts"),
        ("tiny-1.0.data/platlib/sitecustomize.py", "run code when Python starts"),
        ("sitecustomize/__init__.py", "run code when Python starts"),
        ("usercustomize.cpython-311-x86_64-linux-gnu.so", "run code when Python starts"),
        ("brainscore_core.py", "install another brainscore_core"),
        ("brainscore_vision/__init__.py", "install another brainscore_vision"),
        ("tiny-1.0.data/data/lib/python3.11/site-packages/tiny.pth", "folders of the environment that are not theirs"),
        ("tiny-1.0.data/data/lib64/python3.11/site-packages/tiny.pth", "that are not theirs"),
        ("tiny-1.0.data/data/bin/python", "that are not theirs"),
        ("tiny-1.0.data/data/pyvenv.cfg", "replace files of the interpreter: .*pyvenv.cfg"),
        ("tiny-1.0.data/scripts/python", "replace files of the interpreter: .*python"),
        ("tiny-1.0.data/scripts/python3", "replace files of the interpreter: .*python3"),
        ("tiny-1.0.data/scripts/../tiny", "write outside of the environment"),
        ("../../tiny.pth", "write outside of the environment"),
        ("/tmp/tiny.pth", "write outside of the environment"),
    ],
)
def test_what_a_wheel_may_not_contain(wheels, path, problem):
    assert re.search(problem, examine_wheel(wheels.add("tiny", files={path: ""}), {"python", "python3"})[1])


def test_the_file_that_setuptools_runs_at_each_start_is_left_out(make, wheels, plugin, run):
    wheels.add("setuptools", "90.0", files={"setuptools.py": "", "distutils-precedence.pth": "import setuptools"})
    environment = make(plugin("setuptools==90.0\n"))
    assert run(environment, "import sys; print('setuptools' in sys.modules); import setuptools") == "False"
    (site,) = environment.folder.glob("lib/python*/site-packages")
    assert [path.name for path in site.glob("*.pth")] == ["_brainscore_base.pth"]


@pytest.mark.parametrize("path", ["tiny/sitecustomize.py", "tiny/a.pth", "tiny-1.0.data/data/share/man/tiny.1"])
def test_what_a_wheel_may_contain(wheels, path):
    assert examine_wheel(wheels.add("tiny", files={path: ""}), {"python"})[1] == ""


@pytest.mark.parametrize("name", ["python", "../../../tiny", "/tmp/tiny"])
def test_scripts_of_a_wheel_stay_in_their_folder(wheels, name):
    files = {"tiny-1.0.dist-info/entry_points.txt": f"[console_scripts]\n{name} = tiny:main\n"}
    assert re.search("replace files|write outside", examine_wheel(wheels.add("tiny", files=files), {"python"})[1])


def test_a_package_that_a_wheel_names_by_address_is_not_built(make, wheels, plugin, tmp_path):
    (tmp_path / "backend.py").write_text(f"open({str(tmp_path / 'built')!r}, 'w')")
    settings = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    (tmp_path / "pyproject.toml").write_text(settings)
    with tarfile.open(tmp_path / "raw-1.0.tar.gz", "w:gz") as archive:
        for name in ("backend.py", "pyproject.toml"):
            archive.add(tmp_path / name, f"raw-1.0/{name}")
    wheels.add("tiny", requires=[f"raw @ file://{tmp_path}/raw-1.0.tar.gz"])
    with pytest.raises(RequirementsError):
        make(plugin("tiny\n"))
    assert not (tmp_path / "built").exists()
    wheels.add("private", folder=tmp_path)
    wheels.add("tiny", requires=[f"private @ file://{tmp_path}/private-1.0-py3-none-any.whl"])
    with pytest.raises(RequirementsError, match="from an address that only another package names"):
        make(plugin("tiny\n"))


def test_limits_of_size_and_time(make, wheels, plugin, monkeypatch):
    with zipfile.ZipFile(wheels.add("tiny"), "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("tiny/zeros", bytes(110 << 20))
    assert "unpack to 115.3 MB from 113.1 kB" in examine_wheel(wheels.folder / "tiny-1.0-py3-none-any.whl", ())[1]
    for limit, problem in (("_MAX_BYTES", "load more than 0 bytes"), ("_MAX_SECONDS", "take more than 0 minutes")):
        with monkeypatch.context() as patch:
            patch.setattr(module_of_wheels, limit, 0)
            with pytest.raises(RequirementsError, match=problem):
                make(plugin("tiny\n"))


def test_variables_of_the_worker_are_not_passed_on(monkeypatch):
    for name in ("DATABASE_URL", "AWS_SECRET_ACCESS_KEY", "PYTHONPATH", "PIP_TARGET", "https_proxy", "PIP_INDEX_URL"):
        monkeypatch.setenv(name, "value")
    passed = {name for name, value in minimal_variables().items() if value == "value"}
    assert passed == {"https_proxy", "PIP_INDEX_URL"}
