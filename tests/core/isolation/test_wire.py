"""Messages over a socket: files travel along, and noise is told from messages."""

import json
import os
import socket
import tempfile
import threading
import time
from contextlib import nullcontext, suppress
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainscore_core.isolation.values import LARGE, Decoder, Encoder
from brainscore_core.isolation.wire import Channel, Closed, Limits, WireError, _copy, anonymous_file, seal

needs_seals = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="this system has no sealed files")


@pytest.fixture
def pair():
    """A raw end to misbehave with, and a channel that listens."""
    raw, other = socket.socketpair()
    channel = Channel(other, limits=Limits(line=10_000, inline=100_000, files=1 << 30, payloads=20, descriptors=5))
    yield raw, channel
    raw.close()
    channel.close()


def receive(channel, within=5.0):
    return channel.receive(deadline=time.monotonic() + within)


def line(payloads=(), body=None):
    return json.dumps({"body": body, "payloads": list(payloads)}).encode() + b"\n"


def open_files():
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


def over_the_wire(value, **options):
    one, other = socket.socketpair()
    sender, receiver = Channel(one), Channel(other)
    encoder = Encoder(**options)
    body = encoder.encode(value)
    thread = threading.Thread(target=sender.send, args=(body, encoder.payloads))
    thread.start()
    try:
        received, payloads = receive(receiver)
    finally:
        thread.join()
        encoder.close()
        sender.close()
        receiver.close()
    return Decoder(payloads).decode(received)


def test_messages_in_turn(pair):
    raw, channel = pair
    raw.sendall(line(body=[1]) + line([["inline", 3]], body="b") + b"xyz")
    assert receive(channel) == ([1], [])
    assert receive(channel) == ("b", [b"xyz"])


