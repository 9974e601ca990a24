"""Identifiers of models, benchmarks, metrics and data: rules, confusable names, folder names."""

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote, unquote

from brainscore_core.errors import UserError

MAX_LENGTH = 200
"""Maximum number of characters of a new identifier."""

_ALLOWED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:+@/-]*")
# confusable characters of UTS 39 (Unicode security mechanisms) among ASCII letters, digits and signs
_CONFUSABLE_ASCII = str.maketrans({"0": "o", "O": "o", "1": "l", "I": "l", "|": "l"})
# and among dashes and the alphabets below; other scripts are left out
_CONFUSABLE_SCRIPTS = (
    ("ıƄƍƖƦƧƷƼƽǀȜȢȣɑɡɣɩɪɯʋʏᴄᴏᴜᴠᴡᴢꜱ", "ibglR235sl388agyiiwuycouvwzs"),  # Latin
    ("ͿΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγινορσυϜϳϺ", "JABEZHlKMNOPTYXayivopouFjM"),  # Greek
    ("ЅІЈАВЕЗКМНОРСТУХЬабгеорсухѕіјѡѴѵҮүһҽӀӏӠԁԌԛԜԝ", "SlJABE3KMHOPCTYXba6reopcyxsijwVvYyheli3dGqWw"),  # Cyrillic
    ("ՍՏՕագզհոռսցքօ", "USOwqqhnnugfo"),  # Armenian
    ("\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u02d7\ufe58", "-" * 10),
)
_CONFUSABLE_TO_ASCII = {
    key: value for letters, others in _CONFUSABLE_SCRIPTS for key, value in str.maketrans(letters, others).items()
}
_SEPARATORS = re.compile(r"[._:+@/-]+")
_LONGEST_FOLDER = 240
_RESERVED = {"CON", "PRN", "AUX", "NUL"} | {f"{port}{n}" for port in ("COM", "LPT") for n in range(1, 10)}


def identifier_problem(identifier: str) -> str | None:
    """Say why a new identifier is not valid; None if it is. Existing identifiers may break these rules.

    An identifier begins with an ASCII letter or digit; ASCII letters, digits and ``. _ : + @ / -`` may follow. Slash,
    colon and at sign serve names such as ``library:organisation/name@revision``. No part between slashes may be empty
    or consist of dots only.

    Examples
    --------
    >>> identifier_problem("timm:vit_base_patch16_224.augreg@v2") is None
    True
    >>> identifier_problem("pixels‐2")
    "'pixels‐2' has U+2010 HYPHEN"
    """
    shown = f"{identifier[:60]!r}{'…' if len(identifier) > 60 else ''}"
    if not identifier:
        return "it is empty"
    if len(identifier) > MAX_LENGTH:
        return f"{shown} has {len(identifier):,} characters"
    if not _ALLOWED.fullmatch(identifier):
        invalid = next((character for character in identifier if not _ALLOWED.fullmatch(f"a{character}")), None)
        if invalid is None:
            return f"{shown} begins with {identifier[0]!r}"
        return f"{shown} has U+{ord(invalid):04X} {unicodedata.name(invalid, '')}".rstrip()
    if any(not segment.strip(".") for segment in identifier.split("/")):
        return f"{shown} has a part between slashes that is empty or has only dots"
    return None


def confusable_form(identifier: str) -> str:
    """Return a form that is the same for all identifiers that people could confuse.

    Case, accents and compatibility forms of characters (NFKC) are ignored. Characters that look alike count as equal
    (UTS 39, https://www.unicode.org/reports/tr39/): ASCII characters with each other, and Latin, Greek, Cyrillic and
    Armenian letters with the ASCII character that they look like.

    Examples
    --------
    >>> {confusable_form(name) for name in ("Pixels", "pixels", "ｐｉｘｅｌｓ", "pixe1s")}
    {'plxels'}
    >>> confusable_form("pixеls") == confusable_form("pixels")
    True
    >>> confusable_form("resnet-18") == confusable_form("resnet-50")
    False
    """
    plain = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", identifier))
    plain = "".join(c for c in plain if not unicodedata.combining(c)).translate(_CONFUSABLE_TO_ASCII)
    folded = plain.translate(_CONFUSABLE_ASCII).casefold().replace("rn", "m").replace("vv", "w")
    return folded.replace("i", "l")  # capital I, which looks like l, was folded to i


def similar_form(identifier: str) -> str:
    """Return a form that is the same for all identifiers that look alike or differ only in separators.

    Examples
    --------
    >>> {similar_form(name) for name in ("hello-tiles", "hello_tiles", "Hello..tiles", "hello-_tiles")}
    {'hello-tlles'}
    >>> similar_form("resnet-1.8") == similar_form("resnet-18")
    False
    """
    return _SEPARATORS.sub("-", confusable_form(identifier))


