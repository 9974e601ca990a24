"""Highlights source code within limits on time and memory. Each line of input and output is JSON.

It runs as a script in its own process, without Django, so that it starts quickly.
"""

import json
import math
import resource
import sys
import time

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

_MEMORY = 1_000_000_000


def main() -> None:
    """Read ``[key, language, text]``, write ``[key, lines]``."""
    limit = math.ceil(time.process_time()) + int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    for line in sys.stdin:
        key, language, text = json.loads(line)
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
        lines = highlight(text, lexer, HtmlFormatter(nowrap=True)).removesuffix("\n").split("\n")
        sys.stdout.write(json.dumps([key, lines]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
