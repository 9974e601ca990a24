"""Pages of the documentation: their links, the commands on them, and their search."""

import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import click
import pytest

from brainscore.cli import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in DOCS.rglob("*.md"))
LINK = re.compile(r"\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^( *)```([\w-]*)[^\n]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
PAGE_IN_TEXT = re.compile(r"(?<![\w./-])docs/([\w/]+\.\w+)(#[\w-]+)?")
PAGE_OF_SITE = re.compile(r"""/tutorials/([\w/]+)/(#[\w-]+)?|'pages:tutorial' '([\w/]+)' %\}(#[\w-]+)?""")


def _without_code(text):
    return BLOCK.sub("", text)


@cache
def _anchors(page):
    """Anchors of headings, as MkDocs and GitHub make them of ours."""
    headings = re.findall(r"^#+ (.*)$", _without_code(page.read_text(encoding="utf-8")), re.MULTILINE)
    names = [re.sub(r"[^\w -]", "", re.sub(r"\]\([^)]*\)", "", heading)).strip().lower() for heading in headings]
    return {re.sub(r"[ -]+", "-", name) for name in names}


def _leads_somewhere(path, anchor):
    return path.exists() and (not anchor or anchor.lstrip("#") in _anchors(path))


def _tracked(*suffixes):
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True, check=False).stdout
    if not listed:
        pytest.skip("needs a checkout")
    return [name for name in listed.split("\n") if name.endswith(suffixes) and (ROOT / name).is_file()]


