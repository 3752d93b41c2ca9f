"""What the workflow is asked to do: its configuration, checked, and the sheet of samples."""

import csv
import os
import re
import shlex
import subprocess

DEFAULTS = {
    "samples": None,
    "out": "archives",
    "orcomgo": "orcomgo",
    "steps": "two",
    "threads": 4,
    "max_mem_mb": 64000,
    "gpu": "",
    "tmpdir": "",
    "report": "auto",
    "bin_flags": "",
    "pack_flags": "",
}

# Names of samples become names of files, of jobs and of folders of logs.
SAMPLE_NAME = "[A-Za-z0-9][A-Za-z0-9._-]*"


class SettingsError(Exception):
    """A mistake in the configuration or in the sheet of samples."""


class Sample:
    """The files of a sample: one pair, or one file, for each of its lanes."""

    def __init__(self):
        self.first = []
        self.second = []
        self.mem_mb = 0  # what the sheet asks of Slurm; 0: as planned

    @property
    def files(self):
        return self.first + [f for f in self.second if f]


class Settings:
    """The configuration. Its attributes are the keys of DEFAULTS."""

    def __init__(self, config):
        unknown = sorted(set(config) - set(DEFAULTS))
        if unknown:
            raise SettingsError(f"unknown key {unknown[0]!r}, expected one of {', '.join(DEFAULTS)}")
        for key, value in {**DEFAULTS, **config}.items():
            setattr(self, key, value)
        if not self.samples:
            raise SettingsError("give the sheet: --config samples=sheet.csv")
        if self.steps not in ("one", "two"):
            raise SettingsError(f"steps is {self.steps!r}, expected one or two")
        for key in ("threads", "max_mem_mb"):
            if not isinstance(getattr(self, key), int) or getattr(self, key) < 1:
                raise SettingsError(f"{key} is {getattr(self, key)!r}, expected a number")
        self.out = str(self.out).rstrip("/")
        self.sheet = self.samples
        self.samples = read_sheet(self.sheet)
        self.names = list(self.samples)
        # Resources that rules have only where they are set.
        self.gres_resource = {"gres": self.gpu} if self.gpu else {}
        self.tmpdir_resource = {"tmpdir": self.tmpdir} if self.tmpdir else {}

    def reads(self, name):
        """Returns the files of a sample, for a job to wait for.

        Files that are gone are left out if the archive is there: reads may be deleted once they are archived.
        """
        files = self.samples[name].files
        archive = [f"{self.out}/{name}{ext}" for ext in (".cdna", ".cmeta")]
        if all(os.path.exists(f) for f in archive):
            return [f for f in files if os.path.exists(f)]
        return files

    def arguments(self, name):
        """Returns the files of a sample as arguments of orcomgo bin and archive."""
        sample = self.samples[name]
        args = []
        for first, second in zip(sample.first, sample.second):
            args += ["-1", first, "-2", second] if second else [first]
        return shlex.join(args)

    def has_report(self):
        """Says whether a report of each sample is made: if asked, or with auto if this orcomgo has the command."""
        if self.report != "auto":
            return bool(self.report)
        return self._has_command("report")

    def _has_command(self, name):
        try:
            help_text = subprocess.run(
                [self.orcomgo, name, "--help"], capture_output=True, text=True, check=False
            ).stdout
        except OSError as e:
            raise SettingsError(f"orcomgo: {self.orcomgo}: {e.strerror}") from e
        return help_text.startswith(f"orcomgo {name}:")  # of another word it is the help of the program


def read_sheet(path):
    """Returns the samples of a sheet by their names, in their order, as orcomgo archive --samples reads it.

    Columns are separated by tabs where the header has any, else by commas. sample and fastq_1 must be there; fastq_2
    and mem_mb may be; others are ignored. Rows of the same sample are its lanes.
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as f:
            head = f.readline()
            f.seek(0)
            rows = list(csv.DictReader(f, delimiter="\t" if "\t" in head else ","))
    except OSError as e:
        raise SettingsError(f"{path}: {e.strerror}") from e
    samples = {}
    for number, row in enumerate(rows, start=2):
        cell = {key: (value or "").strip() for key, value in row.items() if isinstance(key, str)}
        name, first, second = (cell.get(c, "") for c in ("sample", "fastq_1", "fastq_2"))
        if not name or not first:
            raise SettingsError(f"{path}: line {number}: expected a name in the column sample and a file in fastq_1")
        if not re.fullmatch(SAMPLE_NAME, name):
            raise SettingsError(f"{path}: line {number}: sample {name!r}: expected letters, digits, '.', '_' and '-'")
        sample = samples.setdefault(name, Sample())
        sample.first.append(first)
        sample.second.append(second)
        memory = cell.get("mem_mb", "")
        if memory:
            if not memory.isdigit():
                raise SettingsError(f"{path}: line {number}: mem_mb is {memory!r}, expected a number of megabytes")
            sample.mem_mb = int(memory)
    if not samples:
        raise SettingsError(f"{path}: no samples: expected lines with the columns sample, fastq_1 and fastq_2")
    return samples
