"""The journeys are scripts that score models when they are imported: pytest does not look for doctests in them."""

from pathlib import Path

collect_ignore = [
    path.name for path in Path(__file__).parent.glob("*.py") if not path.name.startswith(("test_", "conftest"))
]
