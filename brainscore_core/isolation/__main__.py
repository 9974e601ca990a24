"""Process of an isolated model: ``python -m brainscore_core.isolation SOCKET``.

``SOCKET`` is the number of an open descriptor, one end of a Unix socket pair, which is the only connection to the
process that started it. Standard output and standard error belong to the model.
"""

import os
import socket
import sys

from brainscore_core.isolation.server import serve
from brainscore_core.isolation.wire import Channel, Closed, Limits


def main() -> None:
    """Serve on the descriptor in the first argument."""
    descriptor = int(sys.argv[1])
    os.set_inheritable(descriptor, False)  # not for programs that the model starts
    channel = Channel(socket.socket(fileno=descriptor), limits=Limits(line=1 << 30, inline=1 << 30))
    try:
        serve(channel)
    except Closed:
        sys.exit(0)
    finally:
        channel.close()


if __name__ == "__main__":
    main()
