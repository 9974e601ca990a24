"""Compares texts line by line within limits on time and memory. Each line of input and output is JSON.

It runs as a script in its own process, without Django, so that it starts quickly.
"""

import difflib
import json
import math
import resource
import sys
import time

_MEMORY = 1_000_000_000


def main() -> None:
    """Read ``[key, old lines, new lines]``, write ``[key, blocks of equal lines]``."""
    limit = math.ceil(time.process_time()) + int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    for line in sys.stdin:
        key, old, new = json.loads(line)
        blocks = difflib.SequenceMatcher(None, old, new).get_matching_blocks()
        sys.stdout.write(json.dumps([key, blocks]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
