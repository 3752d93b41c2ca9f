"""Writes a table of all samples, separated by tabs, on standard output: summary.py OUT SAMPLE..."""

import csv
import json
import os
import sys

from jobs import MEMORY_KILLS, count_kills, slurm_logs

MEASURED = ("bin", "pack", "archive", "verify")
STEPS = ("plan", *MEASURED, "checksums", "report")


def benchmark(step, sample):
    """What Snakemake measured of a job: its seconds, and the most memory in MB; "" where it is not known."""
    path = f"logs/{step}/{sample}.tsv"
    if not os.path.exists(path):
        return "", ""
    with open(path, encoding="utf-8", newline="") as f:
        row = next(csv.DictReader(f, delimiter="\t"), {})
    return tuple("" if row.get(key) in (None, "NA", "-") else row[key] for key in ("s", "max_rss"))


def describe(out, sample):
    with open(f"{out}/checksums/{sample}.json", encoding="utf-8") as f:
        info = json.load(f)
    with open(f"{out}/verify/{sample}.json", encoding="utf-8") as f:
        verified = json.load(f)
    stored = sum(i.get("file", {}).get("bytes", 0) for i in info["inputs"])
    row = {
        "sample": sample,
        "files": len(info["inputs"]),
        "reads": info["records"],
        "bytes_of_files": stored,
        "bytes_of_text": info["text_bytes"],
        "bytes_of_archive": info["archive_bytes"],
        "share_of_files": f"{info['archive_bytes'] / stored:.3f}" if stored else "",
        "verified": "yes" if verified["ok"] else "NO",
    }
    for step in MEASURED:
        seconds, memory = benchmark(step, sample)
        row[f"{step}_s"], row[f"{step}_mb"] = seconds, memory
    row["slurm_jobs"] = sum(len(slurm_logs(step, sample)) for step in STEPS)
    row["killed_for_memory"] = sum(count_kills(step, sample, MEMORY_KILLS) for step in STEPS)
    return row


def main(out, samples):
    rows = [describe(out, sample) for sample in samples]
    used = [key for key in rows[0] if any(row[key] != "" for row in rows)]
    table = csv.DictWriter(sys.stdout, used, delimiter="\t", lineterminator="\n", extrasaction="ignore")
    table.writeheader()
    table.writerows(rows)


main(sys.argv[1], sys.argv[2:])
