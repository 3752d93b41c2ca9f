"""Writes the memory and the time that the jobs of each sample need, as JSON on standard output.

{"SAMPLE": {"budget_mb": megabytes for orcomgo --memory, "minutes": for the longest job}, ...}
"""

import argparse
import json
import math
import os

from settings import read_sheet

# Text of FASTQ in a compressed file, as a multiple of its size.
TEXT_PER_COMPRESSED = 5

# Packing needs about this many bytes of memory for each byte of text.
MEMORY_PER_TEXT = 3

# One thread packs at least so many MB of text a second; a slow one, since Slurm ends jobs that take longer.
TEXT_MB_PER_SECOND = 1

LEAST_MINUTES = 30


def text_bytes(path):
    """The size of a file's text, which for a compressed file is a guess."""
    size = os.path.getsize(path)
    compressed = path.lower().endswith((".gz", ".bgz", ".bz2", ".xz", ".zst"))
    return size * TEXT_PER_COMPRESSED if compressed else size


def estimate(sample, threads):
    text = sum(text_bytes(f) for f in sample.files) / 1e6
    return {
        "budget_mb": math.ceil(text * MEMORY_PER_TEXT),
        "minutes": LEAST_MINUTES + math.ceil(text / TEXT_MB_PER_SECOND / threads / 60),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", required=True)
    parser.add_argument("--threads", type=int, required=True)
    args = parser.parse_args()
    plan = {name: estimate(s, args.threads) for name, s in read_sheet(args.samples).items()}
    print(json.dumps(plan, indent=1))


main()
