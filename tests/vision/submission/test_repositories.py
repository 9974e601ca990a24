"""Submissions from Git: real repositories in folders."""

import socket

import pytest

from brainscore_core.errors import UserError
from brainscore_core.submission import Limits, errors_among, is_pull, read_git, read_pull
from brainscore_core.submission import repositories as addresses


def paths(package):
    return [plugin.path for plugin in package.plugins]


@pytest.mark.slow(reason="makes several Git repositories")
def test_commits_branches_and_tags(repository, model):
    first = repository.commit({f"lab/{path}": text for path, text in model.items()})
    repository.git("tag", "--annotate", "v1", "--message", "first")
    second = repository.commit({"lab/models/mine/test.py": "def test_more(): pass\n"})
    repository.git("checkout", "--quiet", "-b", "feature/x", first)
    third = repository.commit({"lab/models/other/__init__.py": model["models/mine/__init__.py"].replace("mine", "o")})
    asked = {first: first, first[:9]: first, "v1": first, "main": second, "feature/x": third, "": third}
    for name, commit in asked.items():
        package = read_git(repository.url, name)
        assert (package.commit, package.address) == (commit, repository.url)
        assert list(package.files)[:2] == ["models/mine/__init__.py", "models/mine/test.py"]
    assert read_git(repository.url, second).files["models/mine/test.py"] == b"def test_more(): pass\n"
    assert paths(read_git(repository.url, third)) == ["models/mine", "models/other"]


def test_an_earlier_commit_by_its_first_digits(repository, model):
    first = repository.commit(model)
    repository.commit({"models/mine/test.py": "x = 1\n"})
    package = read_git(repository.url, first[:8])
    assert package.commit == first
    assert package.files["models/mine/test.py"] == model["models/mine/test.py"].encode()


@pytest.mark.parametrize("commit", ["absent", "0123456", "0" * 40])
def test_commits_that_are_not_there(repository, model, commit):
    repository.commit(model)
    with pytest.raises(UserError, match=r"has no"):
        read_git(repository.url, commit)


@pytest.mark.parametrize("commit", ["--upload-pack=touch x", "a b", "main..other", "-x", "main^{/x}"])
def test_what_is_no_commit(repository, commit):
    with pytest.raises(UserError, match="is not a commit"):
        read_git(repository.url, commit)


def test_nothing_of_a_repository_is_run_or_followed(repository, model, tmp_path):
    repository.commit(model)
    inner = repository.git("rev-parse", "HEAD")
    (repository.folder / "models/mine/link.py").symlink_to("/etc/passwd")
    (repository.folder / ".gitattributes").write_text("*.py filter=evil\n")
    (repository.folder / ".gitmodules").write_text(
        f'[submodule "sub"]\n\tpath = models/mine/sub\n\turl = {repository.url}\n'
    )
    repository.git("add", "--all")
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{inner},models/mine/sub")
    repository.git("commit", "--quiet", "--message", "links")
    hook = repository.folder / ".git/hooks/post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hooked\n")
    hook.chmod(0o755)
    package = read_git(repository.url, "main")
    assert sorted(package.files) == sorted(model)
    assert {one.file for one in errors_among(package.findings)} == {"models/mine/link.py", "models/mine/sub"}
    assert not (tmp_path / "hooked").exists()


def test_limits(repository, model):
    repository.commit({**model, "models/mine/big.csv": "1234567890" * 1000, "models/mine/weights.pth": "x"})
    package = read_git(repository.url, "main", limits=Limits(file=5000))
    assert {one.check for one in package.findings} == {"size", "data in code"}
    with pytest.raises(UserError, match="could not be fetched within 0 s"):
        read_git(repository.url, "main", limits=Limits(seconds=0))
    with pytest.raises(UserError, match="larger than 0 MB"):
        read_git(repository.url, "main", limits=Limits(repository=10))
    repository.commit({path.replace("mine", "other"): text for path, text in model.items()})
    with pytest.raises(UserError, match="2 plugins; 1 are allowed"):
        read_git(repository.url, "main", limits=Limits(plugins=1))


