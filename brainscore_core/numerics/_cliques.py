"""Largest sets of things that are all alike."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["TooManyGroups", "largest_groups", "tie_matrix"]


class TooManyGroups(Exception):
    """More groups than asked for."""


def tie_matrix(
    values: NDArray[np.float64], different: NDArray[np.bool_], *, most: int | None = None
) -> NDArray[np.bool_]:
    """Members of the largest groups without a difference as an array (groups, k), in the order of their highest values.

    Raises TooManyGroups if there are more than `most`.
    """
    order = np.argsort(-values, kind="stable")
    groups = largest_groups(~(different | different.T)[np.ix_(order, order)], most=most)
    listed = sorted(range(len(groups)), key=lambda row: np.packbits(groups[row]).tobytes(), reverse=True)
    result = np.zeros_like(groups)
    result[:, order] = groups[listed]
    return result


def largest_groups(alike: NDArray[np.bool_], *, most: int | None = None) -> NDArray[np.bool_]:
    """All sets of things of which each two are alike and that cannot be extended, as rows, in no certain order.

    `alike` is symmetric (k, k); its diagonal is not read. Raises TooManyGroups if there are more than `most`.

    These are the maximal cliques of a graph, found by branching on what is unlike a pivot [Bron & Kerbosch 1973,
    doi:10.1145/362342.362367; Tomita, Tanaka & Takahashi 2006, doi:10.1016/j.tcs.2006.06.015], over sets that are bits
    of an integer. What is like all other candidates is in every set and needs no branch.
    """
    k = len(alike)
    near = [int.from_bytes(row.tobytes(), "little") & ~(1 << i) for i, row in enumerate(_bits(alike))]
    found: list[int] = []
    waiting = [(0, (1 << k) - 1, 0)] if k else []  # in the set, may extend it, has been tried with it before
    while waiting:
        chosen, candidates, tried = waiting.pop()
        size, pivot, most_near = candidates.bit_count(), -1, -1
        extends = False
        for i in _members(tried):
            number = (candidates & near[i]).bit_count()
            if number == size:
                extends = True  # it belongs to each of these sets, and they were found with it
                break
            if number > most_near:
                pivot, most_near = i, number
        if extends:
            continue
        certain = 0
        for i in _members(candidates):
            number = (candidates & near[i]).bit_count()
            if number == size - 1:
                certain |= 1 << i
                tried &= near[i]
            elif number > most_near:
                pivot, most_near = i, number
        chosen, candidates = chosen | certain, candidates & ~certain
        if not candidates:
            if not tried:
                found.append(chosen)
                if most is not None and len(found) > most:
                    raise TooManyGroups
        elif not (candidates | tried) >> pivot & 1:  # the pivot is no longer there
            waiting.append((chosen, candidates, tried))
        else:
            for i in _members(candidates & ~near[pivot]):
                waiting.append((chosen | 1 << i, candidates & near[i], tried & near[i]))
                candidates ^= 1 << i
                tried |= 1 << i
    width = (k + 7) // 8
    rows = np.frombuffer(b"".join(one.to_bytes(width, "little") for one in found), dtype=np.uint8)
    return np.unpackbits(rows.reshape(len(found), width), axis=1, count=k, bitorder="little").astype(bool)


def _bits(rows: NDArray[np.bool_]) -> NDArray[np.uint8]:
    return np.packbits(rows, axis=1, bitorder="little")


def _members(bits: int) -> list[int]:
    """Places of the bits that are set, the last first."""
    members = []
    while bits:
        last = bits.bit_length() - 1
        members.append(last)
        bits ^= 1 << last
    return members
