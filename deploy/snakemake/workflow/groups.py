"""Writes the groups of samples that orcomgo plan --json, on standard input, has found, as a table with tabs."""

import json
import sys

print("sample\tgroup")
for archive in json.load(sys.stdin)["archives"]:
    members = archive["samples"]
    for sample in members:
        print(sample, archive["archive"] if len(members) > 1 else "", sep="\t")