def to_folder_name(identifier: str) -> str:
    """Encode an identifier as one folder name that is safe on every file system and in a bucket.

    Letters, digits and ``_ - . ~ + = , @`` stay. Other characters are percent-encoded as in a URL, and so is a dot at
    either end; no identifier therefore becomes ``..`` or a hidden file. Raises UserError if the identifier is empty, is
    not valid Unicode, or is longer than file systems allow.

    Examples
    --------
    >>> to_folder_name("Kriegeskorte2008.IT-human-rdm"), to_folder_name("lab/net:v2"), to_folder_name("..")
    ('Kriegeskorte2008.IT-human-rdm', 'lab%2Fnet%3Av2', '%2E%2E')
    """
    if not identifier:
        raise UserError("an identifier is empty", remedy="give both the model and the benchmark an identifier")
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
    if len(name) > _LONGEST_FOLDER:
        raise UserError(
            f"the identifier {identifier[:60]!r}… makes a folder name of {len(name)} characters; "
            f"at most {_LONGEST_FOLDER} are possible",
            remedy="use a shorter identifier",
        )
    return name


def from_folder_name(name: str) -> str:
    """Return the identifier that :func:`to_folder_name` encoded.

    Examples
    --------
    >>> from_folder_name("lab%2Fnet%3Av2")
    'lab/net:v2'
    """
    return unquote(name, errors="strict")


class SeriesPoint(NamedTuple):
    """One state of a model that was trained with several seeds, or scored after several epochs."""

    model: str
    seed: int | None
    epoch: int | None


_SERIES = re.compile(r"(?P<model>.+?)(?:@seed(?P<seed>\d+))?(?:@epoch(?P<epoch>\d+))?")


def series_point(identifier: str) -> SeriesPoint:
    """Take an identifier apart into model, seed and epoch.

    Examples
    --------
    >>> series_point("resnet18@seed2@epoch5")
    SeriesPoint(model='resnet18', seed=2, epoch=5)
    >>> series_point("timm:resnet18@v2")
    SeriesPoint(model='timm:resnet18@v2', seed=None, epoch=None)
    """
    match = _SERIES.fullmatch(identifier)
    if match is None:
        return SeriesPoint(identifier, None, None)
    seed, epoch = match["seed"], match["epoch"]
    return SeriesPoint(match["model"], None if seed is None else int(seed), None if epoch is None else int(epoch))


def states_of_models(identifiers: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Group the states of models: identifier of the state by which a model is listed → all of its states.

    A model is listed by the end of its training: by the state without an epoch, or else that of the last epoch. Of
    several seeds it is the lowest. The choice does not depend on scores. Other models have one state.

    Examples
    --------
    >>> states_of_models(["net@epoch0", "net@epoch10", "net@epoch5", "gabor"])
    {'net@epoch10': ('net@epoch0', 'net@epoch5', 'net@epoch10'), 'gabor': ('gabor',)}
    >>> list(states_of_models(["net@seed2@epoch9", "net@seed1@epoch5", "net@seed1@epoch0"]))
    ['net@seed1@epoch5']
    """
    models: dict[str, dict[str, SeriesPoint]] = {}
    for identifier in identifiers:
        point = series_point(identifier)
        models.setdefault(point.model, {})[identifier] = point

    def place(point: SeriesPoint) -> tuple[float, float]:
        return -1 if point.seed is None else point.seed, float("inf") if point.epoch is None else point.epoch

    grouped = {}
    for states in models.values():
        ordered = sorted(states, key=lambda identifier: place(states[identifier]))
        first_seed = states[ordered[0]].seed
        listed = [identifier for identifier in ordered if states[identifier].seed == first_seed][-1]
        grouped[listed] = tuple(ordered)
    return grouped


def series_identifier(model: str, *, seed: int | None = None, epoch: int | None = None) -> str:
    """Identifier of a model that was trained with a seed, after a number of epochs.

    Raises UserError if a number is negative or not whole.

    Examples
    --------
    >>> series_identifier("resnet18", epoch=5), series_identifier("resnet18", seed=2, epoch=5)
    ('resnet18@epoch5', 'resnet18@seed2@epoch5')
    """
    for name, number in (("seed", seed), ("epoch", epoch)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 0):
            raise UserError(f"the {name} is {number!r}", remedy="pass a whole number, at least 0")
        model += "" if number is None else f"@{name}{number}"
    return model


def data_set_of(benchmark: str) -> str:
    """Name of the data set of a benchmark: its identifier up to the first ``.`` or ``-``.

    Examples
    --------
    >>> data_set_of("MajajHong2015public.IT-pls"), data_set_of("Rajalingham2018-i2n")
    ('MajajHong2015public', 'Rajalingham2018')
    """
    return re.split(r"[.-]", benchmark, maxsplit=1)[0]
