"""The heat map as a picture, for more pairs than a table can hold."""

from __future__ import annotations

import base64
import io

import numpy as np

from brainscore.report._board import Board
from brainscore.report._marks import HEAT, heat_class

__all__ = ["heat_picture"]

_WIDEST = 3600  # pixels
_STATES = {"undefined": 0, "not applicable": 1, "failed": 2, "outdated": 3}


def heat_picture(board: Board) -> tuple[str, int, int]:
    """Draw models × benchmarks as PNG.

    Returns
    -------
    str
        Address that holds the picture itself.
    int, int
        Width and height of a pair in pixels.
    """
    from PIL import Image

    columns = board.benchmarks
    wide = max(3, min(12, _WIDEST // max(len(columns), 1)))
    high = max(3, min(8, _WIDEST // max(len(board.models), 1)))
    classes = np.full((len(board.models), len(columns)), -1, dtype=np.int8)
    for row, model in enumerate(board.models):
        for column, place in enumerate(columns):
            pair = (model, board.nodes[place].identifier)
            state = board.states.get(pair)
            receipt = board.receipts.get(pair)
            if state == "scored" and receipt is not None and receipt.score is not None:
                classes[row, column] = heat_class(receipt.score.value or 0.0)
            elif state is not None:
                classes[row, column] = -2 - _STATES.get(state, 0)
    dark, white = len(HEAT), len(HEAT) + 1
    tiles = np.full((len(HEAT) + 5, high, wide), white, dtype=np.uint8)
    for number in range(len(HEAT)):
        tiles[number] = number
    rows, cols = np.indices((high, wide))
    patterns = [rows == high // 2, (rows == high // 2) & (cols == wide // 2), (rows + cols) % 3 == 0, cols == wide // 2]
    for number, pattern in enumerate(patterns):
        tiles[-2 - number][pattern] = dark
    picture = tiles[classes].transpose(0, 2, 1, 3).reshape(len(board.models) * high, len(columns) * wide)
    image = Image.fromarray(np.ascontiguousarray(picture), mode="P")
    palette = [int(colour[start : start + 2], 16) for colour in (*HEAT, "#1c1e21", "#ffffff") for start in (1, 3, 5)]
    image.putpalette(palette)
    content = io.BytesIO()
    image.save(content, format="PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(content.getvalue()).decode()}", wide, high
