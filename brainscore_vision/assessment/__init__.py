"""What a score is worth: controls and other assessments of benchmarks."""

from brainscore_vision.assessment.controls import Control, Controls, Difference, score_controls

__all__ = ["Control", "Controls", "Difference", "score_controls"]
