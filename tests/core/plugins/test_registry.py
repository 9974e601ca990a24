"""The registry as a mapping, and what it says when something is wrong."""

import importlib
import pickle
import sys

import pytest

from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_core.plugins import DuplicateRegistrationError, MissingRequirementError, PluginWarning, Registry
from brainscore_core.provenance import recording


@pytest.fixture
def registry():
    return Registry("model_registry", noun="model", list_command="brainscore list models")


def factory():
    return object()


class TestMapping:
    def test_holds_what_it_is_given(self, registry):
        registry["b"] = factory
        registry["a"] = dict
        assert registry["b"] is factory
        assert list(registry) == ["a", "b"]
        assert len(registry) == 2
        assert "a" in registry
        assert "c" not in registry
        assert 3 not in registry
        assert registry.get("c") is None
        assert registry.pop("a") is dict
        assert list(registry) == ["b"]
        assert repr(registry) == "<Registry model_registry: 1 identifiers>"

    def test_two_registries_are_never_equal(self, registry):
        assert registry != Registry("model_registry", noun="model")
        assert registry == registry
        assert len({registry, Registry("model_registry", noun="model")}) == 2

    @pytest.mark.parametrize("key", ["", "  ", None, 3])
    def test_refuses_what_is_no_identifier(self, registry, key):
        with pytest.raises(UserError, match="identifier"):
            registry[key] = factory

    def test_refuses_a_finished_object(self, registry):
        with pytest.raises(UserError, match=r"model_registry\['a'\] is set to a object") as error:
            registry["a"] = object()
        assert "without calling it" in error.value.remedy

    def test_deleting_the_unknown(self, registry):
        with pytest.raises(UnknownIdentifier):
            del registry["a"]


class TestUnknown:
    def test_nearest_names_and_where_to_list(self, registry):
        for name in ("alexnet", "AlexNet-v2", "resnet50"):
            registry[name] = factory
        with pytest.raises(UnknownIdentifier) as error:
            registry["Alexnt"]
        assert "There is no model 'Alexnt'. Nearest: alexnet, AlexNet-v2." in str(error.value)
        assert "brainscore list models" in str(error.value)
        assert isinstance(error.value, KeyError)

    def test_nothing_near(self, registry):
        registry["a"] = factory
        with pytest.raises(UnknownIdentifier) as error:
            registry["zzzzzz"]
        assert "Nearest" not in str(error.value)

    def test_name_of_another_registry(self, domain):
        domain.write("benchmarks", "b", "benchmark_registry['bench'] = dict")
        with pytest.raises(UnknownIdentifier, match=r"'bench' is registered as a benchmark"):
            domain.models["bench"]

    def test_survives_pickling(self, registry):
        with pytest.raises(UnknownIdentifier) as error:
            registry["a"]
        assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


