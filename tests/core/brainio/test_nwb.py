"""NWB files, written by pynwb, become assemblies of spike counts and rates."""

import copy
import datetime
import http.server
import threading

import numpy as np
import pytest

from brainscore_core.errors import DataUnavailable, UserError
from brainscore_core.supported_data_standards.brainio import nwb
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.findings import ValidationError, ValidationWarning
from brainscore_core.supported_data_standards.brainio.netcdf import read_netcdf
from brainscore_core.supported_data_standards.brainio.nwb import from_nwb
from brainscore_core.supported_data_standards.brainio.packaging import package_data_assembly_locally
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

h5py = pytest.importorskip("h5py", reason="needs pynwb: pip install 'brainscore[nwb]'")
pynwb = pytest.importorskip("pynwb", reason="needs pynwb: pip install 'brainscore[nwb]'")

BINS = [(0, 50), (50, 70), (70, 170), (-100, 0), (60, 160)]
N_TRIALS = 40


class Recording:
    """Contents of a file, kept apart from it."""

    def __init__(self):
        rng = np.random.default_rng(0)
        self.onsets = 1 + 0.4 * np.arange(N_TRIALS) + rng.uniform(0, 0.1, N_TRIALS)
        self.images = rng.permutation(np.repeat([f"img_{n}" for n in range(10)], 4)).astype(object)
        self.spikes = [np.sort(rng.uniform(0, 20, n)) for n in (400, 0, 900, 30)]
        # a spike exactly at the start of a bin belongs to it, one at its end does not
        self.spikes[3] = np.sort([*self.spikes[3], self.onsets[0], self.onsets[1] + 0.05])


def write(path, recording, *, observed=None, images=None, **more):
    file = pynwb.NWBFile(
        session_description="test",
        identifier="a-file",
        session_start_time=datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
        session_id="s1",
    )
    file.subject = pynwb.file.Subject(subject_id="monkey_A", species="Macaca mulatta")
    device = file.create_device("array")
    group = file.create_electrode_group("group", description="d", location="cortex", device=device)
    for location in ("V4", "IT", "IT"):
        file.add_electrode(location=location, group=group)
    file.add_unit_column("quality", "how well isolated")
    file.add_unit_column("places", "several numbers", index=True)
    for number, spikes in enumerate(recording.spikes):
        window = {} if observed is None else {"obs_intervals": observed[number]}
        electrodes = [[0], [0], [1], [0, 2]][number]
        file.add_unit(
            id=10 + number, spike_times=spikes, electrodes=electrodes, quality="good", places=[1, 2], **window
        )
    file.add_trial_column("image", "the stimulus")
    file.add_trial_column("onset", "when it came on")
    file.add_trial_column("delay", "seconds from the start of the trial to the onset")
    file.add_trial_column("kind", "the same at each showing")
    file.add_trial_column("region", "of the picture")
    file.add_trial_column("task", "not the same at each showing")
    file.add_trial_column("weights", "several numbers", index=True)
    images = recording.images if images is None else images
    for number, (image, onset) in enumerate(zip(images, recording.onsets, strict=True)):
        known = {
            "kind": str(image)[-1:],
            "region": str(image),
            "task": "attend" if number % 3 else "ignore",
            "weights": [1.0],
        }
        file.add_trial(
            start_time=onset - 0.2,
            stop_time=onset + 0.2,
            image=image,
            onset=onset,
            delay=0.2 + number % 2 / 10,
            **known,
        )
    with pynwb.NWBHDF5IO(path, "w") as output:
        output.write(file)
    return path


@pytest.fixture(scope="module")
def recording():
    return Recording()


@pytest.fixture(scope="module")
def path(recording, tmp_path_factory):
    return write(tmp_path_factory.mktemp("nwb") / "sub-1_ecephys.nwb", recording)


NAMED = {"stimulus": "image", "align": "onset", "time_bins": BINS}


def test_counts_are_those_of_histograms(path, recording):
    with pytest.warns(ValidationWarning, match=r"dropped 1 unit \(11\): no spikes"):
        counts = from_nwb(path, **NAMED, values="count")
    assert counts.dims == ("presentation", "neuroid", "time_bin")
    assert counts.attrs["unit"] == "spikes"
    for place, spikes in enumerate(spikes for spikes in recording.spikes if len(spikes)):
        for trial, onset in enumerate(recording.onsets):
            for number, (start, end) in enumerate(BINS):
                # the last bin of a histogram includes its end, so another one follows
                edges = [onset + start / 1000, onset + end / 1000, np.inf]
                assert counts.values[trial, place, number] == np.histogram(spikes, edges)[0][0]
    assert counts.values[0, 2, 0] == counts.values[1, 2, 1] == 1
    assert counts["neuroid_id"].values.tolist() == ["s1-10", "s1-12", "s1-13"]
    assert counts["region"].values.tolist() == ["V4", "IT", "IT/V4"]
    assert counts["trial_region"].values.tolist() == recording.images.tolist()
    assert set(counts["animal"].values) == {"monkey_A"}
    assert counts["stimulus_id"].values.tolist() == recording.images.tolist()
    assert counts["time_bin_start"].values.tolist() == [start for start, _ in BINS]
    for image in set(recording.images):
        assert counts["repetition"].values[recording.images == image].tolist() == [0, 1, 2, 3]
    report = str(counts.attrs["import_report"])
    assert "40 of 40 trials, 3 of 4 units imported" in report
    assert "trial column (weights): more than a number or a text" in report
    assert "unit column (places): more than a number or a text" in report


