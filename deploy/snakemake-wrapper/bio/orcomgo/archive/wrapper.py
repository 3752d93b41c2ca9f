__author__ = "the orcomgo authors"
__copyright__ = "Copyright 2026, the orcomgo authors"
__license__ = "MIT"

import shlex
from pathlib import Path

from snakemake.shell import shell

log = snakemake.log_fmt_shell(stdout=True, stderr=True)
extra = snakemake.params.get("extra", "")


def files(name):
    value = snakemake.input.get(name, [])
    return [value] if isinstance(value, str) else list(value)


first, second, single = files("r1"), files("r2"), files("reads")
if len(first) != len(second):
    raise ValueError(f"r1 has {len(first)} files and r2 {len(second)}: expected as many of each")
if bool(first) == bool(single):
    raise ValueError("expected the inputs r1 and r2, or the input reads")
arguments = shlex.join([a for r1, r2 in zip(first, second) for a in ("-1", r1, "-2", r2)] + single)

cdna, cmeta = Path(snakemake.output.cdna), Path(snakemake.output.cmeta)
if cdna.suffix != ".cdna" or cmeta != cdna.with_suffix(".cmeta"):
    raise ValueError("expected the outputs cdna=DIR/NAME.cdna and cmeta=DIR/NAME.cmeta")
cpar = snakemake.output.get("cpar", cdna.with_suffix(".cpar"))
if Path(cpar) != cdna.with_suffix(".cpar"):
    raise ValueError("expected the output cpar=DIR/NAME.cpar beside cdna")
name, directory = shlex.quote(cdna.stem), shlex.quote(f"{cdna.parent}/")

memory = snakemake.resources.get("mem_mb")
memory = f"--memory {int(memory * 0.8)}MB" if isinstance(memory, int) else ""

shell(
    "orcomgo archive"
    " --as {name}"
    " --threads {snakemake.threads}"
    " {memory}"
    " {extra}"
    " {arguments}"
    " {directory}"
    " {log}"
)
