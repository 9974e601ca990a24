import re

import pytest

from brainscore_core.plugins.environments import RequirementsError, environment_of, plugin_requirements
from brainscore_core.plugins.environments.base import Installed, base_of
from brainscore_core.plugins.environments.requirements import what_is_wanted


@pytest.fixture(scope="module")
def interpreter():
    return base_of()


@pytest.fixture
def read(interpreter, plugin, tmp_path):
    def wanted(text, installed=None):
        return what_is_wanted([plugin(text)], plugin="mine", base=interpreter, installed=installed or {})

    return wanted


@pytest.fixture
def refused(read):
    def error(text):
        with pytest.raises(RequirementsError) as raised:
            read(text)
        return raised.value

    return error


def texts(wanted):
    return [item.text for item in wanted.items]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("torch\n\n# a comment\n  timm >= 1.0 # why\n", ["torch", "timm>=1.0"]),
        ("numpy>=1,\\\n  <3\n", ["numpy<3,>=1"]),
        ("Pillow\r\npillow\r\n", ["pillow"]),
        ("\ufeffscikit_learn\n", ["scikit-learn"]),
        ("foo[B,a]==1 ; python_version >= '3'\n", ["foo[a,b]==1"]),
        ("gone ; python_version < '3'\nwin ; sys_platform == 'beos'\n", []),
        ("foo # bar\n#-e .\n", ["foo"]),
        ("foo @ https://host/foo-1.0-py3-none-any.whl\n", ["foo @ https://host/foo-1.0-py3-none-any.whl"]),
        ("https://host/foo-1.0-py3-none-any.whl\n", ["foo @ https://host/foo-1.0-py3-none-any.whl"]),
    ],
)
def test_lines_are_read_as_pip_reads_them(read, text, expected):
    assert texts(read(text)) == expected


@pytest.mark.parametrize(
    "line",
    [
        "brainscore",
        "brainscore_vision",
        "Brain.Score_Vision[test] >= 2.0 ; python_version > '3'",
        "brainscore-core @ git+https://github.com/brain-score/core",
        "git+https://github.com/brain-score/vision.git@main#egg=brainscore-vision",
        "git+https://github.com/brain-score/vision",
        "vision @ git+ssh://git@github.com/brain-score/vision.git",
        "git+git://github.com/brain-score/brain-score@c9e8c1e#egg=brain-score",
        "brain-score==1.0",
        "brainio",
    ],
)
def test_the_platform_itself_is_the_one_that_runs(read, line, tmp_path):
    wanted = read(f"{line}\nfoo\n", installed={"brainscore": Installed("brainscore", "0.1.0", tmp_path)})
    assert texts(wanted) == ["foo"]
    assert len(wanted.notes) == 1
    assert "requirements.txt:1:" in wanted.notes[0]
    assert wanted.notes[0].endswith("is the running platform, brainscore 0.1.0")


@pytest.mark.parametrize("line", ["brainscore-tools", "mine-brainscore", "vision", "brainio-base"])
def test_names_that_only_look_like_the_platform_are_installed(read, line):
    assert texts(read(line)) == [line]


def test_a_fork_is_not_the_platform(refused):
    assert "wheels only" in str(refused("brainscore_other @ git+https://github.com/somebody/vision\n"))


@pytest.mark.parametrize("name", ["collections", "pathlib", "importlib", "statistics", "imp"])
def test_modules_of_python_are_there(read, name):
    wanted = read(f"{name}\n")
    assert not wanted.items
    assert "Python's standard library" in wanted.notes[0]


def test_files_include_others(read, plugin):
    plugin("tiny\n-r ../requirements.txt\n", "more/deeper.txt")
    plugin("tiny<2\n", "limits.txt")
    wanted = read("foo\n-r more/deeper.txt\n--constraint=limits.txt\n")
    assert texts(wanted) == ["foo", "tiny"]  # the file that includes itself is read once
    assert [item.text for item in wanted.constraints] == ["tiny<2"]
    line = wanted.items[1].line
    assert (line.file.name, line.number) == ("deeper.txt", 1)


def test_places_to_look_are_kept(read):
    wanted = read("foo\n--extra-index-url https://host/simple\n-f https://host/wheels\n--pre\n--only-binary :all:\n")
    expected = [
        ("--extra-index-url", "https://host/simple"),
        ("--find-links", "https://host/wheels"),
        ("--pre", ""),
    ]
    assert [(line.option, line.text) for line in wanted.options] == expected
    assert wanted.document() != read("foo\n").document()


