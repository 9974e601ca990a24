"""HDF5 files that read other files: they are refused before a library opens them.

HDF5 follows external links, external storage and virtual data sets without notice, so that a file from elsewhere can
read any file of this machine. netCDF4 has no function that shows them, and h5py brings an HDF5 library of its own,
beside which netCDF4 of some versions fails. Therefore the metadata of a file are walked here, as far as they lead to
objects: superblock, object headers, and both kinds of groups. What is unknown is refused.

The format is described at https://support.hdfgroup.org/documentation/hdf5/latest/_f_m_t3.html.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from brainscore_core.errors import UserError

_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_CLASSIC = (b"CDF\x01", b"CDF\x02", b"CDF\x05")  # netCDF 3, which has no links
_LINK_INFO, _LINK, _EXTERNAL_FILES, _LAYOUT, _CONTINUATION, _SYMBOL_TABLE = 0x02, 0x06, 0x07, 0x08, 0x10, 0x11
_SHARED = 0x02  # flag of a message that is stored elsewhere
_HARD, _SOFT = 0, 1
_VIRTUAL = 3
_SOFT_ENTRY = 2  # of a symbol table
_MAX_ADDRESS = 1 << 62
_MAX_BLOCK = 1 << 26  # bytes
_MAX_READS = 2_000_000


class _Malformed(Exception):
    """Metadata that do not follow the format, or are not known here."""


class _OtherFiles(Exception):
    """What reads other files, and where."""


def refuse_other_files(source: Path | BinaryIO, name: str | None = None) -> None:
    r"""Refuse a file that reads other files, before a library opens it.

    The file is HDF5, such as netCDF 4 or NWB, or netCDF 3; `name` replaces its path in messages. Raises UserError if it
    has external links, external storage or virtual data sets, or its structure cannot be examined.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.hdf5 import refuse_other_files
    >>> import io
    >>> refuse_other_files(io.BytesIO(b"CDF\x01"), "old.nc")
    """
    if isinstance(source, Path):
        with source.open("rb") as stream:
            refuse_other_files(stream, name or str(source))
        return
    source.seek(0)
    if source.read(4) in _CLASSIC:
        return
    try:
        _Walk(source).run()
    except _OtherFiles as error:
        raise UserError(
            f"{name} reads other files: {error}",
            remedy="write a copy that contains all values itself; nothing outside of the file is read",
        ) from error
    except _Malformed as error:
        raise UserError(
            f"{name} cannot be read as netCDF or HDF5 ({error})",
            remedy="it is damaged or of another format: fetch it again",
        ) from error


class _Walk:
    """The objects of a file, from its root group."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._base = 0
        self._offset_size = self._length_size = 8
        self._reads = 0
        self._waiting: list[tuple[int, str]] = []

    def run(self) -> None:
        seen = set()
        self._waiting.append((self._root(), ""))
        while self._waiting:
            address, name = self._waiting.pop()
            if address not in seen:
                seen.add(address)
                self._examine(address, name)

    def _read(self, address: int, size: int, signature: bytes = b"") -> _Bytes:
        self._reads += 1
        if self._reads > _MAX_READS or size > _MAX_BLOCK or address > _MAX_ADDRESS:
            raise _Malformed("its metadata are too large")
        self._stream.seek(self._base + address)
        content = self._stream.read(size)
        if len(content) != size or not content.startswith(signature):
            raise _Malformed(f"no {signature.decode() or 'data'} at byte {self._base + address:,}")
        block = _Bytes(content)
        block.take(len(signature))
        return block

    def _is_undefined(self, address: int) -> bool:
        return address == (1 << 8 * self._offset_size) - 1

    def _root(self) -> int:
        """Address of the root group's header."""
        address = 0
        while True:
            self._stream.seek(address)
            start = self._stream.read(24)
            if len(start) < 24:
                raise _Malformed("it has no signature")
            if start.startswith(_SIGNATURE):
                break
            address = address * 2 or 512
        self._base = address
        version = start[8]
        sizes = start[13:15] if version < 2 else start[9:11]
        if version > 3 or not set(sizes) <= {2, 4, 8} or len(sizes) < 2:
            raise _Malformed(f"version {version} of the superblock")
        self._offset_size, self._length_size = offset, _ = sizes
        head = {0: 24, 1: 28, 2: 12, 3: 12}[version]
        # the base address; free space or extension, end of the file; driver, name of the root group; its header
        base, _, root = self._read(0, head + 6 * offset + 24).numbers(
            head, offset, 2 * offset if version > 1 else 4 * offset, offset
        )[1:]
        if base != address:
            raise _Malformed("it was moved within another file")
        return root

    def _examine(self, address: int, name: str) -> None:
        """Examine the header of an object, and note the objects that a group links."""
        for kind, flags, block in self._messages(address):
            if kind in (_LINK_INFO, _LINK, _EXTERNAL_FILES, _LAYOUT, _SYMBOL_TABLE) and flags & _SHARED:
                raise _Malformed(f"a shared message in {name or '/'}")
            if kind == _EXTERNAL_FILES:
                raise _OtherFiles(f"the values of {name or '/'} are in external storage")
            if kind == _LAYOUT and _layout(block) == _VIRTUAL:
                raise _OtherFiles(f"{name or '/'} is a virtual data set")
            if kind == _LINK:
                self._link(block, name)
            elif kind == _LINK_INFO:
                self._dense_links(block, name)
            elif kind == _SYMBOL_TABLE:
                tree, heap = block.numbers(self._offset_size, self._offset_size)
                self._symbol_table(tree, heap, name)

    def _messages(self, address: int) -> Iterator[tuple[int, int, _Bytes]]:
        """Types, flags and contents of the messages of an object header, of version 1 or 2."""
        start = self._read(address, 16)
        if start.peek(4) == b"OHDR":
            version, flags = self._read(address, 6, b"OHDR").numbers(1, 1)
            if version != 2:
                raise _Malformed(f"version {version} of an object header")
            head = 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
            width = 1 << (flags & 3)
            blocks = [(address + head + width, self._read(address + head, width).number(width))]
            form = (1, 2 if flags & 0x04 else 0)
        else:
            version, _, size = start.numbers(1, 7, 4)
            if version != 1:
                raise _Malformed("an unknown object header")
            blocks = [(address + 16, size)]
            form = (2, 3)
        seen = set()
        while blocks:
            start_address, size = blocks.pop()
            if start_address in seen:
                continue
            seen.add(start_address)
            block = self._read(start_address, size)
            while block.remaining >= 3 + sum(form):
                kind, size, flags, _ = block.numbers(form[0], 2, 1, form[1])
                content = _Bytes(block.take(size))
                if kind == _CONTINUATION:
                    start_address, size = content.numbers(self._offset_size, self._length_size)
                    if form[0] == 1:  # with signature and checksum
                        self._read(start_address, 4, b"OCHK")
                        start_address, size = start_address + 4, size - 8
                    blocks.append((start_address, size))
                else:
                    yield kind, flags, content

    def _link(self, block: _Bytes, parent: str) -> None:
        """Note the object of a hard link; refuse links to other files."""
        version, flags = block.numbers(1, 1)
        if version != 1:
            raise _Malformed(f"version {version} of a link")
        kind = block.number(1) if flags & 0x08 else _HARD
        block.take((8 if flags & 0x04 else 0) + (1 if flags & 0x10 else 0))
        name = f"{parent}/{block.take(block.number(1 << (flags & 3))).decode(errors='replace')}"
        if kind == _HARD:
            self._waiting.append((block.number(self._offset_size), name))
        elif kind != _SOFT:  # which leaves the file only through another link
            raise _OtherFiles(f"{name} is a link to another file")

    def _symbol_table(self, tree: int, heap: int, parent: str) -> None:
        """Note the objects of a group in the form of older files."""
        offset, length = self._offset_size, self._length_size
        _, size, _, address = self._read(heap, 8 + 2 * length + offset, b"HEAP").numbers(4, length, length, offset)
        names = self._read(address, size).peek(size)
        waiting, seen = [tree], set()
        while waiting:
            address = waiting.pop()
            if address in seen:
                continue
            seen.add(address)
            if self._read(address, 4).peek(4) == b"SNOD":
                self._symbols(address, names, parent)
                continue
            _, count = self._read(address, 8, b"TREE").numbers(2, 2)
            entries = self._read(address + 8 + 2 * offset, count * (length + offset))
            waiting += [entries.numbers(length, offset)[1] for _ in range(count)]

    def _symbols(self, address: int, names: bytes, parent: str) -> None:
        _, count = self._read(address, 8, b"SNOD").numbers(2, 2)
        entries = self._read(address + 8, count * (2 * self._offset_size + 24))
        for _ in range(count):
            start, target, kind, _ = entries.numbers(self._offset_size, self._offset_size, 4, 20)
            if kind != _SOFT_ENTRY:
                name = names[start : names.find(b"\0", start)].decode(errors="replace")
                self._waiting.append((target, f"{parent}/{name}"))

    def _dense_links(self, block: _Bytes, parent: str) -> None:
        """Examine the links of a large group, which are in a heap, through both of its indexes."""
        _, flags = block.numbers(1, 1)
        block.take(8 if flags & 0x01 else 0)
        address, *trees = block.numbers(*[self._offset_size] * (3 if flags & 0x02 else 2))
        if self._is_undefined(address):
            return
        heap = _Heap(self._read, address, self._offset_size, self._length_size)
        for tree in trees:
            if not self._is_undefined(tree):
                for record in self._records(tree):
                    self._link(heap.content(record[-heap.id_size :]), parent)

    def _records(self, address: int) -> Iterator[bytes]:
        """All records of a B-tree of version 2."""
        offset = self._offset_size
        head = self._read(address, 22 + offset + self._length_size, b"BTHD")
        _, node_size, record_size, depth, _, root, count = head.numbers(2, 4, 2, 2, 2, offset, 2)
        if not record_size or node_size <= 10 or depth > 32:
            raise _Malformed("a B-tree")
        most = (node_size - 10) // record_size
        width, totals, total = _width_of(most), [0], most  # widths of the numbers of records beneath a node
        for _ in range(depth):
            pointer = offset + width + totals[-1]
            most = (node_size - 10 - pointer) // (record_size + pointer)
            total = (most + 1) * total + most
            totals.append(_width_of(total))
        waiting, seen = [(root, count, depth)], set()
        while waiting:
            address, count, level = waiting.pop()
            if address in seen or self._is_undefined(address):
                continue
            seen.add(address)
            node = self._read(address, node_size, b"BTIN" if level else b"BTLF")
            node.take(2)
            for _ in range(count):
                yield node.take(record_size)
            for _ in range(count + 1 if level else 0):
                child, below, _ = node.numbers(offset, width, totals[level - 1])
                waiting.append((child, below, level - 1))


