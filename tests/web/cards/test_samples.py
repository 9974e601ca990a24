"""Samples of stimuli: who sees them, and what is sent."""

import io

import pytest
from django.core.files.base import ContentFile
from PIL import Image

from brainscore_web.leaderboard.models import Benchmark, StimulusSample

PUBLIC, WITHHELD = "Simulated000.V1-pls", "Simulated002.V4-pls"


@pytest.fixture
def sample_of(board, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path

    def make(identifier, content=None, name="face.png", **values):
        if content is None:
            buffer = io.BytesIO()
            Image.new("RGB", (8, 8), "red").save(buffer, "PNG")
            content = buffer.getvalue()
        made = StimulusSample(benchmark=Benchmark.objects.get(identifier=identifier), **values)
        made.image.save(name, ContentFile(content))
        return made

    return make


def address(sample):
    return f"/vision/sample/{sample.pk}/{sample.image.name.rsplit('/', 1)[-1]}"


def test_public_ones_are_for_all(sample_of, client, get):
    sample = sample_of(PUBLIC, caption="a <red> square")
    page = get(f"/vision/benchmark/{PUBLIC}/").content.decode()
    assert f'src="{address(sample)}" alt="Stimulus 1 of 1"' in page
    assert "<figcaption>a &lt;red&gt; square</figcaption>" in page
    answer = client.get(address(sample))
    assert answer["Content-Type"] == "image/png"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Cache-Control"] == "private, no-cache"  # access may be withdrawn
    assert client.get(address(sample), headers={"If-None-Match": answer["ETag"]}).status_code == 304
    assert "Cookie" not in answer.get("Vary", "")
    assert answer["Content-Disposition"].startswith("inline")
    assert Image.open(io.BytesIO(b"".join(answer))).size == (8, 8)


def test_withheld_ones_are_for_those_who_may_see_the_data(sample_of, get, read, owner, member, staff):
    sample = sample_of(WITHHELD)
    Benchmark.objects.filter(identifier=WITHHELD).update(owner=owner)
    for who in (None, member):
        get(address(sample), who, status=404)
        page = get(f"/vision/benchmark/{WITHHELD}/", who)
        assert "/vision/sample/" not in page.content.decode()
        assert "Stimuli and measurements are withheld" in read(page)
    for who in (owner, staff):
        assert get(address(sample), who)["Cache-Control"] == "private, no-store"
        page = get(f"/vision/benchmark/{WITHHELD}/", who)
        assert address(sample) in page.content.decode()
        assert "You can see the data, because you have access to them." in read(page)


def test_what_is_no_image_is_not_handed_out(sample_of, get):
    get(address(sample_of(PUBLIC, b"<svg onload='alert(1)'/>", "face.png")), status=404)
    get(address(sample_of(PUBLIC, b"<html>", "face.html")), status=404)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_types_are_those_of_the_content(sample_of, get, kind):
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(buffer, kind)
    assert get(address(sample_of(PUBLIC, buffer.getvalue(), "any.png")))["Content-Type"] == f"image/{kind.lower()}"


def test_other_names_and_lost_files(sample_of, get):
    sample = sample_of(PUBLIC)
    get(f"/vision/sample/{sample.pk}/other.png", status=404)
    get("/vision/sample/999999/face.png", status=404)
    sample.image.storage.delete(sample.image.name)
    get(address(sample), status=404)
