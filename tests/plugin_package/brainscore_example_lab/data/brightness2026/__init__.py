"""Four made-up images, and what a made-up person called them."""

from brainscore_vision import data_registry, load_stimulus_set, stimulus_set_registry

BIBTEX = """
@misc{examplelab2026,
  title = {Four grey squares},
  author = {Example, Eve},
  year = {2026}
}
"""


def _stimuli():
    from .make import make_stimuli

    return make_stimuli()


def _answers():
    from .make import make_answers

    return make_answers(load_stimulus_set("ExampleLab2026"))


stimulus_set_registry["ExampleLab2026"] = _stimuli
data_registry["ExampleLab2026"] = _answers
