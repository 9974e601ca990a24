"""Subjects in containers, behind services, in tables and packages; masked models; the localizer."""

import http.server
import json
import stat
import threading

import numpy as np
import pandas as pd
import pytest

from brainscore_core.errors import NotApplicable, UserError
from brainscore_language import load_dataset, load_model
from brainscore_language.model_helpers.container import ContainerSubject
from brainscore_language.model_helpers.reading import RecordedSubject
from brainscore_language.model_helpers.service import ServiceSubject
from brainscore_language.models.glove import model as glove
from brainscore_language.models.oasm.model import OASMSubject
from brainscore_language.models.trigram.model import TrigramSubject

PROGRAM = """#!/bin/sh
# stands in for docker: pull succeeds; run IMAGE COMMAND answers
[ "$1" = pull ] && exit 0
[ "$2" = bad ] && { echo "no such model" >&2; exit 3; }
case "$3" in
  *"--measure next-word"*) echo '{"measure": "fox"}' ;;
  *"--measure token-logits"*) echo '{"measure": [[0, 0, 0, 0], [0, 0, 0, 0]], "tokens": [1, 2]}' ;;
  *"--text 'it'\\"'\\"'s over'"*) echo '{"measure": [[1, 2, 3]]}' ;;
  *) echo '{"measure": [[4, 5, 6]]}' ;;
esac
"""


@pytest.fixture
def docker(tmp_path, monkeypatch):
    program = tmp_path / "docker"
    program.write_text(PROGRAM)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")


def test_a_container_answers_a_call_a_part(docker):
    subject = ContainerSubject("me/net:1", "python -m net", "net", {"language_system": "lstm"})
    subject.start_behavioral_task("reading_times")
    subject.start_neural_recording("language_system", "fMRI")
    answer = subject.digest_text(["the fox", "it's over"])
    assert answer["behavior"].values.tolist() == [4.0, 4.0]  # two tokens of four equally likely ones
    assert answer["neural"].values.tolist() == [[4, 5, 6], [1, 2, 3]]
    assert answer["neural"]["region"].values.tolist() == ["language_system"] * 3
    subject.start_behavioral_task("next_word")
    assert subject.digest_text("the")["behavior"].values.tolist() == ["fox"]


def test_what_a_container_fails_with_is_shown(docker, monkeypatch):
    subject = ContainerSubject("bad", "python", "net", {"language_system": "lstm"})
    subject.start_behavioral_task("next_word")
    with pytest.raises(UserError, match="run of bad failed: no such model"):
        subject.digest_text("the")
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(UserError, match="neither docker nor singularity is installed"):
        load_model("rnn-lm-ptb")


class Service(http.server.BaseHTTPRequestHandler):
    def do_POST(self):  # of the base class
        content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.headers["Authorization"], content))
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        words = content["prompt"].split(" ")
        offsets = np.cumsum([0, *(len(word) + 1 for word in words[:-1])]) - [0, *[1] * (len(words) - 1)]
        logs = [None, *(-np.log(2) * len(word) for word in words[1:])]
        answer = {"choices": [{"logprobs": {"text_offset": offsets.tolist(), "token_logprobs": logs}}]}
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def service(monkeypatch):
    monkeypatch.setenv("SERVICE_KEY", "secret")
    monkeypatch.setattr("time.sleep", lambda _: None)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
    server.asked, server.statuses = [], []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def ask(server, **options):
    return ServiceSubject(
        "far", "net-1", f"http://127.0.0.1:{server.server_port}/v1", key_variable="SERVICE_KEY", **options
    )


def test_a_service_is_asked_once_a_text_and_again_when_busy(service):
    service.statuses = [429, 503]
    subject = ask(service)
    subject.start_behavioral_task("reading_times")
    times = subject.digest_text(["the", "quick brown", "", "fox"])["behavior"].values
    np.testing.assert_allclose(times, [np.nan, 10, 0, 3])
    assert len(service.asked) == 3
    key, content = service.asked[-1]
    assert key == "Bearer secret"
    assert content == {"model": "net-1", "prompt": "the quick brown fox", "max_tokens": 0, "echo": True, "logprobs": 0}


