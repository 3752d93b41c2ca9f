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
    "group": "",
    "steps": "two",
    "threads": 4,
    "max_mem_mb": 64000,
    "gpu": "",
    "tmpdir": "",
    "report": "auto",
    "plan_flags": "",
    "bin_flags": "",
    "pack_flags": "",
}

# Names of samples become names of files, of jobs and of folders of logs.
SAMPLE_NAME = "[A-Za-z0-9][A-Za-z0-9._-]*"


class SettingsError(Exception):
    """A mistake in the configuration or in the sheet of samples."""


class Archive:
    """What becomes one archive: a sample with its lanes, or the samples of a group."""

    def __init__(self):
        self.rows = []  # sample, fastq_1 and fastq_2, as in the sheet
        self.mem_mb = 0  # what the sheet asks of Slurm; 0: as planned
        self.is_group = False

    @property
    def files(self):
        return [f for _, first, second in self.rows for f in (first, second) if f]

    @property
    def samples(self):
        return list(dict.fromkeys(sample for sample, _, _ in self.rows))


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
        self.archives = read_sheet(self.sheet)
        if self.group:
            self.archives = join(self.archives, self.group)
        self.names = list(self.archives)
        # What the files of an archive end with. The flags of pack are those of archive, too.
        self.extensions = [".cdna", ".cmeta"]
        if "--parity none" not in self.pack_flags.replace("=", " "):
            self.extensions.append(".cpar")
        # Resources that rules have only where they are set.
        self.gres_resource = {"gres": self.gpu} if self.gpu else {}
        self.tmpdir_resource = {"tmpdir": self.tmpdir} if self.tmpdir else {}

    def pattern(self, steps):
        """Returns a pattern of the names of archives that are made in one step or in two. That of groups is one."""
        names = [n for n, a in self.archives.items() if (self.steps == "two" and not a.is_group) == (steps == "two")]
        return "|".join(map(re.escape, names)) or "(?!)"

    def reads(self, name):
        """Returns the files of an archive, for a job to wait for.

        Files that are gone are left out if the archive is there: reads may be deleted once they are archived.
        """
        files = self.archives[name].files
        if all(os.path.exists(f"{self.out}/{name}{ext}") for ext in self.extensions):
            return [f for f in files if os.path.exists(f)]
        return files

    def arguments(self, name):
        """Returns the name and the files of an archive as arguments of orcomgo bin and archive."""
        archive = self.archives[name]
        if archive.is_group:
            return self.sheet_arguments(name)
        args = ["--as", name]
        for _, first, second in archive.rows:
            args += ["-1", first, "-2", second] if second else [first]
        return shlex.join(args)

    def sheet_arguments(self, name):
        """Returns the samples of an archive as arguments of orcomgo plan and archive: sheets by process substitution of bash."""
        archive = self.archives[name]
        tables = {"--samples": [("sample", "fastq_1", "fastq_2")] + archive.rows}
        if archive.is_group:
            tables["--group"] = [("sample", "group")] + [(sample, name) for sample in archive.samples]
        texts = {flag: "".join("\t".join(row) + "\n" for row in table) for flag, table in tables.items()}
        return " ".join(f"{flag} <(printf %s {shlex.quote(text)})" for flag, text in texts.items())

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


def read_table(path, *columns):
    """Returns the rows of a table with a header as lists of the texts in these columns, each after its line's number.

    Columns are separated by tabs where the header has any, else by commas. What is missing is "".
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as f:
            head = f.readline()
            f.seek(0)
            table = csv.DictReader(f, delimiter="\t" if "\t" in head else ",")
            return [(table.line_num, [(row.get(c) or "").strip() for c in columns]) for row in table]
    except OSError as e:
        raise SettingsError(f"{path}: {e.strerror}") from e


def check_name(name, where):
    if not re.fullmatch(SAMPLE_NAME, name):
        raise SettingsError(f"{where}: {name!r}: expected letters, digits, '.', '_' and '-'")


def read_sheet(path):
    """Returns an archive for each sample of a sheet, by its name, in their order.

    The sheet is that of orcomgo archive --samples, and may have a column mem_mb. Rows of the same sample are its lanes.
    """
    archives = {}
    for line, (name, first, second, memory) in read_table(path, "sample", "fastq_1", "fastq_2", "mem_mb"):
        where = f"{path}: line {line}"
        if not name or not first:
            raise SettingsError(f"{where}: expected a name in the column sample and a file in fastq_1")
        check_name(name, f"{where}: sample")
        archive = archives.setdefault(name, Archive())
        archive.rows.append((name, first, second))
        if memory:
            if not memory.isdigit():
                raise SettingsError(f"{where}: mem_mb is {memory!r}, expected a number of megabytes")
            archive.mem_mb = int(memory)
    if not archives:
        raise SettingsError(f"{path}: no samples: expected lines with the columns sample, fastq_1 and fastq_2")
    return archives


def join(archives, path):
    """Puts samples together that a table with the columns sample and group says to be of one group."""
    joined = dict(archives)
    for line, (sample, group) in read_table(path, "sample", "group"):
        where = f"{path}: line {line}"
        if not sample:
            raise SettingsError(f"{where}: expected a name in the column sample")
        if not group or sample not in joined:  # without a group, or a further lane
            if sample not in archives:
                raise SettingsError(f"{where}: there is no sample {sample!r} in the sheet")
            continue
        check_name(group, f"{where}: group")
        if group in archives:
            raise SettingsError(f"{where}: the group {group!r} has the name of a sample")
        one, whole = joined.pop(sample), joined.setdefault(group, Archive())
        whole.is_group = True
        whole.rows += one.rows
        whole.mem_mb = max(whole.mem_mb, one.mem_mb)
    return joined