class _Heap:
    """A fractal heap of links."""

    def __init__(self, read: Callable[..., _Bytes], address: int, offset_size: int, length_size: int) -> None:
        self._read = read
        self._offset_size = offset_size
        head = read(address, 22 + 12 * length_size + 3 * offset_size, b"FRHP")
        _, self.id_size, filters = head.numbers(1, 2, 2)
        if filters:
            raise _Malformed("compressed names of links")
        # tree of huge objects, free space, numbers and sizes of objects
        head.take(5 + 10 * length_size + 2 * offset_size)
        self._width, self._start, self._largest, bits, _ = head.numbers(2, length_size, length_size, 2, 2)
        root, rows = head.numbers(offset_size, 2)
        self._offset_bytes = (bits + 7) // 8
        self._head = 5 + offset_size + self._offset_bytes
        if any(number <= 0 or number & (number - 1) for number in (self._width, self._start, self._largest)):
            raise _Malformed("a heap")  # these are powers of 2
        self._undefined = (1 << 8 * offset_size) - 1
        self._blocks: list[tuple[int, int, int]] = []  # start in the heap, size, address
        if rows:
            self._add_indirect(root, 0, rows, level=0)
        elif root != self._undefined:
            self._blocks.append((0, self._start, root))

    def _add_indirect(self, address: int, start: int, rows: int, level: int) -> None:
        if level > 32 or rows > 64:
            raise _Malformed("a heap")
        children = self._read(address, self._head + rows * self._width * self._offset_size, b"FHIB")
        children.take(self._head - 4)
        for row in range(rows):
            size = self._start << max(row - 1, 0)
            for _ in range(self._width):
                child = children.number(self._offset_size)
                if child != self._undefined and size <= self._largest:
                    self._blocks.append((start, size, child))
                elif child != self._undefined:
                    below = size.bit_length() - (self._start * self._width).bit_length() + 1
                    self._add_indirect(child, start, below, level + 1)
                start += size

    def content(self, identifier: bytes) -> _Bytes:
        """The rest of the block from an object on."""
        kind = identifier[0] >> 4 & 3
        offset = int.from_bytes(identifier[1 : 1 + self._offset_bytes], "little")
        for start, size, address in self._blocks:
            if kind == 0 and start <= offset < start + size:
                return self._read(address + offset - start, size - (offset - start))
        raise _Malformed("a link outside of its heap")


class _Bytes:
    """A block of metadata, read from its start on."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._position = 0

    @property
    def remaining(self) -> int:
        return len(self._content) - self._position

    def peek(self, size: int) -> bytes:
        return self._content[self._position : self._position + size]

    def take(self, size: int) -> bytes:
        if size > self.remaining:
            raise _Malformed("metadata that end early")
        self._position += size
        return self._content[self._position - size : self._position]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")

    def numbers(self, *sizes: int) -> list[int]:
        return [self.number(size) for size in sizes]


def _layout(block: _Bytes) -> int:
    """Class of a message about the storage of values."""
    version = block.number(1)
    if not 1 <= version <= 5:
        raise _Malformed(f"version {version} of a layout")
    return block.numbers(*((1, 1) if version < 3 else (1,)))[-1]  # of older versions, after the number of dimensions


def _width_of(limit: int) -> int:
    """Bytes of a number up to `limit`."""
    return (limit.bit_length() - 1) // 8 + 1
