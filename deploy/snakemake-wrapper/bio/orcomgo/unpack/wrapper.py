__author__ = "the orcomgo authors"
__copyright__ = "Copyright 2026, the orcomgo authors"
__license__ = "MIT"

from pathlib import Path

from snakemake.shell import shell

log = snakemake.log_fmt_shell(stdout=True, stderr=True)
extra = snakemake.params.get("extra", "")

directories = {str(Path(f).parent) for f in snakemake.output}
if len(directories) != 1:
    raise ValueError("expected outputs in one directory")
directory = f"{directories.pop()}/"

memory = snakemake.resources.get("mem_mb")
memory = f"--memory {int(memory * 0.8)}MB" if isinstance(memory, int) else ""

shell(
    "orcomgo unpack"
    " --threads {snakemake.threads}"
    " {memory}"
    " {extra}"
    " {snakemake.input.cdna:q}"
    " -o {directory:q}"
    " {log}"
)
