#!/bin/sh
# multiqc.sh BIN: makes reports of two archives for MultiQC, has MultiQC read them where it is installed, and compares
# what its tables have with the figures of orcomgo.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1" && pwd)
export PATH="/usr/bin:$PATH" # Debian's MultiQC wants Debian's Python
command -v multiqc >/dev/null || { echo "multiqc is not installed: reports were not read by it" && exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work" # of Matplotlib's cache
reads=$here/../../testdata
cd "$work"
"$bin/orcomgo" archive --quiet --as pair -1 "$reads/pair41_R1.fastq" -2 "$reads/pair41_R2.fastq" run/
"$bin/orcomgo" archive --quiet --as rna "$reads/rna8.fastq" run/
"$bin/orcomgo" report --quiet --json run/ -o . --multiqc mqc/ >figures.json
multiqc --lint --flat --no-ansi --outdir out mqc/ >log 2>&1 || { cat log && exit 1; }
if grep -E 'ERROR|LINT|Traceback' log; then echo "MultiQC finds mistakes in the reports" && exit 1; fi
python3 - <<'END'
import csv
import json

def table(name):
    with open(f"out/multiqc_data/multiqc_{name}.txt", encoding="utf-8") as f:
        return {row.pop("Sample"): row for row in csv.DictReader(f, delimiter="\t")}

with open("figures.json", encoding="utf-8") as f:
    figures = {r["archive"]["name"]: r for r in json.load(f)["reports"]}
stats = {sample: {key.rpartition("-")[2]: v for key, v in row.items()} for sample, row in table("general_stats").items()}
assert set(stats) == set(figures) == {"pair", "rna"}, stats
for name, f in figures.items():
    assert float(stats[name]["orcomgo_records"]) == f["archive"]["records"], stats[name]
    assert stats[name]["orcomgo_verified"] == "yes", stats[name]
    columns = table("orcomgo_columns_plot")[name]
    assert {c["name"]: c["bytes"] for c in f["columns"]} == {k: float(v) for k, v in columns.items() if v}, columns
    for r in f["reads"]:
        sample = name if len(f["reads"]) == 1 else f"{name} read {r['number']}"
        line = {float(k): float(v) for k, v in table("orcomgo_quality_plot")[sample].items() if v}
        assert line == {c["from"]: c["quality"]["mean"] for c in r["cycles"]}, sample
END
echo "MultiQC: its tables of two archives have the figures of orcomgo report"