@pytest.mark.filterwarnings("ignore::brainscore_core.supported_data_standards.brainio.findings.ValidationWarning")
class TestImport:
    def test_rates_are_packaged_and_read_back(self, path, tmp_path):
        rates, counts = from_nwb(path, **NAMED, identifier="Lab2026"), from_nwb(path, **NAMED, values="count")
        widths = np.array([end - start for start, end in BINS]) / 1000
        assert np.allclose(rates.values * widths, counts.values)
        package = package_data_assembly_locally(rates, "Lab2026", None, "NeuroidAssembly", tmp_path)
        loaded = read_netcdf(package["path"], NeuroidAssembly)
        assert np.array_equal(loaded.values, rates.values)
        for name in ("stimulus_id", "repetition", "kind", "neuroid_id", "region", "quality", "time_bin_end"):
            assert np.array_equal(loaded[name].values, rates[name].values)
        assert loaded.attrs["unit"] == "spikes/s"

    def test_repetitions_average(self, path, recording):
        from brainscore_vision import load_ceiling
        from brainscore_vision.benchmark_helpers.neural_common import average_repetition

        rates = from_nwb(path, **NAMED)
        assert {"start_time", "onset", "task"}.isdisjoint(rates.coords)
        assert average_repetition(rates).sizes["presentation"] == 10
        first = rates.isel(time_bin=0, drop=True)
        assert load_ceiling("internal_consistency")(first).attrs["raw"].sizes["neuroid"] == 3

    def test_columns_that_differ_between_showings_are_kept_on_request(self, path, recording):
        rates = from_nwb(path, **NAMED, keep=["task"])
        for task in ("attend", "ignore"):
            selected = rates.sel(task=task)
            for image in set(recording.images):
                of_image = selected["repetition"].values[selected["stimulus_id"].values == image]
                assert of_image.tolist() == list(range(len(of_image)))

    def test_trials_without_stimulus_are_dropped(self, recording, tmp_path):
        images = [str(image) for image in recording.images]
        images[3] = ""
        found = from_nwb(write(tmp_path / "a.nwb", recording, images=images), **NAMED)
        assert found.sizes["presentation"] == N_TRIALS - 1
        assert "dropped 1 trial (3): the stimulus (image) is missing" in str(found.attrs["import_report"])

    def test_numbers_of_stimuli_become_text(self, recording, tmp_path):
        images = [float(image[4:]) for image in recording.images]
        found = from_nwb(write(tmp_path / "a.nwb", recording, images=images), **NAMED)
        assert set(found["stimulus_id"].values) == {str(number) for number in range(10)}

    def test_trials_that_a_unit_was_not_observed_in_are_missing(self, recording, tmp_path):
        all_time, first_half = [[0.0, 30.0]], [[0.0, 9.0]]
        file = write(tmp_path / "a.nwb", recording, observed=[all_time, all_time, first_half, all_time])
        found = from_nwb(file, **NAMED)
        late = recording.onsets + 0.05 > 9
        assert np.isnan(found.values[late, 1, 0]).all()
        assert not np.isnan(found.values[:, [0, 2]]).any()
        assert np.array_equal(np.isnan(found.values[:, 1, 0]), late)
        assert "not observed" in found.attrs["nan_allowed"]

    @pytest.mark.parametrize(
        ("intervals", "gap"),
        [
            ([[0.0, 9.0], [9.0, 30.0]], None),
            ([[0.0, 9.0 - 1e-9], [9.0, 30.0]], None),
            ([[0.0, 12.0], [3.0, 4.0], [9.0, 30.0]], None),
            ([[9.0, 30.0], [0.0, 9.0]], None),
            ([[0.0, 9.0], [9.002, 30.0]], (9.0, 9.002)),
            ([[0.0, 30.0], [20.0, 9.0]], None),
        ],
    )
    def test_a_unit_is_observed_in_the_union_of_its_intervals(self, recording, tmp_path, intervals, gap):
        rates = from_nwb(write(tmp_path / "a.nwb", recording, observed=[intervals] * 4), **NAMED)
        first, last = gap or (np.inf, np.inf)
        starts, ends = (recording.onsets[:, None] + np.array(BINS)[:, side] / 1000 for side in (0, 1))
        assert np.array_equal(np.isnan(rates.values[:, 0]), (starts < last) & (ends > first))
        assert ("dropped 3 intervals" in str(rates.attrs["import_report"])) == ([20.0, 9.0] in intervals)

    def test_times_that_do_not_fit_are_refused_or_reported(self, recording, tmp_path):
        wrong = copy.copy(recording)
        for change in (lambda times: times * 1000 + 40, lambda times: times + 1.7e9, lambda times: times / 1000):
            wrong.spikes = [change(times) for times in recording.spikes]
            with pytest.raises(
                UserError, match=r"no spike of .*: spikes are from .* s, bins of trials from .* s\ntimes"
            ):
                from_nwb(write(tmp_path / "a.nwb", wrong), **NAMED)
        wrong.spikes = [times[times < 3] for times in recording.spikes]
        with pytest.warns(ValidationWarning, match=r"of 40 trials are before or after all spikes"):
            from_nwb(write(tmp_path / "a.nwb", wrong), **NAMED)
        with pytest.warns(ValidationWarning, match=r"bins of 40 of 40 trials exceed the spikes; are they ms\?"):
            from_nwb(write(tmp_path / "a.nwb", recording), **{**NAMED, "time_bins": [(70, 170e3)]})

    def test_times_from_the_start_of_each_trial_are_reported(self, path, recording, tmp_path):
        with pytest.warns(ValidationWarning, match=r"\(delay\): outside of 40 of 40 trials; times are seconds on the"):
            from_nwb(path, **{**NAMED, "align": "delay"})
        wrong = copy.copy(recording)
        wrong.onsets, wrong.spikes = np.ones(N_TRIALS), [times[::-1] for times in recording.spikes]
        with pytest.warns(ValidationWarning, match=r"\(onset\): the same in all .*\(spikes of 10, .*: not in order"):
            from_nwb(write(tmp_path / "a.nwb", wrong), **NAMED)

    def test_marks_of_missing_values(self, recording, tmp_path):
        images = [str(image) for image in recording.images]
        images[:4] = ["n/a", "nan", "NA", " "]
        rates = from_nwb(
            write(tmp_path / "a.nwb", recording, images=images), **NAMED, missing={"task": ["ignore"]}, keep=["task"]
        )
        assert rates["stimulus_id"].values[:2].tolist() == ["nan", "NA"]
        report = str(rates.attrs["import_report"])
        assert "converted 2 values (image: 1 × 'n/a', 1 × empty): missing" in report
        assert "dropped 2 trials (0, 3): the stimulus (image) is missing" in report
        assert set(rates["task"].values[rates["task"].notnull()]) == {"attend"}

    def test_irregular_units_are_reported(self, recording, tmp_path):
        file = pynwb.NWBFile("test", "a-file", datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC))
        group = file.create_electrode_group("group", description="d", location="V4", device=file.create_device("array"))
        file.add_electrode(location="V4", group=group)
        file.add_trial_column("image", "the stimulus")
        file.add_trial(start_time=1.0, stop_time=2.0, image="a")
        file.add_unit(id=3, spike_times=np.array([1.3, np.nan, 1.1]), electrodes=[0])  # not sorted
        file.add_unit(id=3, spike_times=[1.1], electrodes=[])
        with pynwb.NWBHDF5IO(tmp_path / "a.nwb", "w") as output:
            output.write(file)
        counts = from_nwb(tmp_path / "a.nwb", stimulus="image", time_bins=[(0, 200), (200, 400)], values="count")
        assert counts.values[0].tolist() == [[1, 1], [1, 0]]
        assert counts["neuroid_id"].values.tolist() == ["a-file-0", "a-file-1"]
        assert counts["region"].values.tolist() == ["V4", ""]
        report = str(counts.attrs["import_report"])
        assert "dropped 1 spike (of 3): the time is not a finite number" in report
        assert "converted 2 units (3, 3): ids are not unique" in report
        assert "noticed 1 unit (3): no electrodes" in report

    def test_region_of_units_that_name_a_group_of_electrodes(self, tmp_path):
        file = pynwb.NWBFile("test", "a-file", datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC))
        group = file.create_electrode_group("group", description="d", location="V4", device=file.create_device("array"))
        file.add_trial_column("image", "the stimulus")
        file.add_trial(start_time=1.0, stop_time=2.0, image="a")
        file.add_unit(spike_times=[1.1], electrode_group=group)
        with pynwb.NWBHDF5IO(tmp_path / "a.nwb", "w") as output:
            output.write(file)
        found = from_nwb(tmp_path / "a.nwb", stimulus="image", time_bins=[(0, 200)])
        assert found["region"].values.tolist() == ["V4"]

    def test_region_from_a_column_of_units(self, path):
        assert set(from_nwb(path, **NAMED, region="quality")["region"].values) == {"good"}

    def test_stimulus_set_is_compared(self, path):
        stimuli = StimulusSet({"stimulus_id": [f"img_{n}" for n in range(10)]})
        stimuli.identifier = "Images2026"
        assert from_nwb(path, **NAMED, stimulus_set=stimuli).stimulus_set is stimuli
        with pytest.raises(ValidationError, match="'img_9'"):
            from_nwb(path, **NAMED, stimulus_set=stimuli[:9])

    def test_files_are_read_in_parts_through_http(self, path, monkeypatch):
        pytest.importorskip("remfile")
        local = from_nwb(path, **NAMED)
        with serve(path) as (address, requests):
            assert from_nwb(f"{address}/file.nwb", **NAMED).equals(local)
            assert requests
            assert all(request.startswith("bytes=") for _, request in requests if request)
            monkeypatch.setattr(nwb, "DANDI_API", f"{address}/api")
            assert from_nwb("dandi:000123/sub-1/a.nwb", **NAMED).equals(local)
            with pytest.raises(UserError, match=r"has no file 'sub-1/b.nwb'\nit has sub-1/a.nwb"):
                from_nwb("dandi:000123/sub-1/b.nwb", **NAMED)
        with pytest.raises(DataUnavailable, match="cannot read http"):
            from_nwb(f"{address}/file.nwb", **NAMED)


