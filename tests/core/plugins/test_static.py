"""Which registrations are read from source, and which are not."""

import textwrap
import time

import pytest

from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_core.plugins.source import scan_file
from brainscore_core.plugins.tables import table_keys, table_row

REGISTRIES = ("model_registry", "data_registry")


@pytest.fixture
def scan(tmp_path):
    def run(source, **others):
        for name, text in others.items():
            (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
        file = tmp_path / "__init__.py"
        file.write_bytes(source if isinstance(source, bytes) else textwrap.dedent(source).encode())
        return scan_file(file, REGISTRIES)

    return run


def keys(scan):
    assert scan.error is None
    return [registration.key for registration in scan.registrations]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("model_registry['a'] = f", ["a"]),
        ("model_registry['a']: object = f", ["a"]),
        ("model_registry['a'] = model_registry['b'] = f", ["a", "b"]),
        ("import v\nv.model_registry['a'] = f", ["a"]),
        ("import a.b as v\nv.x.model_registry['a'] = f", ["a"]),
        ("from v import model_registry as registry\nregistry['a'] = f", ["a"]),
        ("import v\nmodels = v.model_registry\nmodels['a'] = f", ["a"]),
        ("if True:\n  model_registry['a'] = f\nelse:\n  model_registry['b'] = g", ["a", "b"]),
        ("try:\n  model_registry['a'] = f\nexcept E:\n  model_registry['b'] = f\nfinally:\n  pass", ["a", "b"]),
        ("with open(x) as y:\n  model_registry['a'] = f", ["a"]),
        ("match x:\n  case 1:\n    model_registry['a'] = f", ["a"]),
        ("def register():\n  model_registry['a'] = f\nregister()", ["a"]),
        ("for x in unknown():\n  model_registry['a'] = f", ["a"]),
        ("model_registry.update({'a': f, 'b': g}, c=h)", ["a", "b", "c"]),
        ("model_registry['b'] = model_registry['a']", ["b"]),
        ("if 'x' not in model_registry:\n  model_registry['x'] = f", ["x"]),
        ("model_registry['é ü/π'] = f", ["é ü/π"]),
        ("model_registry['''multi'''] = f", ["multi"]),
        ("model_registry['a' 'b'] = f", ["ab"]),
        ("model_registry['x' + '-y'] = f", ["x-y"]),
        ("NAME = 'a'\nmodel_registry[NAME] = f", ["a"]),
        ("NAME = 'a'\nmodel_registry[f'{NAME}-1'] = f", ["a-1"]),
        ("for x in ['a', 'b']:\n  model_registry[x] = f", ["a", "b"]),
        ("for x in ('a', 'b'):\n  model_registry[f'{x}-pls'] = f", ["a-pls", "b-pls"]),
        ("for x in ['a']:\n  key = f'm-{x}'\n  model_registry[key] = f", ["m-a"]),
        ("for i in range(2):\n  model_registry[f'm{i}'] = f", ["m0", "m1"]),
        ("for i, x in enumerate(['a', 'b']):\n  model_registry[f'{x}{i}'] = f", ["a0", "b1"]),
        ("M = {'a': 1, 'b': 2}\nfor k, v in M.items():\n  model_registry[f'{k}-{v}'] = f", ["a-1", "b-2"]),
        ("M = {'a': 1}\nfor k in M:\n  model_registry[k] = f", ["a"]),
        ("for a in ['x', 'y']:\n  for b in [1, 2]:\n    model_registry[f'{a}{b}'] = f", ["x1", "x2", "y1", "y2"]),
        ("for k, v in [('a', 'b')]:\n  model_registry[k + v] = f", ["ab"]),
    ],
)
def test_keys_that_the_source_shows(scan, source, expected):
    found = scan(source)
    assert keys(found) == expected
    assert found.dynamic == ()


