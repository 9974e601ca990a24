"""What a worker of this machine does before it takes tasks: it keeps quiet, since its output is the terminal's."""

import logging
import os
from typing import Any


def dask_setup(worker: Any) -> None:
    """Send what Dask prints nowhere; called by it in each worker."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL + 1)
    with open(os.devnull, "w") as nothing:
        for descriptor in (1, 2):
            os.dup2(nothing.fileno(), descriptor)
