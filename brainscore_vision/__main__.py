"""``python -m brainscore_vision score --model_identifier=… --benchmark_identifier=…``."""

import sys

from brainscore_core.runner.score_command import main

if __name__ == "__main__":
    sys.exit(main("vision"))
