"""A subject process: ``python -m brainscore_core.isolation SOCKET``.

``SOCKET`` is the number of an open descriptor, one end of a Unix socket pair. Nothing else connects it with the process
that started it; standard output and standard error belong to the subject.
"""

import os
import socket
import sys

from brainscore_core.isolation.server import serve
from brainscore_core.isolation.wire import Channel, Closed, Limits


def main() -> None:
    """Serve on the descriptor that the first argument names."""
    descriptor = int(sys.argv[1])
    os.set_inheritable(descriptor, False)  # programs that the subject starts have no part in this
    channel = Channel(socket.socket(fileno=descriptor), limits=Limits(line=1 << 30, inline=1 << 30))
    try:
        serve(channel)
    except Closed:
        sys.exit(0)
    finally:
        channel.close()


if __name__ == "__main__":
    main()
