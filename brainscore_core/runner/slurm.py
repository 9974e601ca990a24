"""Profiles of SLURM clusters: YAML files with the resources of a job."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from brainscore_core.errors import UserError
from brainscore_core.memory import parse_size


@dataclass(frozen=True, kw_only=True)
class SlurmProfile:
    """Resources of each job of a SLURM cluster. One job contains one worker.

    Attributes
    ----------
    cores : int
        Cores per job, and threads of the numerical libraries.
    memory : int
        Bytes per job.
    retry_memory : int or None
        Bytes per job for pairs that were killed for using more than `memory`.
    walltime : str
        In the format of sbatch; longer than the longest pair.
    queue, account : str or None
        Partition and account.
    gpus : int
        GPUs per job; adds ``--gres=gpu:N``.
    interface : str or None
        Network interface over which nodes reach this machine, such as ``ib0``.
    python : str or None
        Interpreter on the nodes; by default the path of the running one.
    env : dict
        Environment variables of the workers.
    prologue : tuple of str
        Shell commands before the worker starts, such as ``module load cuda``.
    job_extra_directives, job_directives_skip : tuple of str
        ``#SBATCH`` lines to add, and parts of lines to leave out.
    log_directory, local_directory : str or None
        Folders of the jobs' logs and of the workers' temporary files.
    tls : bool
        Whether workers and scheduler authenticate each other. Without it, anyone who can reach this machine's port can
        run code here.
    shared_directory : str or None
        Folder of the keys for this, readable on the nodes; by default the current folder.
    """

    cores: int
    memory: int
    retry_memory: int | None = None
    walltime: str = "24:00:00"
    queue: str | None = None
    account: str | None = None
    gpus: int = 0
    interface: str | None = None
    python: str | None = None
    env: dict[str, str] = field(default_factory=dict)
    prologue: tuple[str, ...] = ()
    job_extra_directives: tuple[str, ...] = ()
    job_directives_skip: tuple[str, ...] = ()
    log_directory: str | None = None
    local_directory: str | None = None
    tls: bool = True
    shared_directory: str | None = None

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read and check a profile.

        Raises `UserError` if the file does not exist or is not a YAML mapping, a key is unknown or missing, or a value
        has the wrong type.
        """
        try:
            import yaml
        except ImportError as error:
            raise UserError("reading YAML requires PyYAML", remedy='pip install "brainscore[cluster]"') from error
        try:
            content = yaml.safe_load(Path(path).expanduser().read_text(encoding="utf-8"))
        except OSError as error:
            raise UserError(f"the SLURM profile {path} cannot be read: {error.strerror or error}") from error
        except yaml.YAMLError as error:
            raise UserError(f"the SLURM profile {path} is not YAML: {error}") from error
        if not isinstance(content, dict):
            raise UserError(f"the SLURM profile {path} is not a mapping", remedy="give at least cores and memory")
        try:
            return cls.from_dict(content)
        except UserError as error:
            raise UserError(f"the SLURM profile {path}: {error.message}", remedy=error.remedy) from error

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Self:
        """Make a profile from plain values, and check them.

        Examples
        --------
        >>> SlurmProfile.from_dict({"cores": 8, "memory": "32GB", "queue": "gpu"}).memory
        32000000000
        """
        names = [entry.name for entry in fields(cls)]
        if unknown := sorted(map(str, set(content).difference(names))):
            raise UserError(f"unknown keys: {', '.join(unknown)}", remedy=f"valid keys are {', '.join(names)}")
        if missing := [name for name in ("cores", "memory") if content.get(name) is None]:
            raise UserError(f"missing keys: {', '.join(missing)}", remedy="add what a job needs, such as memory: 32GB")
        values: dict[str, Any] = {}
        for name, value in content.items():
            if value is not None:
                values[name] = _checked(name, value)
        profile = cls(**values)
        if profile.retry_memory is not None and profile.retry_memory <= profile.memory:
            raise UserError("retry_memory is not larger than memory", remedy="leave it out, or increase it")
        return profile

    def cluster_arguments(self, memory: int) -> dict[str, Any]:
        """Arguments of `dask_jobqueue.SLURMCluster`.

        `memory`: bytes per job.
        """
        # with all digits, so that a task that needs all of it fits
        resources = f"memory={memory / 1e6!r}" + (f",GPU={self.gpus}" if self.gpus else "")
        gpu = [f"--gres=gpu:{self.gpus}"] if self.gpus else []
        exports = [f"export {name}={shlex.quote(value)}" for name, value in self.env.items()]
        arguments = {
            "queue": self.queue,
            "account": self.account,
            "walltime": self.walltime,
            # one thread of the worker runs one task at a time; the cores are for the libraries
            "cores": 1,
            "processes": 1,
            "job_cpu": self.cores,
            "memory": f"{memory}B",
            "interface": self.interface,
            "python": self.python,
            "job_script_prologue": [*exports, *self.prologue],
            "job_extra_directives": [*gpu, *self.job_extra_directives],
            "job_directives_skip": list(self.job_directives_skip),
            "worker_extra_args": ["--resources", resources, "--no-dashboard"],
            "log_directory": self.log_directory,
            "local_directory": self.local_directory,
            "shared_temp_directory": self.shared_directory,
        }
        return {name: value for name, value in arguments.items() if value is not None}


_SIZES = ("memory", "retry_memory")
_LISTS = ("prologue", "job_extra_directives", "job_directives_skip")


def _checked(name: str, value: Any) -> Any:
    if name in _SIZES:
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            raise UserError(f"{name} is {value!r}", remedy="write it as 32GB")
        return parse_size(value)
    if name in {"cores", "gpus"}:
        smallest = 1 if name == "cores" else 0
        if isinstance(value, bool) or not isinstance(value, int) or value < smallest:
            raise UserError(f"{name} is {value!r}", remedy=f"use a whole number of at least {smallest}")
        return value
    if name in _LISTS:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise UserError(f"{name} is {value!r}", remedy="use a list of lines of text")
        return tuple(value)
    if name == "env":
        plain = isinstance(value, dict) and all(isinstance(item, str | int | float) for item in value.values())
        if not plain or not all(isinstance(key, str) and key.isidentifier() for key in value):
            raise UserError(f"env is {value!r}", remedy="use names and values, such as OMP_PROC_BIND: close")
        return {key: str(item) for key, item in value.items()}
    if name == "tls":
        if not isinstance(value, bool):
            raise UserError(f"tls is {value!r}", remedy="write true or false")
        return value
    if not isinstance(value, str):
        quotes = ' in quotes, such as "12:00:00"' if name == "walltime" else ""
        raise UserError(f"{name} is {value!r}", remedy=f"write it as text{quotes}")
    return value