@pytest.mark.parametrize("page", [*PAGES, "README.md", "CONTRIBUTING.md"])
def test_links_of_pages_lead_somewhere(page):
    """Those of pages are checked by MkDocs, too, where it is installed."""
    lost = []
    for target in LINK.findall(_without_code((ROOT / page).read_text(encoding="utf-8"))):
        if "://" in target or target.startswith(("/", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        found = ((ROOT / page).parent / path).resolve() if path else ROOT / page
        if not _leads_somewhere(found, anchor if found.suffix == ".md" else ""):
            lost.append(target)
    assert lost == []


def test_pages_that_code_names_exist():
    lost = []
    suffixes = (".py", ".html", ".toml", ".yml", ".service", ".timer", ".env")
    for name in _tracked(*suffixes, "Makefile", "README.md", "CHANGELOG.md"):
        if name.startswith("tests/"):
            continue
        text = (ROOT / name).read_text(encoding="utf-8")
        lost += [(name, match[0]) for match in PAGE_IN_TEXT.finditer(text) if not (DOCS / match[1]).exists()]
    assert lost == []


def test_pages_to_which_the_site_links_exist():
    lost, found = [], 0
    for name in _tracked(".py", ".html", ".md"):
        if not name.startswith("brainscore_web/"):
            continue
        for match in PAGE_OF_SITE.finditer((ROOT / name).read_text(encoding="utf-8")):
            page, anchor = match[1] or match[3], match[2] or match[4]
            found += 1
            if page != "files" and not _leads_somewhere(DOCS / f"{page}.md", anchor):
                lost.append((name, match[0]))
    assert found > 20
    assert lost == []


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_one_title_and_then_says_what_it_is_for(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert len(re.findall(r"^# ", _without_code(text), re.MULTILINE)) == 1
    first = text.split("\n\n")[1]
    assert re.match(r"[\w*`\[“](?!``)", first), f"{page} begins with {first[:40]!r} instead of a sentence"
    assert re.search(r"[.:?](\s|\Z)", first), page


def _commands(page):
    """Yield lines of shell blocks that run `brainscore` or `python -m brainscore_web`, without their explanations."""
    for indent, language, body in BLOCK.findall((ROOT / page).read_text(encoding="utf-8")):
        if language not in ("", "bash", "shell", "sh", "console"):
            continue
        joined = re.sub(r"\\\n\s*", "", body)
        for line in joined.splitlines():
            line = line.removeprefix(indent).removeprefix("$ ").strip()
            line = re.sub(
                r"^(\w+=\S+ |set -a; |runuser -u \w+ (--preserve-environment )?-- |/opt/brainscore/bin/)+", "", line
            )
            if re.match(r"(brainscore|python -m brainscore_web) [\w-]", line) and "…" not in line:
                yield re.split(r"\s{2,}|\s#\s|\s[|>]\s|;", line)[0]


OF_SITE = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "brainscore_web/pages/content").rglob("*.md"))
COMMANDS = [(page, line) for page in (*PAGES, *OF_SITE, "README.md", "CONTRIBUTING.md") for line in _commands(page)]


def test_commands_are_found():
    assert len(COMMANDS) > 150


@pytest.mark.parametrize("page", sorted({page for page, _ in COMMANDS}))
def test_commands_on_pages_are_understood(page):
    """Each has a subcommand that exists, options that it knows, and the arguments that it needs."""
    wrong = [message for _, line in filter(lambda item: item[0] == page, COMMANDS) if (message := _misunderstood(line))]
    assert wrong == []


def _misunderstood(line):
    program, *arguments = shlex.split(line)
    if program == "python":
        management = pytest.importorskip("django.core.management")
        return "" if arguments[2] in _commands_of_the_site(management) else line
    context, command = click.Context(app), app
    try:
        while isinstance(command, click.Group) and arguments and not arguments[0].startswith("-"):
            name, *arguments = arguments
            command = command.get_command(context, name)
            if command is None:
                return f"{line}: no command {name}"
        if not isinstance(command, click.Group):
            parser = command.make_parser(click.Context(command, resilient_parsing=True))
            values, _, _ = parser.parse_args(list(arguments))
            required = [p.name for p in command.params if isinstance(p, click.Argument) and p.required]
            if not all(isinstance(values.get(name), str | tuple) and values[name] for name in required):
                return f"{line}: an argument is missing"
    except click.UsageError as error:
        return f"{line}: {error.format_message()}"
    return ""


def test_targets_of_make_on_pages_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {
        (page, target)
        for page in (*PAGES, "README.md", "CONTRIBUTING.md")
        for target in re.findall(r"(?:`|^)make ([a-z-]+)", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert ("README.md", "demo") in named
    assert sorted((page, target) for page, target in named if target not in targets) == []


def test_the_code_of_the_readme_is_that_of_the_first_page():
    """The code of pages is run, see ``docs/conftest.py``; the README is not among them."""
    code = [
        {body for _, language, body in BLOCK.findall(path.read_text(encoding="utf-8")) if language == "python"}
        for path in (ROOT / "README.md", DOCS / "index.md")
    ]
    assert code[0]
    assert code[0] <= code[1]


@pytest.mark.parametrize("page", PAGES)
def test_code_that_is_not_run_has_a_reason(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    without = r"<!--+ *(skip: (?:next|start)|slow:) *-+>"
    assert re.findall(without, text) == []


@cache
def _commands_of_the_site(management):
    import os

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brainscore_web.settings")
    return frozenset(management.get_commands())


@pytest.mark.parametrize("line", ["brainscore score a", "brainscore scores a b", "brainscore score a b --nothing 1"])
def test_wrong_commands_are_noticed(line):
    assert _misunderstood(line)


@pytest.mark.slow(reason="builds pages with MkDocs and opens them in a browser")
def test_search_works_in_pages_that_are_opened_from_a_disk(tmp_path, browser):
    """With the theme, the plugins and the script of the documentation, on two small pages."""
    pytest.importorskip("material")
    docs = tmp_path / "docs"
    (docs / "javascripts").mkdir(parents=True)
    script = "javascripts/iframe-worker.js"
    (docs / script).write_text((DOCS / script).read_text(encoding="utf-8"), encoding="utf-8")
    (docs / "index.md").write_text("# Start\n\nNothing.\n")
    (docs / "noise.md").write_text("# Noise\n\nThe ceiling of a benchmark.\n")
    (tmp_path / "mkdocs.yml").write_text(
        "site_name: Pages\ntheme: {name: material, font: false}\nplugins: [search, offline]\n"
        f"extra: {{polyfills: [{script}]}}\n"
    )
    assert script in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"], cwd=tmp_path, check=True)
    page = browser.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "site" / "index.html").as_uri())
    page.click("input.md-search__input")
    page.keyboard.type("ceiling")
    page.wait_for_selector(".md-search-result__link[href*='noise.html']")
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    page.close()
