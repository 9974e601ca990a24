"""A store in a bucket: nothing is overwritten, many keys, errors that say what to do."""

import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from brainscore_core.errors import UserError
from brainscore_core.results import bucket as s3_module
from brainscore_core.results.bucket import Bucket
from brainscore_core.results.store import Arrays
from brainscore_core.scoring import ReceiptError, ResultsStore, StoreError
from brainscore_core.supported_data_standards.brainio import downloads
from brainscore_core.supported_data_standards.brainio.buckets import signed_client
from tests.s3_faults import FAULTS, FaultyServer

exceptions = pytest.importorskip("botocore.exceptions")
ADDRESS = "s3://lab/our/results"


def keys(bucket):
    found = bucket.list_objects_v2(Bucket="lab").get("Contents", ())
    return [entry["Key"] for entry in found]


def answer(status, code):
    return exceptions.ClientError(
        {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}, "AnyOperation"
    )


class Refusing:
    """A client that answers every request with the same error, up to `times` times."""

    def __init__(self, client, error, *, only=None, times=10**9):
        self.client, self.error, self.only, self.times = client, error, only, times

    def __getattr__(self, name):
        found = getattr(self.client, name)
        if name in ("exceptions", "meta") or (self.only and name != self.only):
            return found

        def refuse(*args, **kwargs):
            if self.times <= 0:
                return found(*args, **kwargs)
            self.times -= 1
            raise self.error

        return refuse


def refuse(monkeypatch, client, error, **how):
    refusing = Refusing(client, error, **how)
    monkeypatch.setattr(s3_module, "signed_client", lambda: refusing)
    return refusing


def test_keys(fakes, bucket):
    store = ResultsStore(ADDRESS)
    store.require_writable()
    written = store.write(fakes.receipt("lab/net", "Some2026.IT-pls"), {"log": "one\n"})
    pair = "our/results/Some2026.IT-pls/lab%2Fnet"
    assert keys(bucket) == [
        "our/results/.brain-score-results", f"{pair}/{written.id}.json", f"{pair}/{written.id}.log",
    ]  # fmt: skip
    assert ResultsStore("s3://lab").address_of_pair("m", "b") == "s3://lab/b/m"
    top = ResultsStore("s3://lab")
    assert top.write(fakes.receipt()) == top.latest("model", "benchmark")
    assert top.listing(model="model").receipts == (top.latest("model", "benchmark"),)


def test_keys_that_are_no_receipts_are_passed_over(fakes, bucket):
    store = ResultsStore(ADDRESS)
    written = store.write(fakes.receipt())
    for key in ("readme.json", "benchmark/readme.json", "a/b/c/d.json", "benchmark/model/.0.json", ".git/x/y.json"):
        bucket.put_object(Bucket="lab", Key=f"our/results/{key}", Body=b"{}")
    bucket.put_object(Bucket="lab", Key="our/results2/benchmark/model/x.json", Body=b"{}")
    listing = store.listing()
    assert (listing.receipts, listing.problems) == ((written,), ())
    bucket.put_object(Bucket="lab", Key="our/results/benchmark/model/x.json", Body=b"{}")
    (problem,) = store.listing().problems
    assert problem.path == f"{ADDRESS}/benchmark/model/x.json"
    assert problem.message.startswith("not a valid receipt")


def test_more_keys_than_one_listing_has(fakes, bucket):
    from moto.s3.models import s3_backends

    behind = s3_backends["123456789012"]["aws"]  # filling it by requests would take long
    for number in range(1010):
        behind.put_object("lab", f"our/results/benchmark/model/20250101T{number:012d}Z-000000000000.raw.nc", b"half")
    for number in range(5):
        made = fakes.receipt(created=f"2026-01-01T00:00:00.{number:06d}Z", value=number).identified()
        behind.put_object("lab", f"our/results/benchmark/model/{made.id}.json", made.to_json().encode())
    listing = ResultsStore(ADDRESS).listing()
    assert listing.problems == ()
    assert [found.score.value for found in listing.receipts] == list(range(5))
    assert ResultsStore(ADDRESS).latest("model", "benchmark").score.value == 4