@pytest.mark.parametrize("memory", [1 << 40, 0], ids=["in memory", "on disk"])
def test_large_arrays_travel_in_files(memory):
    array = np.random.default_rng(0).standard_normal(LARGE // 4)
    before = open_files()
    back = over_the_wire([array, np.arange(3)], memory=memory)
    np.testing.assert_array_equal(back[0], array)
    back[0][:5] = 0  # this process's own copy of the page
    assert back[0][5] == array[5]
    del back
    assert open_files() == before


def test_nothing_has_a_name(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    encoder = Encoder(memory=0)
    encoder.encode(np.zeros(LARGE))
    assert list(tmp_path.iterdir()) == []
    encoder.close()


@needs_seals
def test_files_in_memory_cannot_be_changed_any_more():
    encoder = Encoder()
    encoder.encode(np.zeros(LARGE))
    (file,) = encoder.payloads
    with pytest.raises(PermissionError):
        os.write(file, b"x")
    with pytest.raises(PermissionError):
        os.ftruncate(file, 10)
    encoder.close()


def hand_over(raw, *files):
    socket.send_fds(raw, [b"F"], files)


def test_a_file_that_is_shortened_later_harms_nobody(pair):
    raw, channel = pair
    with tempfile.TemporaryFile() as file:
        file.write(b"x" * 100_000)
        file.flush()
        raw.sendall(line([["file", 100_000]]))
        hand_over(raw, file.fileno())
        _, (payload,) = receive(channel)
        file.truncate(0)
        assert payload[99_999:] == b"x"


def test_a_copy_must_leave_room(pair, monkeypatch):
    raw, channel = pair
    for room, refused in ((100_000, True), (200_000, False)):
        monkeypatch.setattr(os, "statvfs", lambda folder, room=room: SimpleNamespace(f_bavail=room // 10, f_frsize=10))
        with tempfile.TemporaryFile() as file:
            file.write(b"x" * 100_000)
            file.flush()
            raw.sendall(line([["file", 100_000]]))
            hand_over(raw, file.fileno())
            with pytest.raises(WireError, match="more than half of the space") if refused else nullcontext():
                assert receive(channel)[1][0][-1:] == b"x"


def test_holes_stay_holes_in_a_copy():
    size = (32 << 20) + 5
    with tempfile.TemporaryFile() as file, tempfile.TemporaryFile() as copied:
        file.truncate(size)
        for place in (0, 20 << 20, size - 1):
            os.pwrite(file.fileno(), b"x", place)
        _copy(file.fileno(), copied.fileno(), size)
        file.seek(0)
        copied.seek(0)
        assert file.read() == copied.read()
        assert os.fstat(copied.fileno()).st_blocks * 512 < 8 << 20


@needs_seals
def test_a_file_in_memory_with_holes_is_refused(pair):
    raw, channel = pair
    file = anonymous_file(1 << 28, memory=1 << 40)
    os.ftruncate(file, 1 << 28)
    seal(file)
    raw.sendall(line([["file", 1 << 28]]))
    hand_over(raw, file)
    os.close(file)
    with pytest.raises(WireError, match="holes"):
        receive(channel)


@pytest.mark.parametrize(
    ("announced", "make"),
    [
        (10, lambda: os.open(os.devnull, os.O_RDONLY)),
        (10, lambda: os.pipe()[0]),
        (10, lambda: os.open("/", os.O_RDONLY)),
        (10, lambda: anonymous_file(10, memory=0)),
    ],
    ids=["device", "pipe", "folder", "other size"],
)
def test_what_is_no_file_of_that_size_is_refused(pair, announced, make):
    raw, channel = pair
    file = make()
    raw.sendall(line([["file", announced]]))
    hand_over(raw, file)
    os.close(file)
    with pytest.raises(WireError):
        receive(channel)


@pytest.mark.parametrize(
    "noise",
    [
        b"hello\n",
        b"\xff\xfe\n",
        b"[]\n",
        b'{"body": 1}\n',
        b'{"body": 1, "payloads": [], "more": 1}\n',
        line([["inline", -1]]),
        line([["inline", True]]),
        line([["inline", 1.0]]),
        line([["file", 10]]) + b"Fxxxxxxxxxx",
        line([["link", 10]]),
        line([["inline"]]),
        line([["inline", 200_000]]),
        line([["file", 1 << 40]]),
        line([["inline", 0]] * 21),
        line([["file", 0]] * 6),
        b"[" * 9_000 + b"\n",
        b"x" * 20_000,
        b"9" * 9_000 + b"\n",
    ],
)
def test_noise_is_refused(pair, noise):
    raw, channel = pair
    raw.sendall(noise)
    with pytest.raises(WireError):
        receive(channel)


def test_files_that_nobody_asked_for_are_closed(pair):
    raw, channel = pair
    before = open_files()
    with tempfile.TemporaryFile() as file:
        socket.send_fds(raw, [line()], [file.fileno()] * 3)
        with pytest.raises(WireError, match="more files"):
            receive(channel)
        socket.send_fds(raw, [b"x"], [file.fileno()] * 6)
        with pytest.raises(WireError):
            receive(channel)
    assert open_files() == before


def test_silence_and_half_a_message_run_out_of_time(pair):
    raw, channel = pair
    for sent in (b"", b'{"body"', b": 1, "):
        raw.sendall(sent)
        with pytest.raises(TimeoutError):
            receive(channel, within=0.05)
    raw.close()
    with pytest.raises(Closed):
        receive(channel)


def test_nobody_takes_what_is_sent(pair):
    raw, channel = pair
    with pytest.raises(TimeoutError):
        channel.send({}, [bytes(50_000_000)], deadline=time.monotonic() + 0.2)
    raw.close()
    with pytest.raises(Closed):
        channel.send({})


_PIECES = [b"{", b"}", b'"', b"[", b"\n", b"ab", b'"body":', b"1e999", b"F", b"NaN", line(), line([["inline", 2]])]


@given(st.one_of(st.binary(max_size=300), st.lists(st.sampled_from(_PIECES), max_size=12).map(b"".join)))
def test_any_bytes_are_a_message_or_refused(noise):
    raw, other = socket.socketpair()
    channel = Channel(other, limits=Limits(line=500, inline=100, files=100, payloads=4, descriptors=2))
    raw.sendall(noise)
    raw.close()
    try:
        while True:
            body, payloads = channel.receive(deadline=time.monotonic() + 5)
            assert len(payloads) <= 4
            with suppress(WireError):
                Decoder(payloads).decode(body)
    except (Closed, WireError):
        pass
    finally:
        channel.close()
