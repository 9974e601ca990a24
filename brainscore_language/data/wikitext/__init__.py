"""Wikipedia articles (Merity et al. 2017), for the prediction of next words."""

from brainscore_language import data_registry

BIBTEX = """@inproceedings{merity2017pointer,
  title = {Pointer sentinel mixture models},
  author = {Merity, Stephen and Xiong, Caiming and Bradbury, James and Socher, Richard},
  booktitle = {International Conference on Learning Representations},
  year = {2017},
  url = {https://openreview.net/forum?id=Byj72udxe}
}"""


def _lines() -> list[str]:
    from brainscore_language.data.wikitext.data_packaging import load_lines

    return load_lines()


data_registry["wikitext-2/test"] = _lines