class TestDuplicates:
    def test_in_one_session(self, registry):
        registry["a"] = factory
        registry["a"] = factory  # the same once more is no conflict
        with pytest.raises(DuplicateRegistrationError) as error:
            registry["a"] = dict
        lines = [word for word in str(error.value).split() if __file__ in word]
        assert len(lines) == 2
        assert lines[0] != lines[1]

    def test_update_names_the_caller(self, registry):
        registry.update(a=factory)
        assert registry.location("a").file == __file__

    def test_in_two_files(self, domain):
        one = domain.write("models", "one", "\nmodel_registry['a'] = dict")
        two = domain.write("models", "two", "model_registry['a'] = list\nmodel_registry['b'] = list")
        with pytest.raises(DuplicateRegistrationError) as error:
            domain.models["a"]
        assert f"{one / '__init__.py'}:3" in str(error.value)
        assert f"{two / '__init__.py'}:2" in str(error.value)
        assert domain.imported() == []
        assert list(domain.models) == ["a", "b"]
        assert [place.line for place in domain.models.locations("a")] == [3, 2]
        assert domain.models["b"] is list  # the collision of one key hides no other

    def test_twice_in_one_file(self, domain):
        domain.write("models", "one", "model_registry['a'] = dict\nmodel_registry['a'] = list")
        with pytest.raises(DuplicateRegistrationError, match=r":2 and in .*:3"):
            domain.models["a"]
        assert domain.models._entries == {}

    def test_by_hand_of_what_a_plugin_has(self, domain):
        domain.write("models", "one", "model_registry['a'] = dict")
        domain.models["a"] = list
        with pytest.raises(DuplicateRegistrationError, match="registered in 2 places"):
            domain.models["a"]

    def test_a_reload_is_none(self, domain):
        folder = domain.write("models", "one", "model_registry['a'] = lambda: 1")
        assert domain.models["a"]() == 1
        module = sys.modules[f"{domain.package}.models.one"]
        (folder / "__init__.py").write_text(
            f"from {domain.package} import model_registry\n\n\nmodel_registry['a'] = lambda: 22"
        )
        importlib.reload(module)
        assert domain.models["a"]() == 22

    def test_a_second_import_is_none(self, domain):
        domain.write("models", "one", "model_registry['a'] = lambda: 1")
        domain.models["a"]
        del sys.modules[f"{domain.package}.models.one"]
        importlib.import_module(f"{domain.package}.models.one")
        assert domain.models["a"]() == 1

    def test_a_cell_of_a_notebook_may_run_again(self, registry):
        scope = {"__name__": "__main__", "registry": registry}
        exec(compile("registry['a'] = lambda: 1", "<cell 1>", "exec"), scope)
        exec(compile("registry['a'] = lambda: 2", "<cell 2>", "exec"), scope)
        assert registry["a"]() == 2

    def test_a_script_may_not(self, registry):
        scope = {"__name__": "__main__", "__file__": "x.py", "registry": registry}
        with pytest.raises(DuplicateRegistrationError, match=r"x\.py:1 and in x\.py:2"):
            exec(compile("registry['a'] = lambda: 1\nregistry['a'] = lambda: 2", "x.py", "exec"), scope)


NOT_BUILT_IN = "is that of .*_PLUGINS .models/{}., not the built-in one"