def test_nothing_is_overwritten(fakes, bucket, monkeypatch):
    fixed = fakes.receipt(created="2026-01-01T00:00:00.000000Z").identified()
    key = f"our/results/benchmark/model/{fixed.id}.json"
    bucket.put_object(Bucket="lab", Key=key, Body=b"of somebody else")
    with pytest.raises(StoreError, match=f"{ADDRESS}/benchmark/model/{fixed.id}.json exists with other content"):
        ResultsStore(ADDRESS).write(fakes.receipt(created=fixed.created))
    assert bucket.get_object(Bucket="lab", Key=key)["Body"].read() == b"of somebody else"


def test_an_answer_that_was_lost_is_no_failure(fakes, bucket):
    # the request is sent again and finds what it wrote itself
    fixed = fakes.receipt(created="2026-01-01T00:00:00.000000Z")
    store = ResultsStore(ADDRESS)
    assert store.write(fixed) == store.write(fixed)
    assert len(store.listing().receipts) == 1


@pytest.mark.parametrize("fails", ["upload_file", "put_object"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), answer(503, "SlowDown")])
def test_an_interrupt_leaves_nothing(fakes, bucket, monkeypatch, fails, error):
    if fails == "upload_file":
        monkeypatch.setattr(s3_module, "_LARGEST_REQUEST", 0)
    refuse(monkeypatch, bucket, error, only=fails, times=1)
    store = ResultsStore(ADDRESS)
    arrays = {kind: Arrays(fakes.assembly([[1.0, 2.0]])) for kind in ("raw", "predictions")}
    with pytest.raises((KeyboardInterrupt, StoreError)):
        store.write(fakes.receipt(), arrays)
    assert keys(bucket) == []
    store.write(fakes.receipt(), arrays)
    assert [key.rpartition(".")[2] for key in keys(bucket)] == ["json", "zip"]


@pytest.fixture
def faulty(bucket, s3_server, monkeypatch):
    """A server in front of the bucket that can fail; requests are sent once."""
    server = FaultyServer(s3_server)
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
    monkeypatch.setattr(downloads, "ATTEMPTS", 1)
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.slow(reason="waits for a bucket that fails")
@pytest.mark.sampled(3)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("after", [0, 1])
def test_faults_while_a_receipt_is_written(fakes, bucket, faulty, fault, after, monkeypatch):
    """Attachments come first, so that there is never a receipt without them; the second attempt completes it."""
    if fault == "truncated":  # the server closes this connection, which the next request may use before it is noticed
        monkeypatch.setattr(downloads, "ATTEMPTS", 2)
    arrays = {kind: Arrays(fakes.assembly([[1.0, 2.0]])) for kind in ("raw", "predictions")}
    store = ResultsStore(ADDRESS)
    store.require_writable()
    faulty.fail(fault, methods=("PUT",), after=after)
    receipt = fakes.receipt(created="2026-01-01T00:00:00.000000Z")
    if fault in ("reset", "error", "denied"):
        with pytest.raises(StoreError, match="lab"):
            store.write(receipt, arrays)
        assert not [key for key in keys(bucket) if key.endswith(".json")]
    else:  # an answer without content has nothing to truncate
        store.write(receipt, arrays)
    assert faulty.failed
    faulty.heal()
    written = store.write(receipt, arrays)
    (listed,) = ResultsStore(ADDRESS).listing().receipts
    assert listed.id == written.id
    for kind in arrays:
        assert store.attachment_path(listed, kind).stat().st_size  # its hash is checked


@pytest.mark.slow(reason="waits for a bucket that fails")
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_while_receipts_are_read(fakes, bucket, faulty, fault):
    store = ResultsStore(ADDRESS)
    store.write(fakes.receipt(), {"log": f"a text of {fault}\n"})
    faulty.fail(fault, methods=("GET",), after=1)
    try:
        listing = ResultsStore(ADDRESS).listing()
    except StoreError:
        assert fault != "slow"
    else:
        assert listing.receipts or listing.problems  # it does not look as if there were none
    faulty.heal()
    assert len(ResultsStore(ADDRESS).listing().receipts) == 1


