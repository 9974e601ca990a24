"""Published models that only their own plugins can make; registered here, so that their names say what they need."""

from functools import partial

from brainscore_language import model_registry

NEEDS = {
    "earley-parser-minivocab": (
        "the treebank of its published plugin, and the package nltk",
        "copy models/earley_parser of brainscore_language 2.3 to a folder of BRAINSCORE_PLUGINS; pip install nltk, "
        "from 3.10 on with NLTK_DATA naming the folder of the plugin",
    ),
    "lm1b": (
        "the package tensorflow, and weights at http://download.tensorflow.org/models/LM_LSTM_CNN/",
        "copy models/lm1b of brainscore_language 2.3 to a folder of BRAINSCORE_PLUGINS; pip install tensorflow",
    ),
    "suma": (
        "model_helpers/modeling_suma.py of brainscore_language 2.3, which is written for transformers 4, and the "
        "tokenizer of meta-llama/Llama-2-7b-hf",
        "copy models/suma with this file to a folder of BRAINSCORE_PLUGINS, in an environment with transformers<5",
    ),
}
"""Model → what this package lacks, and how to add it."""


def _refuse(identifier):
    from brainscore_core.errors import UserError

    needed, remedy = NEEDS[identifier]
    raise UserError(f"{identifier} needs {needed}", remedy)


for _identifier in NEEDS:
    model_registry[_identifier] = partial(_refuse, _identifier)
