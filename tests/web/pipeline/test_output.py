"""What submitters read of the output of their tests: no paths of the server, and their own lines."""

from pathlib import Path

from brainscore_web.submissions.steps import OutputLines, PathFilter, failed_lines

LIVE, UNPACKED = Path("/srv/site/plugins/live/1f"), Path("/srv/site/plugins/revisions/3f2a")


def test_paths_of_the_server_are_replaced():
    hide = PathFilter([LIVE, UNPACKED], [Path("/srv/site")])
    for text, shown in (
        (f"{LIVE}/models/mine/test.py:3: in x", "models/mine/test.py:3: in x"),
        (f"../../..{UNPACKED}/models/mine/test.py FF", "models/mine/test.py FF"),
        ("../site/plugins/live/1f/models/mine/test.py FF", "models/mine/test.py FF"),
        ("../../revisions/3f2a/models/mine/test.py:3: in x", "models/mine/test.py:3: in x"),
        (f"no file '{LIVE}/models/mine/a b.csv'", "no file 'models/mine/a b.csv'"),
        ("open('/srv/site/files/12/w.pth')", "open('…/w.pth')"),
        ("/opt/env/lib/python3.12/site-packages/torch/nn.py:9: in f", "torch/nn.py:9: in f"),
        ("/usr/lib/python3.11/json/decoder.py:9: in f", "json/decoder.py:9: in f"),
        (f"{Path(__file__).parents[3]}/brainscore_vision/scoring/pairs.py:1", "brainscore_vision/scoring/pairs.py:1"),
        ("see https://example.org/srv/site/a and 3/4", "see https://example.org/srv/site/a and 3/4"),
    ):
        assert hide(text) == shown


def test_a_path_may_arrive_in_parts():
    """Output is read in pieces of any length."""
    text = f"one\n{LIVE}/models/mine/test.py:3: in x\nwithout an end {LIVE}/models"
    for size in (1, 7, 1000):
        passed: list[str] = []
        with OutputLines(passed.append, PathFilter([LIVE])) as output:
            for start in range(0, len(text), size):
                output.add(text[start : start + size])
        assert "".join(passed) == "one\nmodels/mine/test.py:3: in x\nwithout an end models"


def test_lines_of_other_packages_are_left_out():
    found = failed_lines("torch/nn.py:3: in f\n    return 1 / 0\nE   ZeroDivisionError: division by zero")
    assert found == ("", None, "… 1 call in other packages …\nE   ZeroDivisionError: division by zero")
    assert failed_lines("") == ("", None, "")
    assert len(failed_lines("models/a/test.py:3: in f\n" + "E  x\n" * 10_000)[2]) < 5000
