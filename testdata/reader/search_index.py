#!/usr/bin/env python3
"""Reads a search index of orcomgo, a .cfm file: FORMAT: Search index.

    search_index.py FILE                 what it holds
    search_index.py FILE SEQUENCE...     the places of sequences in the text, counted from 0
"""

import struct
import sys

from orcomgo_reader import ArithmeticDecoder, Probs, require, read_file, xxh3_64, xxh3_128

MAGIC = bytes.fromhex("894F4347660D0A1A")
HEADER, RANK_HASH_AT, HASH_AT = 128, 96, 112
MAX_BASES = 2**32 - 2
LETTERS = "ACGT"
BLOCK = 65536


class SearchIndex:
    def __init__(self, data):
        require(len(data) >= HEADER and data[:8] == MAGIC, "these are not the first bytes of a search index")
        (version,) = struct.unpack_from("<Q", data, 8)
        require(version == 1, f"version {version}")
        self.archive = data[16:32]
        self.genome, self.bases, self.first, slices, lengths, self.span = struct.unpack_from("<6Q", data, 32)
        require(self.genome <= self.bases <= MAX_BASES and self.first <= self.bases, "impossible counts")
        self.step = max(65536, (self.bases + 1023) // 1024)
        sizes = [-(-self.genome // 64) * 2, slices * 8, lengths, -(-self.genome // BLOCK) * 16]
        literals = self.bases - self.genome
        packed = -(-literals // 4) + 16 if literals <= self.bases // 20 else 0
        sizes.append(packed + -(HEADER + sum(sizes) + packed) % 64)
        ranks_at = HEADER + sum(sizes)
        sizes += [(self.bases // 192 + 1) * 64, (self.bases // 64 + 1) * 4, -(-self.bases // self.step) * 4]
        main = HEADER + sum(sizes)
        require(main <= len(data), "the file ends in a section")
        require(xxh3_128(data[:HASH_AT] + data[HEADER:ranks_at]) == data[HASH_AT:HEADER], "the checksum differs")
        require(xxh3_128(data[ranks_at:main]) == data[RANK_HASH_AT:HASH_AT], "the checksum of the ranks differs")
        sections, at = [], HEADER
        for size in sizes:
            sections.append(data[at:at + size])
            at += size
        coverage, ends, self.lengths, table, self.packed, ranks, samples, starts = sections
        self.blocks, at = [], 0
        for end, checksum in struct.iter_unpack("<QQ", table):
            self.blocks.append(data[main + at:main + end])
            require(xxh3_64(self.blocks[-1]) == checksum, "the checksum of a block differs")
            at = end
        require(main + at == len(data), "the length of the file is not the sum of its fields")
        self.samples = struct.unpack(f"<{len(samples) // 4}I", samples)
        self.starts = struct.unpack(f"<{len(starts) // 4}I", starts)
        self.coverage = [(code & 2047) << (code >> 11) for (code,) in struct.iter_unpack("<H", coverage)]
        self.slice_ends = list(struct.iter_unpack("<II", ends))
        self.read_ranks(ranks)

    def read_ranks(self, ranks):
        """Sets base, the bases of the transform by row (None for the row without one), less, and the ranks."""
        found, counts = [], [0, 0, 0, 0]
        for at in range(0, len(ranks), 64):
            require(list(struct.unpack_from("<4I", ranks, at)) == counts, "the counts of a block are wrong")
            low = int.from_bytes(ranks[at + 16:at + 40], "little")
            high = int.from_bytes(ranks[at + 40:at + 64], "little")
            for i in range(min(192, self.bases - len(found))):
                found.append((low >> i & 1) | (high >> i & 1) << 1)
                counts[found[-1]] += 1
        self.base = found[:self.first] + [None] + found[self.first:]
        self.less = [1 + sum(counts[:c]) for c in range(4)]
        self.rank = [[0] * 4]             # by row, and by base
        for base in self.base:
            row = list(self.rank[-1])
            if base is not None:
                row[base] += 1
            self.rank.append(row)

    def before(self, base, row):
        return self.less[base] + self.rank[row][base]

    def text(self):
        """The text, from its end to its beginning."""
        found, row = [], 0
        for _ in range(self.bases):
            base = self.base[row]
            require(base is not None, "the text begins too late")
            found.append(base)
            row = self.before(base, row)
        require(row == self.first or self.bases == 0, "the text does not begin in its row")
        return found[::-1]

    def literals(self):
        """The stretches of literals of each slice."""
        text, at, byte, slices = self.text(), self.genome, 0, []
        for end_bases, end_bytes in self.slice_ends:
            found = []
            while byte < end_bytes:
                length = shift = 0
                while True:
                    v = self.lengths[byte]
                    length, shift, byte = length | (v & 127) << shift, shift + 7, byte + 1
                    if v < 128:
                        break
                found.append("".join(LETTERS[b] for b in text[at:at + length]))
                at += length
            require(byte == end_bytes and at == self.genome + end_bases, "the literals of a slice end elsewhere")
            slices.append(found)
        require(at == self.bases and byte == len(self.lengths), "there are other literals")
        packed = [byte >> shift & 3 for byte in self.packed for shift in (0, 2, 4, 6)]
        literals = text[self.genome:] if self.bases - self.genome <= self.bases // 20 else []
        require(packed == literals + [0] * (len(packed) - len(literals)), "the section of literals has other bases")
        return slices

    def begins(self):
        """Where reads begin: the numbers of the 8 bases of the pseudogenome, by slice."""
        found = [[] for _ in self.slice_ends]
        for number, block in enumerate(self.blocks):
            model, slice_, least = Probs(ArithmeticDecoder(block)), 0, 0
            while True:
                step = model.number("step", 1023)
                slice_, least = slice_ + step, 0 if step else least
                part = least + model.number(("part", least > 0), 1023)
                if slice_ == len(found):
                    break
                require(slice_ < len(found) and part < BLOCK // 8, "an impossible read")
                found[slice_].append(number * (BLOCK // 8) + part)
                least = part + 1
        return found

    def locate(self, row):
        steps = 0
        while row % 64 and row != self.first:
            row, steps = self.before(self.base[row], row), steps + 1
        return steps + (0 if row == self.first else self.samples[row // 64])

    def find(self, sequence):
        start, end = 0, self.bases + 1
        for letter in reversed(sequence):
            base = LETTERS.index(letter)
            start, end = self.before(base, start), self.before(base, end)
        return sorted(self.locate(row) for row in range(start, end))


def main(path, sequences):
    index = SearchIndex(read_file(path))
    print(f"index of archive {index.archive.hex()}: {index.genome} bases of the pseudogenome, "
          f"{index.bases - index.genome} of literals")
    for sequence in sequences:
        print(sequence, *index.find(sequence))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    main(sys.argv[1], sys.argv[2:])