def test_addresses(repository, monkeypatch):
    with pytest.raises(UserError, match="there is no repository"):
        read_git(f"{repository.url}-absent", "main")
    with pytest.raises(UserError, match="is empty"):
        read_git(repository.url, "")
    monkeypatch.delenv("BRAINSCORE_GIT_LOCAL")
    for url, said in {
        repository.url: "https://",
        "http://github.com/a/b": "https://",
        "git@github.com:a/b.git": "https://",
        "ext::sh -c touch x": "not the address",
        "https://user:secret@github.com/a/b": "contains a user name",
        "https://github.com/a/b/tree/main": "a page of a repository",
        "https://github.com/a/b?x=1": "does not name a repository",
        "https://127.0.0.1/a/b": "private network",
        "https://[::1]/a/b": "private network",
        "https://[::ffff:10.0.0.1]/a/b": "private network",
        "https://169.254.169.254/latest": "private network",
        "https://192.168.1.1/a": "private network",
        "https://localhost/a": "private network",
        "https://absent.invalid/a": "no host",
        "--upload-pack=x": "does not begin with https",
    }.items():
        with pytest.raises(UserError, match=said) as caught:
            read_git(url, "main")
        assert "secret" not in str(caught.value)


def test_one_private_address_among_several_is_enough(monkeypatch):
    def looked(*_, **__):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, 443)) for one in ("93.184.215.14", "10.1.2.3")]

    monkeypatch.setattr(addresses.socket, "getaddrinfo", looked)
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UserError, match="private network"):
        addresses.resolve_host(addresses.parse_address("https://example.org/a"))


def test_pull_requests(repository, model, benchmark):
    old = {path.replace("mine", "old"): text.replace('"mine"', '"old"') for path, text in model.items()}
    repository.commit({f"brainscore_vision/{path}": text for path, text in {**old, **model}.items()})
    repository.git("checkout", "--quiet", "-b", "theirs")
    repository.commit({f"brainscore_vision/{path}": text for path, text in benchmark.items()})
    head = repository.commit({"brainscore_vision/models/mine/model.py": "x = 1\n", "README.md": "more"})
    repository.git("update-ref", "refs/pull/7/head", head)
    repository.git("checkout", "--quiet", "main")
    repository.commit({"brainscore_vision/models/old/test.py": "changed = meanwhile\n"})
    package = read_pull(f"{repository.url}/pull/7")
    assert paths(package) == ["benchmarks/mine2026", "data/mine2026", "models/mine"]
    assert sorted(package.files) == sorted({**model, **benchmark, "models/mine/model.py": ""})
    assert (package.commit, package.address) == (head, f"{repository.url}/pull/7")
    assert package.findings == ()
    with pytest.raises(UserError, match="has no pull request 8"):
        read_pull(f"{repository.url}/pull/8")
    repository.git("checkout", "--quiet", "-b", "text")
    repository.git("update-ref", "refs/pull/9/head", repository.commit({"README.md": "other"}))
    repository.git("checkout", "--quiet", "main")
    with pytest.raises(UserError, match="changes no plugin"):
        read_pull(f"{repository.url}/pull/9")


def test_what_is_a_pull_request(monkeypatch):
    assert is_pull("https://github.com/brain-score/vision/pull/123")
    assert is_pull("https://github.com/brain-score/vision/pull/123/files ")
    for url in ("https://github.com/brain-score/vision", "https://example.org/a/b/pull/1", "file:///a/pull/1"):
        monkeypatch.delenv("BRAINSCORE_GIT_LOCAL", raising=False)
        assert not is_pull(url)
        with pytest.raises(UserError, match="not the address of a pull request"):
            read_pull(url)