class TestPrecedence:
    """Of a plugin in the owner's folders over a built-in plugin."""

    @pytest.fixture
    def lab(self, domain, tmp_path, monkeypatch):
        domain.write("models", "pixels", "from .code import f\nmodel_registry['pixels'] = f", code="f = dict")
        domain.write("models", "table", "for key in ('x', 'y'):\n    model_registry[key] = dict")
        monkeypatch.setenv(domain.variable, str(tmp_path / "lab"))
        (tmp_path / "lab" / "models").mkdir(parents=True)
        return tmp_path / "lab"

    def test_of_one_identifier(self, domain, lab, monkeypatch):
        assert domain.models["y"] is dict  # the built-in plugin is loaded before the other one exists
        domain.write("models", "mine", "model_registry['x'] = list", lab)
        domain.index.refresh()
        with recording() as record, pytest.warns(UserWarning, match=NOT_BUILT_IN.format("mine")):
            assert domain.models["x"] is list
        assert [item["kind"] for item in record.items] == ["remark"]
        assert domain.models["y"] is dict
        assert [place.source for place in domain.models.locations("x")] == [domain.variable]
        monkeypatch.delenv(domain.variable)
        assert domain.models["x"] is dict

    @pytest.mark.filterwarnings("ignore:the model 'x' is that of")
    def test_of_the_plugin_that_is_loaded_first(self, domain, lab):
        domain.write("models", "mine", "for key in ['x']:\n    model_registry[key[:]] = list", lab)  # not in the index
        list(domain.models)
        assert domain.models["x"] is list
        assert domain.models["y"] is dict
        assert domain.models["x"] is list

    def test_of_a_folder_of_the_same_name(self, domain, lab, monkeypatch):
        assert domain.models["pixels"] is dict
        folder = domain.write(
            "models", "pixels", f"from {domain.package}.models.pixels.code import f", lab, code="f = list"
        )
        with (folder / "__init__.py").open("a") as file:
            file.write("\nmodel_registry['pixels'] = f\n")
        domain.index.refresh()
        with pytest.warns(UserWarning, match=NOT_BUILT_IN.format("pixels")):
            assert domain.models["pixels"] is list
        monkeypatch.delenv(domain.variable)
        assert domain.models["pixels"] is dict

    def test_is_not_silent_where_the_folder_is_broken(self, domain, lab):
        domain.write("models", "pixels", "model_registry['pixels'] = (", lab)
        with pytest.warns(PluginWarning, match="cannot be read"), pytest.raises(UnknownIdentifier) as error:
            domain.models["pixels"]
        assert f"{domain.folder / 'models' / 'pixels'} has it, but {lab / 'models' / 'pixels'} takes its place" in str(
            error.value
        )
        domain.write("models", "mine", "1 / 0\nmodel_registry['x'] = list", lab)
        domain.index.refresh()
        with pytest.warns(UserWarning, match=NOT_BUILT_IN.format("mine")), pytest.raises(ZeroDivisionError):
            domain.models["x"]

    def test_does_not_hold_between_the_owners_folders(self, domain, lab):
        for name in ("mine", "too"):
            domain.write("models", name, "model_registry['x'] = list", lab)
        with pytest.raises(DuplicateRegistrationError, match=r"models/mine.* and .*models/too"):
            domain.models["x"]

    def test_can_be_turned_off(self, domain, lab, monkeypatch):
        domain.write("models", "mine", "model_registry['x'] = list", lab)
        monkeypatch.setenv(f"{domain.variable}_REPLACE", "0")
        with pytest.raises(DuplicateRegistrationError, match=r"models/table.* and .*models/mine"):
            domain.models["x"]

    def test_a_link_to_a_built_in_folder_is_that_folder(self, domain, lab, recwarn):
        for name in ("pixels", "mine"):
            (lab / "models" / name).symlink_to(domain.folder / "models" / "pixels")
        assert domain.models["pixels"] is dict
        assert domain.models.location("pixels").source == "built in"
        assert not recwarn


