"""Steps of the build of the documentation that MkDocs calls."""

import json
import os
import re
from pathlib import Path

from mkdocs.structure.files import File

PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Moved</title><meta http-equiv="refresh" content="0; url={0}"></head>
<body><p>This page <a href="{0}">has moved</a>.</p></body>
</html>
"""


def on_page_content(html, **_):
    """Leave out what docstrings tell editors about names: roles such as ``:func:``, and the path after ``~``."""
    html = re.sub(r":(?:attr|class|data|exc|func|meth|mod):(?=<code>|<a )", "", html)
    return re.sub(r"<code>~(?:\w+\.)*(\w+)</code>", r"<code>\1</code>", html)


def on_files(files, config):
    """Add the colours, the typeface and the marks of site and report."""
    for path in sorted((Path(config.config_file_path).parent / "brainscore_core" / "identity").iterdir()):
        files.append(File.generated(config, f"identity/{path.name}", abs_src_path=str(path)))
    return files


def on_post_build(config):
    """Write a page that leads to the present one at each earlier address, with and without ``.html``."""
    moved = json.loads((Path(config.docs_dir) / "moved.json").read_text(encoding="utf-8"))
    site = Path(config.site_dir)
    for earlier, present in moved.items():
        target = site / f"{present}.html"
        if not target.is_file():
            raise SystemExit(f"docs/moved.json names {present}, which is not a page: correct it")
        for path in (site / f"{earlier}.html", site / earlier / "index.html"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(PAGE.format(Path(os.path.relpath(target, path.parent)).as_posix()), encoding="utf-8")
