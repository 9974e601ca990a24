"""fMRI of 1,000 sentences, averaged over five subjects (Tuckute et al. 2024)."""

from brainscore_language import data_registry
from brainscore_language.utils.s3 import load_from_s3

BIBTEX = """@article{tuckute2024driving,
  title = {Driving and suppressing the human language network using large language models},
  author = {Tuckute, Greta and Sathe, Aalok and Srikant, Shashank and Taliaferro, Maya and Wang, Mingye and
    Schrimpf, Martin and Kay, Kendrick and Fedorenko, Evelina},
  journal = {Nature Human Behaviour},
  year = {2024},
  doi = {10.1038/s41562-023-01783-7}
}"""

STIMULUS_GROUPS = {"Tuckute2024.language": "none"}  # unrelated sentences

data_registry["Tuckute2024.language"] = lambda: load_from_s3(
    "Tuckute2024.language", sha1="5c8fc7f3e24cc1af5f5296459377b638b6492641"
)