@pytest.mark.parametrize(
    "source",
    [
        "# model_registry['a'] = f",
        "'''model_registry['a'] = f'''",
        "text = \"model_registry['a'] = f\"",
        "print('model_registry', model_registry['a'])",
        "x = lambda: model_registry['a']()",
        "known = 'a' in model_registry",
        "model_registry = {}\nmodel_registry['a'] = f",
        "other_registry['a'] = f",
        "x = model_registry.get('a')",
        "from v import model_registry",
        "",
    ],
)
def test_what_is_no_registration(scan, source):
    found = scan(source)
    assert keys(found) == []
    assert found.dynamic == ()


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("model_registry[name()] = f", 1),
        ("from .sub import NAMES\nfor x in NAMES:\n  model_registry[x] = f", 3),
        ("register_all(model_registry)", 1),
        ("setattr(model_registry, 'x', f)", 1),
        ("model_registry.setdefault('a', f)", 1),
        ("model_registry.update(many())", 1),
        ("model_registry.update(**many())", 1),
        ("model_registry.update({**many()})", 1),
        ("model_registry |= {'a': f}", 1),
        ("del model_registry['a']", 1),
        ("for x in names():\n  model_registry[f'{x}-a'] = f", 2),
        ("for x in ['a', 'b']:\n  if x == 'a':\n    continue\n  model_registry[x] = f", 4),
        ("for x in ['a', 'b']:\n  if x == 'a':\n    model_registry[x] = f", 3),
        ("N = ['a']\nN.append(more())\nfor x in N:\n  model_registry[x] = f", 4),
        ("N = 'a'\nN = other()\nmodel_registry[N] = f", 3),
        ("for x in ['a']:\n  x += 'b'\n  model_registry[x] = f", 3),
        ("for x in ['a']:\n  pass\nmodel_registry[x] = f", 3),
        ("def register(name='a'):\n  model_registry[name] = f", 2),
        ("if c:\n  N = 'a'\nelse:\n  N = 'b'\nmodel_registry[N] = f", 5),
        ("for x in ['a']:\n  model_registry[f'{x!r}'] = f", 2),
        ("model_registry[3] = f", 1),
        ("for i in range(10**9):\n  model_registry[f'{i}'] = f", 2),
    ],
)
def test_keys_that_only_running_the_file_tells(scan, source, line):
    found = scan(source)
    assert keys(found) == []
    assert found.dynamic == (("model_registry", line),)


def test_constants_of_a_file_next_to_it(scan, tmp_path):
    source = "from .benchmark import DATASETS as D\nfor d in D:\n  data_registry[f'G{d}'] = f"
    found = scan(source, benchmark="import torch_is_not_there\nDATASETS = ['x', 'y']")
    assert keys(found) == ["Gx", "Gy"]
    assert found.depends == (str(tmp_path / "benchmark.py"),)
    changed = scan(source, benchmark="DATASETS = ['x']\nDATASETS += find()")
    assert keys(changed) == []
    assert changed.dynamic


def test_line_of_a_registration(scan):
    (found,) = scan("\n\nmodel_registry['a'] = (\n  lambda:\n  1)").registrations
    assert found == ("model_registry", "a", 3)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\nmodel_registry['a'] = = f", ":2: invalid syntax"),
        (b"model_registry['a'] = '\xff'", ":1: "),
        (b"model_registry['a'] = 1\0", ":1: "),
        ("model_registry['a'] = " + "(" * 3000, ":1: "),
        (f"model_registry['a'] = {'-' * 100_000}1", ":1: "),
    ],
)
def test_a_file_that_does_not_parse_says_where(scan, tmp_path, source, message):
    found = scan(source)
    assert found.registrations == ()
    assert found.error.startswith(f"{tmp_path / '__init__.py'}{message}")


def test_a_file_that_cannot_be_read(tmp_path):
    assert "No such file" in scan_file(tmp_path / "none.py", REGISTRIES).error


def test_encodings(scan):
    assert keys(scan("# coding: latin-1\nmodel_registry['ä'] = f".encode("latin-1"))) == ["ä"]
    assert keys(scan(b"\xef\xbb\xbfmodel_registry['a'] = f")) == ["a"]


def test_an_invalid_escape_in_a_plugin_is_no_warning_of_ours(scan, recwarn):
    assert keys(scan(r"model_registry['a'] = '\d'")) == ["a"]
    assert not recwarn.list