def test_changed_and_missing_attachments_are_noticed(fakes, bucket):
    written = ResultsStore(ADDRESS).write(fakes.receipt(), {"log": "a text that no other test downloads\n"})
    (key,) = [key for key in keys(bucket) if key.endswith(".log")]
    bucket.put_object(Bucket="lab", Key=key, Body=b"two\n")
    with pytest.raises(ReceiptError, match=rf"{ADDRESS}/.*\.log has changed"):
        ResultsStore(ADDRESS).read_log(written)
    bucket.delete_object(Bucket="lab", Key=key)
    with pytest.raises(ReceiptError, match=rf"{ADDRESS}/.*\.log is missing"):
        ResultsStore(ADDRESS).attachment_path(written, "log")


def test_an_attachment_is_downloaded_once(fakes, bucket, monkeypatch):
    written = ResultsStore(ADDRESS).write(fakes.receipt(), {"log": f"{datetime.now(UTC)}\n"})
    path = ResultsStore(ADDRESS).attachment_path(written, "log")
    refuse(monkeypatch, bucket, answer(500, "InternalError"))
    assert ResultsStore(ADDRESS).attachment_path(written, "log") == path
    assert path.name == f"{written.attachments[0].sha256}.log"


def test_a_pair_of_a_run_takes_three_requests(fakes, bucket):
    """A claim, an archive of the attachments, the receipt; further requests only if the pair was claimed before."""
    sent = []
    client = signed_client()
    client.meta.events.register("before-send.s3", lambda request, **_: sent.append(request.method))
    worker, scoring = ResultsStore(ADDRESS), ResultsStore(ADDRESS)
    scoring.omit_checks()
    arrays = {kind: Arrays(fakes.assembly([[1.0, 2.0]])) for kind in ("raw", "predictions")}
    with worker.claim("model", "benchmark", owner="run", one_receipt=True) as claim:
        assert claim.is_first
        assert ResultsStore(ADDRESS).claim("model", "benchmark") is None
        sent.clear()
        scoring.require_writable()
        written = scoring.write(fakes.receipt(), arrays | {"log": "one\n"})
        claim.finish()
    assert sent == ["PUT", "PUT"]
    sent.clear()
    assert worker.claim("model", "another", one_receipt=True).is_first
    assert sent == ["PUT"]
    again = worker.claim("model", "benchmark", one_receipt=True)
    assert (again is not None, again.is_first) == (True, False)
    assert worker.open_attachment(written, "raw").values.tolist() == [[1.0, 2.0]]
    assert worker.read_log(written) == "one\n"
    worker.remove(written)
    assert [key for key in keys(bucket) if written.id in key] == []


def test_a_bucket_that_was_copied_to_a_folder(fakes, bucket, tmp_path):
    arrays = {kind: Arrays(fakes.assembly([[3.0, 4.0]])) for kind in ("raw", "predictions")}
    written = ResultsStore(ADDRESS).write(fakes.receipt(), arrays)
    for key in keys(bucket):
        path = tmp_path / key.removeprefix("our/results/")
        path.parent.mkdir(parents=True, exist_ok=True)
        bucket.download_file("lab", key, str(path))
    (listed,) = ResultsStore(tmp_path).listing().receipts
    assert ResultsStore(tmp_path).open_attachment(listed, "raw").values.tolist() == [[3.0, 4.0]]
    (tmp_path / f"benchmark/model/{written.id}.zip").write_bytes(b"damaged")
    with pytest.raises(ReceiptError, match="missing"):
        ResultsStore(tmp_path).attachment_path(
            replace(listed, attachments=(other(listed.attachments[0]),)), "predictions"
        )


def other(attachment):
    return replace(attachment, sha256="0" * 64)


