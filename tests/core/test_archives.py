import io
import stat
import struct
import zipfile

import pytest

from brainscore_core import archives


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "./", "//", "/a", "//a", "..", "../a", "a/..", "a/../b", "./../a"),
        *("\\a", "a\\..\\b", "..\\a", "C:a", "C:/a", "c:\\a"),
    ],
)
def test_names_that_leave_their_folder(name):
    assert archives.leaves_folder(name)


@pytest.mark.parametrize(
    "name", ["a", "a/b", "./a", "a//b", "a/", "..a", "a..b/c", "...", "stimulus 1.png", "a\\b", "é.png"]
)
def test_names_that_stay(name):
    assert not archives.leaves_folder(name)


@pytest.mark.parametrize("name", ["con", "CON.txt", "Com1.tar.gz", "lpt9", "aux .py", "a.", "a ", "a. ", "..."])
def test_names_reserved_by_windows(name):
    assert archives.is_reserved(name)
    assert not archives.is_portable(f"folder/{name}")


def test_names_not_reserved():
    names = ["console", "com10", "lpt0", ".con", "a.con", "nulls.py"]
    assert not [name for name in names if archives.is_reserved(name) or not archives.is_portable(name)]


@pytest.mark.parametrize(
    "name",
    [
        *("", "a//b", "/a", "a/", ".", "..", "a/../b", "./a", " a", "a\\b", "a:b", "a*", "a|b", '"a"', "<a>"),
        *("a\tb", "a\0b", "a\u200bb", "a\u00a0b", "\ufeffa", "a\ud800", "e\u0301", "a" * 201, "é" * 101),
    ],
)
def test_names_that_some_systems_refuse(name):
    assert not archives.is_portable(name)


def test_portable_names():
    names = ["models/mine/model.py", "a b", "é.png", "a" * 200, "a+b-c_d,e;f=g@h#i!.txt", ".hidden", "図.png"]
    assert [name for name in names if archives.is_portable(name)] == names


def test_files_of_file_managers():
    found = ["__MACOSX/._a.png", "__MACOSX", ".DS_Store", "a/.DS_Store", "Thumbs.db", "a/desktop.ini"]
    assert all(map(archives.is_file_manager_file, found))
    assert not any(map(archives.is_file_manager_file, ["", "a/__MACOSX/b", "a.DS_Store", ".DS_Store/a"]))


@pytest.mark.parametrize(
    ("names", "case", "clash"),
    [
        (["a", "b", "a"], False, ("a", "a")),
        (["é", "e\u0301"], False, ("é", "e\u0301")),
        (["a", "A"], False, None),
        (["b", "a", "A", "B"], True, ("a", "A")),
        (["É", "e\u0301"], True, ("É", "e\u0301")),
        (["straße", "STRASSE"], True, ("straße", "STRASSE")),
        (["a/b", "a"], True, None),
    ],
)
def test_clashes(names, case, clash):
    assert archives.find_clash(names, case=case) == clash


def _archive(count, **attributes):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for number in range(count):
            member = zipfile.ZipInfo(f"{number}.txt")
            for name, value in attributes.items():
                setattr(member, name, value)
            archive.writestr(member, b"text")
    return stream


def _with_end(content, **fields):
    """The archive with other numbers in its last record."""
    names = ("signature", "disk", "first", "here", "total", "directory", "offset", "comment")
    record = struct.Struct("<4s4H2LH")
    values = dict(zip(names, record.unpack(content[-record.size :]), strict=True)) | fields
    return io.BytesIO(content[: -record.size] + record.pack(*values.values()))


def test_the_number_of_members_is_read_from_the_end():
    content = _archive(7).getvalue()
    assert archives.announced_members(io.BytesIO(content)) == 7
    assert archives.announced_members(io.BytesIO(b"\0" * 200_000 + content)) == 7
    assert archives.announced_members(io.BytesIO(content[:-1])) is None
    assert archives.announced_members(io.BytesIO(b"")) is None
    assert archives.announced_members(_with_end(content, total=60_000)) == 60_000


def test_a_number_below_the_size_of_the_list_is_not_believed():
    content = _archive(7).getvalue()
    assert archives.announced_members(_with_end(content, total=1, directory=2_000_000)) == 10_000
    assert archives.announced_members(_with_end(content, total=0xFFFF, directory=4_600_000)) == 100_000
    assert archives.announced_members(_with_end(content, total=0xFFFF, directory=0xFFFFFFFF)) == 0xFFFF


def test_the_stream_is_at_its_start_afterwards():
    stream = _archive(1)
    archives.announced_members(stream)
    assert stream.tell() == 0


def _member(**attributes):
    with zipfile.ZipFile(_archive(1, **attributes)) as archive:
        return archive.infolist()[0]


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK])
@pytest.mark.parametrize("system", [0, 3])
def test_special_members(kind, system):
    assert archives.is_special(_member(create_system=system, external_attr=(kind | 0o644) << 16))


@pytest.mark.parametrize("mode", [0, 0o644, stat.S_IFREG | 0o600, stat.S_IFDIR | 0o755])
def test_regular_members(mode):
    assert not archives.is_special(_member(external_attr=mode << 16))


def test_encrypted_members():
    member = _member()
    assert not archives.is_encrypted(member)
    for bit in (0x1, 0x40):
        member.flag_bits = bit
        assert archives.is_encrypted(member)


def test_the_stored_name_has_what_zipfile_drops():
    member = zipfile.ZipInfo("model.py\0.png")
    assert (member.filename, archives.stored_name(member)) == ("model.py", "model.py\0.png")


def test_bombs():
    assert archives.is_bomb(100, 10_001, ratio=100, least=1_000)
    assert archives.is_bomb(0, 1_001, ratio=100, least=1_000)
    assert not archives.is_bomb(100, 10_000, ratio=100, least=1_000)
    assert not archives.is_bomb(1, 1_000, ratio=100, least=1_000)


def test_overlapping_members():
    with zipfile.ZipFile(_archive(3)) as archive:
        members = archive.infolist()
    assert not archives.members_overlap(members)
    assert not archives.members_overlap(members[::-1])
    members[2].header_offset = members[1].header_offset + 10
    assert archives.members_overlap(members)
