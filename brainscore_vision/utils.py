"""Small helpers for plugins."""

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class LazyLoad(Generic[T]):
    """Proxy of an object that is loaded on first use, and then kept.

    Parameters
    ----------
    load : callable
        Called without arguments, at most once.

    Examples
    --------
    >>> words = LazyLoad(lambda: ["stimulus", "neuroid"])
    >>> len(words), words[1]
    (2, 'neuroid')
    """

    def __init__(self, load: Callable[[], T]) -> None:
        self.__dict__["_load"] = load

    def reload(self) -> T:
        """Load the object now, whether or not it was loaded before."""
        self.__dict__["_content"] = self.__dict__["_load"]()
        return self.__dict__["_content"]

    @property
    def is_loaded(self) -> bool:
        """Whether the object was loaded before."""
        return "_content" in self.__dict__

    @property
    def content(self) -> T:
        """The object itself."""
        if "_content" not in self.__dict__:
            return self.reload()
        return self.__dict__["_content"]

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Class of the object, which isinstance uses."""
        return type(self.content)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name != "__array__":
            raise AttributeError(name)
        return getattr(self.content, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.content, name, value)

    def __getitem__(self, key: Any) -> Any:
        return self.content[key]  # type: ignore[index]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.content[key] = value  # type: ignore[index]

    def __len__(self) -> int:
        return len(self.content)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.content)  # type: ignore[call-overload]

    def __contains__(self, item: Any) -> bool:
        return item in self.content  # type: ignore[operator]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.content(*args, **kwargs)  # type: ignore[operator]

    def __eq__(self, other: object) -> Any:
        return self.content == (other.content if type(other) is LazyLoad else other)

    def __ne__(self, other: object) -> Any:
        return self.content != (other.content if type(other) is LazyLoad else other)

    def __hash__(self) -> int:
        return hash(self.content)

    def __bool__(self) -> bool:
        return bool(self.content)

    def __repr__(self) -> str:
        return repr(self.content)


def fullname(obj: Any) -> str:
    """Module and class of an object.

    Examples
    --------
    >>> from pathlib import PurePosixPath
    >>> fullname(PurePosixPath("a"))
    'pathlib.PurePosixPath'
    """
    cls = type(obj)
    return f"{cls.__module__}.{cls.__qualname__}"


def recursive_dict_merge(dict1: Mapping[Any, Any], dict2: Mapping[Any, Any]) -> dict[Any, Any]:
    """Merge two dictionaries and their nested dictionaries; values of the second take precedence.

    Examples
    --------
    >>> recursive_dict_merge({"V1": {"layer": "conv1", "bins": 1}}, {"V1": {"bins": 2}})
    {'V1': {'layer': 'conv1', 'bins': 2}}
    """
    merged = copy.deepcopy(dict(dict1))
    for key, value in dict2.items():
        both = isinstance(merged.get(key), Mapping) and isinstance(value, Mapping)
        merged[key] = recursive_dict_merge(merged[key], value) if both else value
    return merged
