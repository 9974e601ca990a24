"""Files that read other files are refused before a library opens them."""

import io

import netCDF4
import numpy as np
import pytest

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.hdf5 import refuse_other_files
from brainscore_core.supported_data_standards.brainio.netcdf import read_netcdf

h5py = pytest.importorskip("h5py", reason="needs h5py: pip install 'brainscore[nwb]'")


@pytest.fixture
def other(tmp_path):
    """A file that is not the uploader's."""
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["data"] = np.arange(4.0)
    return tmp_path / "other.h5"


def external_storage(file, other):
    file.create_dataset("data", (4,), "u1", external=[(str(other), 0, 4)])


def external_link(file, other):
    file["data"] = h5py.ExternalLink(str(other), "/data")


def link_of_a_group(file, other):
    file["data"], file["deep/group"] = [1.0], h5py.ExternalLink(str(other), "/")


def link_through_a_link(file, other):
    file["x"], file["data"] = h5py.ExternalLink(str(other), "/"), h5py.SoftLink("/x/data")


def virtual(file, other):
    layout = h5py.VirtualLayout((4,), "f8")
    layout[:] = h5py.VirtualSource(str(other), "data", (4,))
    file.create_virtual_dataset("data", layout)


def link_among_many(file, other):
    for number in range(2_000):
        file[f"group/{number:04}"] = number
    file["group/1000x"] = h5py.ExternalLink(str(other), "/data")


ATTEMPTS = [external_storage, external_link, link_of_a_group, link_through_a_link, virtual, link_among_many]


@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_other_files_are_not_read(tmp_path, other, attempt, libver):
    path = tmp_path / "sent.nc"
    with h5py.File(path, "w", libver=libver, track_order=True) as file:
        attempt(file, other)
    with pytest.raises(UserError, match=r"sent.nc reads other files: .*(link to|virtual|external storage)"):
        read_netcdf(path, DataAssembly)


@pytest.mark.parametrize("libver", ["earliest", "v110", "latest"])
@pytest.mark.parametrize("track_order", [False, True])
def test_other_structures_are_accepted(tmp_path, libver, track_order):
    with h5py.File(tmp_path / "a.h5", "w", libver=libver, track_order=track_order, userblock_size=512) as file:
        for number in range(300):
            file[f"group/{number}"] = number
            file.attrs[f"attribute {number}"] = "text"
        file["soft"], file["loop"] = h5py.SoftLink("/group"), file["/"]
        file.create_dataset("chunks", (100, 100), "f4", chunks=(9, 9), maxshape=(None, None), compression="gzip")
        file["references"] = np.array([file["chunks"].ref], dtype=h5py.ref_dtype)
    refuse_other_files(tmp_path / "a.h5")


@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA"])
def test_forms_of_netcdf_are_accepted(tmp_path, form):
    with netCDF4.Dataset(tmp_path / "a.nc", "w", format=form) as file:
        file.createDimension("x", 5)
        for number in range(30):
            file.createVariable(f"v{number}", "f8", ("x",))[:] = 1
    refuse_other_files(tmp_path / "a.nc")


def test_damaged_files_are_refused(tmp_path):
    """No change of a byte leads to another error, or lets a link through that HDF5 follows."""
    with h5py.File(tmp_path / "a.h5", "w") as file:
        link_through_a_link(file, "other.h5")
    content = (tmp_path / "a.h5").read_bytes()
    for place in range(0, min(len(content), 2_000), 3):
        changed = content[:place] + b"\xff" + content[place + 1 :]
        try:
            refuse_other_files(io.BytesIO(changed), "a.h5")
        except UserError:
            continue
        with h5py.File(io.BytesIO(changed)) as file:
            assert not isinstance(file.get("x", getlink=True), h5py.ExternalLink)
