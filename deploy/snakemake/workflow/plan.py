"""Writes the memory and the time that the jobs of a sample need, as JSON on standard output.

{"mem_mb": megabytes, "minutes": for the longest job}
"""

import argparse
import json
import math
import os

from settings import read_sheet

# Text of FASTQ in a compressed file, as a multiple of its size.
TEXT_PER_COMPRESSED = 5

# Packing needs about this many bytes of memory for each byte of text, and so many MB for the least.
MEMORY_PER_TEXT = 3
LEAST_MB = 700

# One thread packs at least so many MB of text a second; a slow one, since Slurm ends jobs that take longer.
TEXT_MB_PER_SECOND = 1
LEAST_MINUTES = 30


def text_bytes(path):
    """The size of a file's text, which for a compressed file is a guess."""
    size = os.path.getsize(path)
    compressed = path.lower().endswith((".gz", ".bgz", ".bz2", ".xz", ".zst"))
    return size * TEXT_PER_COMPRESSED if compressed else size


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--memory", type=int, required=True, help="the most MB that orcomgo may plan with")
    parser.add_argument("name")
    args = parser.parse_args()
    text = sum(text_bytes(f) for f in read_sheet(args.samples)[args.name].files) / 1e6
    plan = {
        "mem_mb": min(LEAST_MB + math.ceil(text * MEMORY_PER_TEXT), args.memory),
        "minutes": LEAST_MINUTES + math.ceil(text / TEXT_MB_PER_SECOND / args.threads / 60),
    }
    print(json.dumps(plan))


main()