def test_failures_of_a_service_are_named(service, monkeypatch):
    with pytest.raises(UserError, match="19 characters; far reads at most 5"):
        ask(service, max_characters=5).digest_text("the quick brown fox")
    for status, match in ((401, "failed: 401"), (302, "failed: 302")):  # the key goes nowhere else
        service.asked, service.statuses = [], [status]
        with pytest.raises(UserError, match=match):
            ask(service).digest_text("the fox")
        assert len(service.asked) == 1
    monkeypatch.delenv("SERVICE_KEY")
    with pytest.raises(UserError, match="far needs a key"):
        ask(service)
    with pytest.raises(NotApplicable, match="no units"):
        ServiceSubject("far", "net-1", "https://example.org").start_neural_recording("language_system", "fMRI")


def test_recorded_responses():
    subject = RecordedSubject("table", {}, texts="one sentence", responses={("the", "fox"): [[1, 2], [3, 4]]})
    subject.start_neural_recording("language_system", "fMRI")
    answer = subject.digest_text(["the", "fox"])
    assert answer["neural"].values.tolist() == [[1, 2], [3, 4]]
    assert answer["behavior"] is None
    with pytest.raises(NotApplicable, match="has not read this text: it read one sentence"):
        subject.digest_text("fox")
    with pytest.raises(NotApplicable, match="no times were recorded"):
        subject.start_behavioral_task("reading_times")


def test_neighbours_of_a_text_respond_alike():
    subject = OASMSubject("oasm", sigma=1.0, max_features=5)
    subject.start_neural_recording("language_system", "fMRI")
    first, second = (subject.digest_text(text)["neural"].values for text in (["a", "b", "c"], ["d"]))
    assert first[0, 1] > first[0, 2] > 0
    assert (first[:, 3:] == 0).all()
    assert second.tolist() == [[0, 0, 0, 1, 0]]
    with pytest.raises(ValueError, match="max_features=5"):
        subject.digest_text(["e", "f"])


def test_a_trigram_starts_each_sentence_anew():
    histories = []
    subject = TrigramSubject("trigram", lambda word, before: histories.append((word, before)) or 1.0)
    assert subject.digest_text(["The fox's", "— den.", "It"])["behavior"].values.tolist() == [2, 1, 1]
    assert histories == [("the", ["<s>"]), ("fox's", ["the", "<s>"]), ("den", ["fox's", "the"]), ("it", ["<s>"])]


@pytest.mark.parametrize(
    ("identifier", "module"), [("trigram", "pocketsphinx"), ("word-frequency", "wordfreq"), ("glove-840b", "gensim")]
)
def test_a_missing_package_is_named(identifier, module, monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, module, None)
    monkeypatch.setattr(glove, "_text", lambda name: tmp_path)
    with pytest.raises(UserError) as raised:
        load_model(identifier)
    assert raised.value.remedy == f"pip install {module}"


def test_vectors_of_a_package(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    np.save(tmp_path / "glove_6B_50d_emb.npy", np.eye(2, 3))
    pd.DataFrame({"index": ["the", "fox"]}).to_parquet(tmp_path / "glove_6B_index.parquet")
    monkeypatch.setattr(glove, "_package_files", lambda: {path.name: path for path in tmp_path.iterdir()})
    subject = load_model("glove-6b-50d")
    subject.start_neural_recording("language_system", "fMRI")
    assert subject.digest_text(["The fox", "zebra"])["neural"].values.tolist() == [[0.5, 0.5, 0], [0, 0, 0]]


def test_stimuli_of_the_localizer(mirror):
    data = load_dataset("Fedorenko2010.localization")
    assert data["stim14"].value_counts().to_dict() == {"S": 240, "N": 240}
    assert {len(text.split()) for text in data["sent"]} == {12}
    assert (data["sent"] == data["sent"].str.lower()).all()
