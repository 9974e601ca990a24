"""What tests do is read from their source."""

import textwrap

import pytest

from brainscore_core.plugins.declared_tests import read_tests


@pytest.fixture
def read(tmp_path):
    def run(source, name="test.py"):
        (tmp_path / name).write_text(textwrap.dedent(source))
        return read_tests(tmp_path)

    return run


def test_none(tmp_path):
    assert read_tests(tmp_path) is None
    assert read_tests(tmp_path / "nonesuch") is None


def test_a_class_of_tests_as_the_tutorial_shows(read):
    found = read("""
        import pytest
        from brainscore_vision import load_benchmark

        @pytest.mark.private_access
        class TestMine:
            def test_benchmark_loads(self):
                assert load_benchmark('Mine2024-accuracy').identifier == 'Mine2024-accuracy'

            def test_ceiling_valid(self):
                assert 0 < load_benchmark('Mine2024-accuracy').ceiling <= 1

            def test_benchmark_runs(self):
                benchmark = load_benchmark('Mine2024-accuracy')
                score = benchmark(load_model('alexnet'))
                assert score == 0.212
        """)
    assert found == (3, {"benchmark", "model"}, True, True, True, True)


def test_helpers_fixtures_and_parameters_count(read):
    found = read("""
        import pytest
        from brainscore_vision import load_benchmark

        EXPECTED = {'V4': 0.9, 'IT': 0.82}

        @pytest.fixture
        def loaded():
            return load_benchmark('Mine2024-accuracy')

        def ceiling_of(one):
            return one.ceiling

        def test_ceiling(loaded):
            assert ceiling_of(loaded) == pytest.approx(EXPECTED['IT'], abs=.01)

        @pytest.mark.parametrize('model, expected', [('alexnet', pytest.approx(.417, abs=.001))])
        def test_score(model, expected):
            assert score(model_identifier=model, benchmark_identifier='Mine2024-accuracy') == expected
        """)
    assert found == (2, {"benchmark"}, True, True, True, True)


def test_the_helper_class_of_standard_tests(read):
    found = read("""
        standardized_tests = StandardizedTests()

        @pytest.mark.parametrize('benchmark, expected', [('Mine.IT-pls', .82)])
        def test_ceilings(benchmark, expected):
            standardized_tests.ceilings_test(benchmark, expected)
        """)
    assert found is not None
    assert found.ceiling
    assert found.reference


@pytest.mark.parametrize("compared", ["0", "1.0", "other", "pytest.approx(other, abs=0.01)"])
def test_what_any_score_may_be_is_no_reference(read, compared):
    found = read(f"def test_it():\n    assert load_metric('mine')(a, b) == {compared}\n")
    assert found.loads == {"metric"}
    assert not found.reference


def test_a_number_counts_for_the_score_only_where_the_benchmark_runs(read):
    found = read("""
        def test_ceiling():
            assert load_benchmark('Mine2024-accuracy').ceiling == 0.5

        def test_runs():
            assert load_benchmark('Mine2024-accuracy')(model) == 1
        """)
    assert (found.runs, found.reference, found.score) == (True, True, False)


def test_a_file_that_cannot_be_parsed(read):
    with pytest.raises(SyntaxError):
        read("def test_(:\n")


def test_other_files_of_tests(read):
    assert read("def test_one(): load_dataset('Mine')", name="test_more.py").loads == {"data"}