class serve:
    """A server on this machine that answers requests for ranges, and as the archive's API does."""

    def __init__(self, path):
        content, self.requests = path.read_bytes(), []
        log = self.requests

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                log.append((self.path, self.headers.get("Range")))
                if "/versions/draft/assets/" in self.path:
                    return self.answer(200, b'{"results": [{"path": "sub-1/a.nwb", "asset_id": "x"}]}')
                if self.path.startswith("/api/assets/x/download"):
                    self.send_response(302)
                    self.send_header("Location", "/file.nwb")
                    return self.end_headers()
                first, _, last = (self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").partition("-")
                part = content[int(first) : int(last) + 1 if last else None]
                span = f"bytes {first}-{int(first) + len(part) - 1}/{len(content)}"
                return self.answer(206 if self.headers.get("Range") else 200, part, span)

            do_HEAD = do_GET

            def answer(self, status, body, span=None):
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Accept-Ranges", "bytes")
                if span:
                    self.send_header("Content-Range", span)
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_address[1]}", self.requests

    def __exit__(self, *exception):
        self.server.shutdown()
        self.server.server_close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"stimulus": "imaeg"}, r"table 'trials' of .*no column 'imaeg'\ndid you mean 'image'"),
        ({"align": "stimulus"}, "no column 'stimulus'"),
        ({"stimulus": "weights"}, "'weights' has no single value per row"),
        ({"keep": ["tesk"]}, r"no column 'tesk'\ndid you mean 'task'"),
        ({"trials": "natural_scenes"}, r"no table of trials 'natural_scenes'\n.*time intervals are trials"),
        ({"region": "aera"}, "the units and electrodes of .* has no column 'aera'"),
        ({"time_bins": [(170, 70)]}, r"\(170.0, 70.0\) does not end after it starts"),
        ({"time_bins": [(0.07, 0.17)]}, "pass milliseconds"),
        ({"time_bins": (70, 170)}, "are not time bins"),
        ({"values": "hertz"}, "use 'rate' or 'count'"),
    ],
)
def test_wrong_arguments(path, arguments, message):
    with pytest.raises(UserError, match=message):
        from_nwb(path, **{**NAMED, **arguments})


def test_other_files(tmp_path):
    (tmp_path / "a.nwb").write_text("text")
    with pytest.raises(UserError, match=r"cannot read .* as an NWB file"):
        from_nwb(tmp_path / "a.nwb", **NAMED)
    with pytest.raises(UserError, match="does not exist"):
        from_nwb(tmp_path / "b.nwb", **NAMED)
    with pytest.raises(UserError, match="dandi:000123/"):
        from_nwb("dandi:here", **NAMED)
    with h5py.File(tmp_path / "a.nwb", "w") as file:
        file["units"] = h5py.ExternalLink("b.nwb", "/units")
    with pytest.raises(UserError, match="reads other files: /units is a link"):
        from_nwb(tmp_path / "a.nwb", **NAMED)