@pytest.mark.parametrize(
    "source",
    [
        # small files that would fill the memory, or keep their reader busy for hours
        "from a import model_registry\nx = 'a'\ny = 'a' + x\n" + "y = y + y\n" * 60 + "model_registry[y] = print\n",
        "from a import model_registry\nfor a in range(5000):\n for b in range(5000):\n  model_registry['a'] = print\n",
        "from a import model_registry\n"
        + "".join(f"a{n} = 1\n" for n in range(30_000))
        + "model_registry['a'] = print\n",
        "from a import model_registry\nx = 0x" + "f" * 5000 + "\nmodel_registry[f'{x}'] = print\n",
        "from a import model_registry\nfor a in range(9000):\n x = ["
        + "0, " * 5000
        + "]\n model_registry['a'] = print\n",
        "from .other import NAMES\nfrom a import model_registry\n"
        + "for a in range(9000):\n model_registry[NAMES] = print\n",
    ],
    ids=["doubled texts", "loops in loops", "many names", "long numbers", "long expressions", "read again and again"],
)
def test_reading_ends_soon(scan, source):
    started = time.process_time()
    found = scan(source, other="NAMES = [" + "0, " * 50_000 + "]\n")
    assert time.process_time() - started < 20  # seconds; minutes to years without a limit
    assert found.error or found.dynamic or found.registrations
    assert all(len(one.key) < 20_000 for one in found.registrations)


class TestTables:
    """``for key in table_keys(__file__, 'x.csv')``."""

    LOOP = "for key in table_keys(__file__, 'models.csv'):\n    model_registry[f'{key}-v1'] = f"

    def test_keys_are_those_of_the_first_column(self, scan, tmp_path):
        (tmp_path / "models.csv").write_text('name,size\n"a,b",1\n\nc,2\n')
        found = scan(self.LOOP)
        assert keys(found) == ["a,b-v1", "c-v1"]
        assert found.dynamic == ()
        assert found.depends == (str(tmp_path / "models.csv"),)

    def test_a_table_is_registered_at_once(self, scan, tmp_path):
        (tmp_path / "models.csv").write_text("name,size\nsmall,1\nlarge,2\n")
        found = scan("model_registry.add_table(__file__, 'models.csv', make, size=3)")
        assert (keys(found), found.dynamic) == (["small", "large"], ())
        found = scan("if x:\n    model_registry.add_table(__file__, 'models.csv', make)")
        assert (keys(found), found.dynamic) == ([], (("model_registry", 2),))

    def test_a_table_without_rows_registers_nothing(self, scan, tmp_path):
        (tmp_path / "models.csv").write_text("name,size\n")
        assert (keys(scan(self.LOOP)), scan(self.LOOP).dynamic) == ([], ())

    @pytest.mark.parametrize(
        "content", [b"", b"name,name\n", b"name\n\xff\n", b"name,size\na\n", b"name\na\na\n", b"n" * 1_000_001, None]
    )
    def test_an_unreadable_table_is_read_by_the_plugin(self, scan, tmp_path, content):
        if content is not None:
            (tmp_path / "models.csv").write_bytes(content)
        found = scan(self.LOOP)
        assert (found.registrations, found.dynamic) == ((), (("model_registry", 2),))

    def test_only_tables_of_the_plugin_are_read(self, scan, tmp_path):
        (tmp_path.parent / "models.csv").write_text("name\na\n")
        found = scan(self.LOOP.replace("models.csv", "../models.csv"))
        assert (found.registrations, found.dynamic) == ((), (("model_registry", 2),))


class TestReadTable:
    def test_keys_and_rows(self, tmp_path):
        (tmp_path / "x.csv").write_text("name,size\nsmall,1\nlarge,2\n")
        plugin = str(tmp_path / "__init__.py")
        assert table_keys(plugin, "x.csv") == ["small", "large"]
        assert table_row(plugin, "x.csv", "large") == {"name": "large", "size": "2"}
        with pytest.raises(UnknownIdentifier, match=r"no row .larg.(.|\n)*large"):
            table_row(plugin, "x.csv", "larg")

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("", "does not name different columns"),
            ("name,size\nsmall\n", "row 2 has 1 cells for 2 columns"),
            ("name\na\na\n", "row 3 has the identifier 'a'"),
        ],
    )
    def test_errors_name_file_and_row(self, tmp_path, content, message):
        (tmp_path / "x.csv").write_text(content)
        with pytest.raises(UserError, match=f"x.csv cannot be read: .*{message}"):
            table_keys(str(tmp_path / "__init__.py"), "x.csv")
        with pytest.raises(UserError, match="No such file"):
            table_keys(str(tmp_path / "__init__.py"), "y.csv")