class TestLoading:
    def test_imports_the_one_plugin(self, domain):
        for name in "abc":
            domain.write("models", name, f"model_registry['model-{name}'] = lambda: '{name}'")
        assert domain.models.make("model-b") == "b"
        assert domain.imported() == [f"{domain.package}.models.b"]

    def test_listing_imports_nothing(self, domain):
        for name in "abc":
            domain.write("models", name, f"raise SystemError\nmodel_registry['model-{name}'] = dict")
        assert list(domain.models) == ["model-a", "model-b", "model-c"]
        assert len(domain.models) == 3
        assert "model-a" in domain.models
        assert domain.models.location("model-a").line == 3
        assert domain.models.location("model-a").folder == domain.folder / "models" / "a"
        assert domain.imported() == []

    def test_a_plugin_written_later_is_found(self, domain):
        assert "a" not in domain.models
        domain.write("models", "a", "model_registry['a'] = dict")
        assert domain.models["a"] is dict

    def test_failure_leaves_nothing_and_can_be_mended(self, domain):
        domain.write("models", "a", "model_registry['a'] = dict\nbenchmark_registry['b'] = dict\nraise ValueError('x')")
        with pytest.raises(ValueError, match="x") as error:
            domain.models["a"]
        assert f"{domain.package}.models.a" in error.value.__notes__[0]
        assert domain.models._entries == domain.benchmarks._entries == {}
        domain.write("models", "a", "model_registry['a'] = dict")
        assert domain.models["a"] is dict

    def test_a_plugin_that_a_failing_one_uses_stays(self, domain):
        domain.write("models", "good", "model_registry['good'] = dict")
        domain.write("models", "bad", f"import {domain.package}.models.good\nmodel_registry['bad'] = 1 / 0")
        with pytest.raises(ZeroDivisionError):
            domain.models["bad"]
        assert domain.models["good"] is dict

    def test_a_registration_that_is_not_reached(self, domain):
        domain.write("models", "a", "if False:\n    model_registry['a'] = dict")
        with pytest.raises(UserError, match="did not register it"):
            domain.models["a"]

    def test_deleted_stays_deleted_until_registered_again(self, domain):
        domain.write("models", "a", "model_registry['a'] = dict")
        del domain.models["a"]
        assert "a" not in domain.models
        assert list(domain.models) == []
        with pytest.raises(UnknownIdentifier):
            domain.models["a"]

    def test_a_plugin_that_appears_after_a_deletion_is_not_hidden(self, domain):
        domain.models["a"] = list
        del domain.models["a"]
        assert "a" not in domain.models
        domain.write("models", "a", "model_registry['a'] = dict")
        domain.index.refresh()
        assert domain.models["a"] is dict

    def test_dynamic_plugins_are_imported_when_listed_or_missed(self, domain):
        domain.write("models", "dynamic", "for x in map(str, range(2)):\n    model_registry['d' + x] = dict")
        domain.write("models", "literal", "model_registry['l'] = dict")
        assert "l" in domain.models
        assert domain.imported() == []
        assert list(domain.models) == ["d0", "d1", "l"]
        assert domain.imported() == [f"{domain.package}.models.dynamic"]
        assert domain.models.location("d1").folder == domain.folder / "models" / "dynamic"

    def test_a_broken_dynamic_plugin_hides_no_other(self, domain):
        domain.write("models", "dynamic", "model_registry[str(1 / 0)] = dict")
        domain.write("models", "literal", "model_registry['l'] = dict")
        with pytest.warns(PluginWarning, match=r"models\.dynamic .* ZeroDivisionError"):
            assert list(domain.models) == ["l"]
        with pytest.raises(UnknownIdentifier, match="ZeroDivisionError"):
            domain.models["q"]

    def test_ctrl_c_during_an_import_leaves_nothing(self, domain):
        domain.write("models", "a", "model_registry['a'] = dict\nraise KeyboardInterrupt")
        with pytest.raises(KeyboardInterrupt):
            domain.models["a"]
        assert domain.models._entries == {}


class TestMissingRequirement:
    def test_names_requirements_and_command(self, domain):
        folder = domain.write("models", "a", "import no_such_thing.sub\nmodel_registry['a'] = dict")
        (folder / "requirements.txt").write_text("no-such-thing\n")
        with pytest.raises(MissingRequirementError) as error:
            domain.models["a"]
        message = str(error.value)
        assert "no_such_thing" in message
        assert f"{domain.package}.models.a" in message
        assert f"pip install -r {folder / 'requirements.txt'}" in message
        assert isinstance(error.value, ModuleNotFoundError)
        assert isinstance(error.value, UserError)
        assert error.value.name == "no_such_thing"
        again = pickle.loads(pickle.dumps(error.value))
        assert (str(again), again.name) == (message, "no_such_thing")

    def test_without_requirements(self, domain):
        domain.write("models", "a", "import no_such_thing\nmodel_registry['a'] = dict")
        with pytest.raises(MissingRequirementError, match=r"no requirements\.txt"):
            domain.models["a"]

    def test_of_a_file_of_its_own(self, domain):
        domain.write("models", "a", "from .modell import f\nmodel_registry['a'] = f")
        with pytest.raises(MissingRequirementError, match="Check the spelling") as error:
            domain.models["a"]
        assert "pip" not in str(error.value)

    def test_when_the_factory_runs(self, domain):
        domain.write("models", "a", "def f():\n    import no_such_thing\n\n\nmodel_registry['a'] = f")
        with pytest.raises(MissingRequirementError, match="no_such_thing"):
            domain.models.make("a")

    def test_a_library_that_explains_it_is_heard(self, domain):
        domain.write(
            "models", "a", "def f():\n    raise ModuleNotFoundError('reinstall it')\n\n\nmodel_registry['a'] = f"
        )
        with pytest.raises(ModuleNotFoundError, match="reinstall it") as error:
            domain.models.make("a")
        assert not isinstance(error.value, UserError)

    def test_other_import_errors_stay(self, domain):
        domain.write("models", "a", "from os import no_such_name\nmodel_registry['a'] = dict")
        with pytest.raises(ImportError, match="no_such_name") as error:
            domain.models["a"]
        assert not isinstance(error.value, UserError)