def test_what_killed_writers_left_goes_after_a_day(fakes, bucket, monkeypatch):
    store = ResultsStore(ADDRESS)
    kept = store.write(fakes.receipt(), {"log": "one\n"})
    orphan = "our/results/benchmark/model/20200101T000000000000Z-000000000000.raw.nc"
    bucket.put_object(Bucket="lab", Key=orphan, Body=b"half")
    held = store.claim("model", "benchmark")
    store.write(fakes.receipt())
    assert orphan in keys(bucket)
    later = datetime.now(UTC) + timedelta(days=2)
    with monkeypatch.context() as patched:
        patched.setattr(s3_module, "parsedate_to_datetime", lambda date: later)
        store.write(fakes.receipt())
    assert orphan not in keys(bucket)
    assert store.read_log(kept) == "one\n"
    assert len(store.listing().receipts) == 3
    assert held.renew()


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (answer(403, "AccessDenied"), r"403 AccessDenied\n.*bucket lab .*s3:ListBucket.*s3:PutObject"),
        (answer(403, "ExpiredToken"), "renew the credentials"),
        (answer(403, "RequestTimeTooSkewed"), "set the clock"),
        (answer(404, "NoSuchBucket"), r"check the name of the bucket lab"),
        (answer(503, "SlowDown"), "503 SlowDown\ntry again later, or ask the owner of the bucket lab"),
        (exceptions.EndpointConnectionError(endpoint_url="https://x"), "(?s)Could not connect.*AWS_ENDPOINT_URL"),
        (exceptions.NoCredentialsError(), "(?s)no AWS credentials.*aws configure"),
    ],
)
def test_errors_name_the_bucket_and_the_remedy(fakes, bucket, monkeypatch, error, message):
    store = ResultsStore(ADDRESS)
    written = store.write(fakes.receipt(), {"log": f"of {message}\n"})
    refuse(monkeypatch, bucket, error, only="get_object")
    with pytest.raises(UserError, match=message):
        store.listing()
    refuse(monkeypatch, bucket, error)
    calls = [
        lambda: store.require_writable(),
        lambda: store.write(fakes.receipt()),
        lambda: store.write(fakes.receipt(), {"log": "one\n"}),
        lambda: store.remove(written),
        lambda: store.attachment_path(written, "log"),
        lambda: store.claim("model", "benchmark"),
    ]
    for call in calls:
        if isinstance(error, exceptions.ClientError) and error.response["Error"]["Code"] == "NoSuchBucket":
            break  # what is missing may then be the object
        with pytest.raises(UserError, match=message):
            call()


def test_a_bucket_that_is_not_there(fakes, bucket):
    store = ResultsStore("s3://nobody/results")
    for call in (store.listing, store.require_writable, store.claims, lambda: store.claim("model", "benchmark")):
        with pytest.raises(
            StoreError, match=r"(?s)s3://nobody/results.*404 NoSuchBucket.*check the name of the bucket nobody"
        ):
            call()


def test_a_server_that_is_not_there(fakes, bucket, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(downloads, "ATTEMPTS", 1)
    with pytest.raises(StoreError, match=r"(?s)cannot write s3://lab/our/results/.*check the connection"):
        ResultsStore(ADDRESS).require_writable()


def test_a_server_without_conditional_writes(fakes, bucket, monkeypatch):
    refuse(monkeypatch, bucket, answer(501, "NotImplemented"), only="put_object")
    with pytest.raises(StoreError, match="supports conditional writes"):
        ResultsStore(ADDRESS).write(fakes.receipt())


def test_a_name_that_is_no_bucket(fakes, bucket):
    with pytest.raises(StoreError, match=r"(?s)Invalid bucket name.*write s3://bucket/folder"):
        ResultsStore("s3://no bucket/results").require_writable()


def test_without_boto3(fakes, s3_server, monkeypatch):
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(UserError, match=r"brainscore\[s3\]"):
        ResultsStore(ADDRESS).listing()
    with pytest.raises(UserError, match=r"brainscore\[s3\]"):
        ResultsStore(ADDRESS).write(fakes.receipt())


def test_a_writable_bucket_is_asked_once(bucket, monkeypatch):
    store = ResultsStore(ADDRESS)
    store.require_writable()
    refuse(monkeypatch, bucket, answer(500, "InternalError"))
    store.require_writable()


def test_addresses_of_objects():
    bucket = Bucket("s3://lab/our/results/")
    assert (bucket.name, bucket.address) == ("lab", "s3://lab/our/results")
    assert bucket.address_of("a/b.json") == "s3://lab/our/results/a/b.json"