def test_the_order_of_lines_does_not_count(read):
    assert read("b\nA>=1,<2\n").document() == read("a<2,>=1 # comment\n\nB\n").document()
    assert read("a\n").document() != read("a==1\n").document()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("-e .", "the plugin itself need not be installed"),
        ("--editable=git+https://host/foo", "wheels only"),
        ("cornet @ git+https://github.com/dicarlolab/CORnet.git", "wheels only"),
        ("hg+https://host/foo#egg=foo", "wheels only"),
        ("foo @ https://host/foo-1.0.tar.gz", "wheels only: this is not a wheel"),
        ("./foo", "it is a path"),
        ("--no-binary :all:", "wheels only"),
        ("--trusted-host host", "plugins cannot declare trusted hosts"),
        ("--index-url file:///elsewhere", "it is not on the network"),
        ("--use-feature=truststore", "not a supported option of requirement files"),
        ("-r https://host/requirements.txt", "a file on the network may change"),
        ("-r ../../../secret.txt", "it is outside of the plugin's folder"),
        ("-r missing.txt", "the file does not exist"),
        ("-f wheels", "it is not on the network"),
        ("./foo-1.0-py3-none-any.whl", "it is a path"),
        ("foo @ file:///etc/foo-1.0-py3-none-any.whl", "are not supported"),
        ("foo @ ftp://host/foo-1.0-py3-none-any.whl", "are not supported"),
        ("--extra-index-url https://host/${TOKEN}/simple", "environment variables are not expanded"),
        ("torch torchvision", "this is not a valid requirement"),
        ("foo ; python_version ~= 'x'", "its marker cannot be read: Undefined"),
        ("foo --global-option=x", "--global-option has no effect on wheels"),
    ],
)
def test_what_is_refused_is_named_with_its_line(refused, line, why):
    error = refused(f"numpy\n\n{line}\n")
    assert why in error.message
    assert "requirements.txt:3: " in error.message
    assert error.remedy
    assert "mine" in error.message


def test_all_refused_lines_are_named_at_once(refused):
    error = refused("foo @ git+https://host/foo\nbar\n-e .\n")
    assert re.findall(r"requirements.txt:(\d+): ", str(error)) == ["1", "3"]


def test_passwords_are_not_shown(refused):
    error = refused("foo @ git+https://me:secret@host/foo\n--index-url ftp://me:secret@host\n")
    assert "secret" not in str(error)
    assert "host" in str(error)


def test_other_files_are_not_quoted(refused, tmp_path, plugin):
    (tmp_path / "secret.txt").write_text("top secret")
    plugin("").with_name("link.txt").symlink_to(tmp_path / "secret.txt")
    assert "top" not in str(refused("-r link.txt\n"))


def test_what_the_interpreter_has_from_the_same_repository_is_met(read, refused, tmp_path):
    commit = "1234567890abcdef1234567890abcdef12345678"
    (tmp_path / "direct_url.json").write_text(
        f'{{"url": "https://github.com/lab/Net.git", "vcs_info": {{"vcs": "git", "commit_id": "{commit}"}}}}'
    )
    installed = {"net": Installed("net", "0.1", tmp_path)}
    for address in ("https://github.com/lab/net", "ssh://git@github.com/lab/net.git@12345678"):
        wanted = read(f"net @ git+{address}\n", installed=installed)
        assert not wanted.items
        assert wanted.met == {"net"}
    for address in ("https://github.com/other/net", "https://github.com/lab/net@v2"):
        with pytest.raises(RequirementsError, match="wheels only"):
            read(f"net @ git+{address}\n", installed=installed)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(RequirementsError, match="mine cannot be read"):
        environment_of([tmp_path / "none.txt"], plugin="mine")


def test_requirements_of_a_plugin(tmp_path, plugin):
    assert plugin_requirements(None) == ()
    assert plugin_requirements(tmp_path) == ()
    path = plugin("")
    assert plugin_requirements(path.parent) == (path,)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"numpy{' ' * 180_000}x\n", "more than 100,000 bytes"),
        ("numpy\n" * 2_002, "2,000 lines"),
        (f"numpy{' ' * 90_000}x\n", "at most 2,000 characters"),
        ("numpy \\\n" * 400, "at most 2,000 characters"),
    ],
)
def test_files_and_lines_are_limited_before_they_are_parsed(refused, text, why):
    error = str(refused(text))
    assert why in error
    assert len(error) < 1_000