class TestMaking:
    def test_arguments_and_errors_pass_unchanged(self, registry):
        registry["a"] = lambda *args, **kwargs: (args, kwargs)
        assert registry.make("a", 1, x=2) == ((1,), {"x": 2})

        class OwnError(Exception):
            pass

        error = OwnError("mine")

        def fail():
            raise error

        registry["fail"] = fail
        with pytest.raises(OwnError) as caught:
            registry.make("fail")
        assert caught.value is error

    def test_nothing_is_made(self, registry):
        registry["a"] = lambda: None
        with pytest.raises(UserError, match=rf"{__file__}:\d+.*returned None"):
            registry.make("a")

    def test_a_finished_benchmark_that_can_be_called(self, registry):
        class Benchmark:
            identifier = "b"

            def __call__(self, candidate):
                return 1

        registry["b"] = Benchmark()
        with pytest.raises(UserError, match="finished object of the class Benchmark") as error:
            registry.make("b")
        assert "without ()" in error.value.remedy
        registry["c"] = Benchmark
        assert registry.make("c")(None) == 1


class TestIdentifiers:
    SOURCE = """
        class Benchmark:
            def __init__(self, identifier):
                self.identifier = identifier
    """

    def test_keys_come_first(self, domain):
        domain.write("benchmarks", "a", "benchmark_registry['key'] = dict")
        assert domain.benchmarks.resolve("key") == "key"
        assert domain.imported() == []

    @pytest.mark.parametrize(
        "expression",
        ["'Study2020.IT-rdm'", "f'{study}.{region}-rdm'", "study + '.IT-rdm'", "'{}.{}-rdm'.format(study, region)"],
    )
    def test_an_identifier_other_than_the_key(self, domain, expression):
        domain.write("benchmarks", "other", "raise SystemError\nbenchmark_registry['other'] = dict")
        domain.write(
            "benchmarks",
            "study",
            """
            from .benchmark import make
            benchmark_registry['Study2020.V1-rdm'] = lambda: make('Study2020', 'V1')
            benchmark_registry['study-it'] = lambda: make('Study2020', 'IT')
            """,
            benchmark=self.SOURCE
            + f"""
        def make(study, region):
            return Benchmark({expression} if region == 'IT' else 'else')
        """,
        )
        assert domain.benchmarks.resolve("Study2020.IT-rdm") == "study-it"
        assert domain.imported() == [
            f"{domain.package}.benchmarks.study",
            f"{domain.package}.benchmarks.study.benchmark",
        ]

    def test_a_mention_is_not_enough(self, domain):
        domain.write("benchmarks", "a", "# Study2020\nbenchmark_registry['a'] = dict")
        with pytest.raises(UnknownIdentifier):
            domain.benchmarks.resolve("Study2020")

    def test_a_factory_that_fails_is_named(self, domain):
        domain.write(
            "benchmarks", "a", "# Study2020\ndef f():\n    raise OSError('no data')\nbenchmark_registry['a'] = f"
        )
        with pytest.raises(UnknownIdentifier, match=r"a .*OSError: no data"):
            domain.benchmarks.resolve("Study2020")
