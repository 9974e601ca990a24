"""A test that fetches a file of features once, without a hash."""

from pathlib import Path

from brainscore_core.supported_data_standards.brainio import s3

filename = "features.nc"
target = Path.cwd() / filename
s3.download_file_if_not_exists(local_path=target, bucket="group-storage", remote_filepath=f"tests/{filename}")
assert target.read_bytes() == b"features"
target.write_bytes(b"other")
s3.download_file_if_not_exists(target, bucket="group-storage", remote_filepath=f"tests/{filename}")
assert target.read_bytes() == b"other"
