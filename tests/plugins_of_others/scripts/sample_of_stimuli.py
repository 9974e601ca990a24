"""A loader that shows only some of the stimuli, as the benchmarks with large stimulus sets have one."""

from pathlib import Path

import pandas as pd
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet, StimulusSetLoader


class EveryNth(StimulusSetLoader):
    def __init__(self, cls, csv_path, stimuli_directory, step):
        super().__init__(cls, csv_path, stimuli_directory)
        self.step = step

    def load(self):
        table = pd.read_csv(self.csv_path)[:: self.step]
        self.correct_stimulus_id_name(table)
        stimulus_set = self.stimulus_set_class(table)
        stimulus_set.stimulus_paths = {
            row["stimulus_id"]: Path(self.stimuli_directory) / row["filename"] for _, row in table.iterrows()
        }
        return stimulus_set


class Photographs(StimulusSet):
    @property
    def _constructor(self):
        return Photographs

    @classmethod
    def get_loader_class(cls):
        return EveryNth


folder = Path("photographs")
folder.mkdir()
rows = [f"p{i},p{i}.png\n" for i in range(6)]
(folder / "photographs.csv").write_text("image_id,filename\n" + "".join(rows))

stimulus_set = EveryNth(cls=StimulusSet, csv_path=folder / "photographs.csv", stimuli_directory=folder, step=3).load()
assert list(stimulus_set["stimulus_id"]) == list(stimulus_set["image_id"]) == ["p0", "p3"]
assert stimulus_set.get_stimulus("p3") == folder / "p3.png"

photographs = Photographs.from_files(folder / "photographs.csv", folder, step=2)
assert type(photographs) is Photographs
assert list(photographs["stimulus_id"]) == ["p0", "p2", "p4"]

# benchmarks whose images are not distributed correct the name of a table that they read themselves
table = pd.read_csv(folder / "photographs.csv")
StimulusSetLoader.correct_stimulus_id_name(table)
assert list(table.columns) == ["image_id", "filename", "stimulus_id"]
