"""Collection of the tests of benchmark plugins."""

import importlib
from pathlib import Path


def pytest_collect_file(file_path):
    """Import a plugin before its modules: pytest would otherwise run a second time what the plugin has imported."""
    plugin = file_path.relative_to(Path(__file__).parent).parts[0]
    if file_path.suffix == ".py" and plugin != file_path.name:
        importlib.import_module(f"brainscore_vision.benchmarks.{plugin}")
