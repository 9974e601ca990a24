"""HDF5 files that read other files: they are refused before their values are read.

HDF5 follows external links, external storage and virtual data sets without notice, so that a file from elsewhere can
read any file of this machine. netCDF4 has no function that shows them; h5py lists links and layouts without following
them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

from brainscore_core.errors import UserError

_CLASSIC = (b"CDF\x01", b"CDF\x02", b"CDF\x05")  # netCDF 3, which has no links
_MAX_OBJECTS = 100_000


def refuse_other_files(source: Path | BinaryIO, name: str | None = None) -> None:
    r"""Refuse a file that reads other files, before its values are read.

    The file is HDF5, such as netCDF 4 or NWB, or netCDF 3; `name` replaces its path in messages. Raises UserError if it
    has external links, external storage or virtual data sets, or its structure cannot be examined.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.hdf5 import refuse_other_files
    >>> import io
    >>> refuse_other_files(io.BytesIO(b"CDF\x01"), "old.nc")
    """
    import h5py

    if isinstance(source, Path):
        with source.open("rb") as stream:
            refuse_other_files(stream, name or str(source))
        return
    source.seek(0)
    if source.read(4) in _CLASSIC:
        return
    try:
        with h5py.File(source, "r") as file:
            problem = _other_file(file.id)
    except (OSError, RuntimeError, LookupError, TypeError, ValueError) as error:  # errors of HDF5
        raise UserError(
            f"{name} cannot be read as netCDF or HDF5 ({error})",
            remedy="it is damaged or of another format: fetch it again",
        ) from error
    if problem is not None:
        raise UserError(
            f"{name} reads other files: {problem}",
            remedy="write a copy that contains all values itself; nothing outside of the file is read",
        )


def _other_file(file: Any) -> str | None:
    """The first object of an open file that is stored in another one; None if there is none."""
    import h5py

    groups = [(h5py.h5g.open(file, b"/"), "")]
    seen: set[int] = set()  # addresses of objects
    while groups:
        group, path = groups.pop()
        for name in group:
            link, below = group.links.get_info(name), f"{path}/{name.decode(errors='replace')}"
            if link.type == h5py.h5l.TYPE_EXTERNAL:
                return f"{below} is a link to {group.links.get_val(name)[0].decode(errors='replace')}"
            if link.type == h5py.h5l.TYPE_SOFT or link.u in seen:
                continue
            if link.type != h5py.h5l.TYPE_HARD or len(seen) == _MAX_OBJECTS:
                raise ValueError(f"{below} is a link of an unknown kind, or there are too many objects")
            seen.add(link.u)
            item = h5py.h5o.open(group, name)
            if isinstance(item, h5py.h5g.GroupID):
                groups.append((item, below))
            elif isinstance(item, h5py.h5d.DatasetID):
                created = item.get_create_plist()
                if created.get_layout() == h5py.h5d.VIRTUAL:
                    return f"{below} is a virtual data set"
                if created.get_external_count():
                    return f"the values of {below} are in external storage"
    return None
