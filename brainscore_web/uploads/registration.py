"""From rows to Copy Code."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from django.http import HttpRequest
from django.urls import reverse

from brainscore_core.supported_data_standards.brainio.buckets import s3_endpoint
from brainscore_web.leaderboard.models import Visibility
from brainscore_web.uploads.copy_code import Registration, Stored
from brainscore_web.uploads.models import Upload, UploadedFile

__all__ = ["address_of", "registration_of"]


def address_of(request: HttpRequest, file: UploadedFile) -> str:
    """Where this site hands out a file, with its version."""
    path = reverse("uploads:file", kwargs={"bucket": file.bucket, "key": file.key})
    return f"{request.build_absolute_uri(quote(path, safe='/%'))}?{urlencode({'versionId': file.version_id})}"


def registration_of(request: HttpRequest, upload: Upload, files: list[UploadedFile]) -> Registration:
    """What the code of an accepted upload says."""
    stored = {
        file.kind: Stored(file.folder, file.version_id, file.sha1, file.sha256, address_of(request, file))
        for file in files
    }
    return Registration(
        identifier=upload.identifier,
        assembly_identifier=upload.assembly_identifier,
        cls=upload.assembly_class,
        csv=stored.get("csv"),
        zip=stored.get("zip"),
        nc=stored.get("nc"),
        from_s3=all(file.everybody for file in files),
        private=upload.visibility == Visibility.PRIVATE,
        site=request.build_absolute_uri("/").rstrip("/"),
        endpoint=s3_endpoint(),
    )
