"""Objects that are loaded when they are first used."""

from collections.abc import Callable, Iterator
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
        return self.__dict__["_content"] if "_content" in self.__dict__ else self.reload()

    @property  # type: ignore[misc] # read by isinstance
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
        return self.content[key]  # type: ignore[index] # whatever it is

    def __setitem__(self, key: Any, value: Any) -> None:
        self.content[key] = value  # type: ignore[index] # whatever it is

    def __len__(self) -> int:
        return len(self.content)  # type: ignore[arg-type] # whatever it is

    def __iter__(self) -> Iterator[Any]:
        return iter(self.content)  # type: ignore[call-overload] # whatever it is

    def __contains__(self, item: Any) -> bool:
        return item in self.content  # type: ignore[operator] # whatever it is

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.content(*args, **kwargs)  # type: ignore[operator] # whatever it is

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


def content_of(value: Any) -> Any:
    """The object that a :class:`LazyLoad` stands for, which is loaded; any other object itself.

    ``isinstance`` would load it, too, but not tell whether it was lazy.

    Examples
    --------
    >>> content_of(LazyLoad(lambda: 3)), content_of(3)
    (3, 3)
    """
    return value.content if type(value) is LazyLoad else value


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
