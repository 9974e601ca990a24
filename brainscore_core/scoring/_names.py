"""Identifiers as names of folders, reversibly."""

from urllib.parse import quote, unquote

from brainscore_core.errors import UserError

__all__ = ["from_folder_name", "to_folder_name"]

_LONGEST = 240
_RESERVED = {"CON", "PRN", "AUX", "NUL"} | {f"{port}{n}" for port in ("COM", "LPT") for n in range(1, 10)}


def to_folder_name(identifier: str) -> str:
    """Turn any identifier into one name that is safe on every file system and in a bucket.

    Letters, digits and ``_ - . ~ + = , @`` stay; everything else is percent-encoded as in a URL, and so is a dot at
    either end, so that no identifier becomes ``..`` or a hidden file.

    Raises
    ------
    UserError
        If the identifier is empty, or longer than file systems allow.

    Examples
    --------
    >>> to_folder_name("Kriegeskorte2008.IT-human-rdm"), to_folder_name("lab/net:v2"), to_folder_name("..")
    ('Kriegeskorte2008.IT-human-rdm', 'lab%2Fnet%3Av2', '%2E%2E')
    """
    if not identifier:
        raise UserError("an identifier is empty", remedy="give the model and the benchmark a name")
    try:
        name = quote(identifier, safe="+=,@")
    except UnicodeEncodeError as error:
        raise UserError(f"the identifier {identifier!r} is not valid Unicode text: {error}") from error
    if name.startswith("."):
        name = "%2E" + name[1:]
    if name.endswith("."):
        name = name[:-1] + "%2E"
    if name.split(".")[0].upper() in _RESERVED:
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if len(name) > _LONGEST:
        raise UserError(
            f"the identifier {identifier[:60]!r}… takes {len(name)} characters as a folder's name; "
            f"at most {_LONGEST} are possible",
            remedy="use a shorter identifier",
        )
    return name


def from_folder_name(name: str) -> str:
    """Give back the identifier that :func:`to_folder_name` encoded.

    Examples
    --------
    >>> from_folder_name("lab%2Fnet%3Av2")
    'lab/net:v2'
    """
    return unquote(name, errors="strict")
