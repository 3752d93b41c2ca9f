#!/usr/bin/env python3
"""Decodes the vectors of testdata/vectors with the models of orcomgo_reader.py.

    check_vectors.py FOLDER          all vectors but those that take minutes
    check_vectors.py --all FOLDER    those too

FOLDER is testdata/vectors, whose README.md says what a vector is.  Prints a line
for each vector that is decoded otherwise than it says; then the exit status is 1.
"""

import os
import re
import sys

import orcomgo_reader as reader
import search_index

LONG = 1 << 16                  # bases of a pseudogenome that takes too long


class Vector:
    def __init__(self, title):
        self.title, self.fields = title, {}

    def lines(self, key):
        return self.fields[key]

    def text(self, key):
        return "".join(self.fields[key])

    def numbers(self, key):
        return [int(word) for line in self.fields[key] for word in line.split()]

    def number(self, key):
        return self.numbers(key)[0]

    def bytes(self, key="bytes"):
        return bytes.fromhex(self.text(key))

    def strings(self, key):
        """Strings in quotation marks, one a line."""
        return [re.sub(rb"%(..)", lambda m: bytes([int(m[1], 16)]), line[1:-1].encode())
                for line in self.fields[key]]


class Repetition:
    """Makes the lines of a field with "times" in its key: README.md of the vectors, section Repetition."""
    drawn = 0

    def value(self, expression):
        words, total = re.findall(r"[-+*/%]|\w+", "+" + expression), 0
        for operator, word in zip(words[::2], words[1::2]):
            if word == "r":
                self.drawn = (self.drawn * 6364136223846793005 + 1442695040888963407) % (1 << 64)
                x = self.drawn >> 33
            else:
                x = self.k if word == "k" else int(word)
            total = {"+": lambda: total + x, "-": lambda: total - x, "*": lambda: total * x,
                     "/": lambda: total // x, "%": lambda: total % x}[operator]()
        return total

    def braces(self, match):
        expression, _, choice = match[1].partition(":")
        letters, colon, count = choice.rpartition(":")
        if not colon:
            return str(self.value(expression))
        return "".join(letters[self.value(expression) % len(letters)] for _ in range(int(count)))

    def lines(self, lines, times):
        for self.k in range(times):
            for line in lines:
                yield re.sub(r"\{(.*?)\}", self.braces, line)


def repeat(vector):
    for key in [key for key in vector.fields if " times " in key]:
        name, times = key.split(" times ")
        vector.fields[name] = list(Repetition().lines(vector.fields[key], int(times)))


def read_vectors(path):
    found = []
    with open(path) as file:
        for line in file.read().split("\n"):
            if line.startswith("## "):
                found.append(Vector(line[3:]))
            elif not found or not line:
                continue
            elif line.startswith("  "):
                found[-1].fields[key].append(line[2:])
            else:
                key, _, value = line.partition(":")
                found[-1].fields[key] = [value.strip()] if value.strip() else []
    for vector in found:
        repeat(vector)
    return found


def decisions(decoder):
    def check(v):
        coder, probabilities, bits = decoder(v.bytes()), v.numbers("probabilities"), v.text("bits")
        return "".join(str(coder.bit(probabilities[i % len(probabilities)]))
                       for i in range(len(bits))), bits
    return check


def squash(v):
    function = reader.squash if v.title == "squash" else lambda p: reader.STRETCH[p >> 4]
    return [function(x) for x in v.numbers("from")], v.numbers("to")


def bases(v):
    wanted = v.text("bases")
    if "times" in v.fields:
        wanted = (wanted * v.number("times"))[:-v.number("less")]
    if len(wanted) >= LONG and not run_all:
        return None
    found, model = reader.decode_pseudogenome(v.bytes(), "bases")
    if "literals" in v.fields:
        literals, classes = v.text("literals"), [0] * len(v.text("literals"))
        if "qualities" in v.fields:
            classes = [min(max(ord(q) - 33, 0) // 6, 7) for q in v.text("qualities")]
        start, model, source = len(model.bases), model.copy(len(literals)), reader.Bytes(v.bytes("coded"), "literals")
        leads = [start + lead for lead in v.numbers("leads")]
        for lead in leads:
            model.bases[lead:lead + 16] = ["ACGT".index(c) for c in literals[lead - start:lead - start + 16]]
        model.decode(source, start, classes, "literals", leads)
        source.finish()
        found, wanted = found + model.bases[start:], wanted + literals
    return bytes(b"ACGT"[base] for base in found).decode(), wanted


def positions(v):
    tree = reader.PositionTree(v.bytes(), v.number("bases"), "positions")
    coder, wanted = reader.ArithmeticDecoder(v.bytes("coded")), v.numbers("positions")
    return [tree.decode(coder) for _ in wanted], wanted


def lengths(v):
    wanted = v.numbers("lengths") if "lengths" in v.fields else [v.number("fixed")] * v.number("count")
    return reader.decode_lengths(v.bytes(), len(wanted), "lengths"), wanted


def slices(v):
    members, wanted = [], []
    for number in "12":
        if "reads-" + number not in v.fields:
            continue
        reads, qualities = v.strings("reads-" + number), None
        if "qualities-" + number in v.fields:
            qualities = v.strings("qualities-" + number)
        members.append([reader.Read(len(read), qualities and qualities[i])
                        for i, read in enumerate(reads)])
        wanted.append(b"".join(reads).decode())
    if v.text("order") == "any":
        wanted[0] = v.text("decoded")
    genome, model = reader.decode_pseudogenome(v.bytes("pseudogenome"), "pseudogenome")
    tree = reader.PositionTree(v.bytes("positions"), len(genome), "positions")
    reader.SliceDecoder(v.bytes(), members, genome, model, [tree], "slice")
    return [b"".join(read.text() for read in reads).decode() for reads in members], wanted


def edits(v):
    genome = [b"ACGT".index(base) for base in b"".join(v.strings("sequence"))]
    wanted, qualities = v.strings("bases"), None
    if "qualities" in v.fields:
        qualities = v.strings("qualities")
    reads = [reader.Read(len(read), qualities and qualities[i]) for i, read in enumerate(wanted)]
    reader.EditsDecoder(v.bytes(), reads, genome, qualities is not None, "edits")
    return [bytes(b"ACGT."[4 if base is None else base] for base in read.bases) for read in reads], wanted


def names(v):
    chain, found, wanted = reader.NameChain(), [], []
    for before, section in ("", "bytes"), ("next-", "next"):
        if before + "names" not in v.fields:
            break
        given, first = v.strings(before + "names"), None
        if "first" in v.fields:
            first = v.strings(before + "first")
        size = sum(len(name) + 1 for name in given)
        found += chain.decode(v.bytes(section), len(given), first, size, "names")
        wanted += given
    return found, wanted


def two_bit(v):
    wanted = "".join(v.lines("letters"))
    return reader.decode_two_bit(v.bytes(), [len(wanted)], "bases")[0].decode(), wanted


def qualities(v):
    letters = None
    if "letters" in v.fields:
        at, letters = 0, []
        for length in v.numbers("lengths"):
            letters.append(v.text("letters")[at:at + length].encode())
            at += length
    primer = None
    if "leading" in v.fields:
        leading = reader.decode_leading(v.bytes("leading"), v.numbers("leading-lengths"), "leading qualities")
        if b"".join(leading[1]).decode() != v.text("leading-qualities"):
            return b"".join(leading[1]).decode(), v.text("leading-qualities")
        primer = lambda: leading
    found = reader.decode_qualities(v.bytes(), v.numbers("lengths"), "qualities", letters, primer)
    return b"".join(found).decode(), v.text("qualities")


def kinetics(v):
    letters, data, at, found = v.strings("letters"), v.bytes(), 0, []
    others = [[0] * len(l) for l in letters]
    strand = None
    for tag in v.text("tags").split():
        source = reader.Bytes(data[at:], "kinetics")
        length = source.uvarint()
        code = source.take(length)
        at = len(data) - source.left()
        if strand != (tag in ("ri", "rp")):
            others = [[0] * len(l) for l in letters]
        strand = tag in ("ri", "rp")
        arrays, others = reader.KineticsDecoder(code).arrays(letters, strand, others)
        found += [value for array in arrays for value in array]
    return found, v.numbers("values")


def streams(v):
    wanted = bytes.fromhex(v.text("symbols"))
    return reader.decode_stream(v.bytes(), len(wanted), "stream", v.number("order1") == 1), wanted


def line_names(v):
    wanted = b"".join(v.strings("chunk"))
    return reader.decode_line_names(v.bytes(), len(wanted), "names"), wanted


def search_indexes(v):
    index = search_index.SearchIndex(v.bytes())
    text = "".join(search_index.LETTERS[b] for b in index.text())
    literals, wanted = [s.decode() for s in v.strings("literals")], []
    for n in v.numbers("stretches"):
        wanted.append(literals[:n])
        literals = literals[n:]
    covered, reads = [0] * len(v.text("pseudogenome")), v.numbers("reads")
    reads, begins = list(zip(reads[::2], reads[1::2])), []
    for n in v.numbers("in slices"):
        begins.append(sorted({start // 8 for start, _ in reads[sum(v.numbers("in slices")[:len(begins)]):][:n]}))
    span = max([end - start for start, end in reads], default=0)
    for start, end in reads:
        for i in range(start, end):
            covered[i] += 1
    sums = [sum(covered[i:i + 64]) for i in range(0, len(covered), 64)]
    for at in range(len(text) - 5):
        sequence = text[at:at + 6]
        places = [i for i in range(len(text)) if text.startswith(sequence, i)]
        reader.require(index.find(sequence) == places, f"{sequence} is found at {index.find(sequence)}, not {places}")
    for k, row in enumerate(index.starts):
        reader.require(index.locate(row) == k * index.step, "a chunk begins elsewhere")
    return ((text[:index.genome], index.literals(), index.archive.hex(), index.coverage, index.begins(), index.span),
            (v.text("pseudogenome"), wanted, v.text("archive"), sums, begins, span))


def gzip_descriptions(v):
    """Header and frames of a description. What the frames code is not decoded."""
    source, size, wanted = reader.Bytes(v.bytes(), "description"), 0, b"".join(v.strings("text"))
    header = source.text()
    while code := source.text():
        frame = reader.Bytes(code, "frame")
        writer, flags = frame.byte(), frame.byte()
        most = {5: 12, 6: 4, 7: 12}.get(writer >> 4, 9)
        reader.require(writer == 0 or writer >> 4 <= 7 and 1 <= writer & 15 <= most, "an unknown writer")
        reader.require(flags < 32 and (flags & 8 or not flags), "flags that contradict each other")
        size += frame.uvarint()
        reader.require(frame.uvarint() <= (65535 if flags & 8 else 0), "a frame that has seen text outside of a member")
    source.finish()
    return (size, v.bytes("file")[:len(header)]), (len(wanted), header)


FILES = {"index.txt": search_indexes, "streams.txt": streams, "linenames.txt": line_names,
         "rangecoder.txt": decisions(reader.ArithmeticDecoder), "squash.txt": squash, "bases.txt": bases,
         "positions.txt": positions, "lengths.txt": lengths, "slices.txt": slices, "edits.txt": edits,
         "names.txt": names, "twobit.txt": two_bit, "gzip.txt": gzip_descriptions,
         "qualities.txt": qualities, "kinetics.txt": kinetics}


def main(folder):
    differ = checked = 0
    large = {os.path.join("large", name): check for name, check in FILES.items()} if run_all else {}
    for name, check in (FILES | large).items():
        if name in large and not os.path.exists(os.path.join(folder, name)):
            continue
        for v in read_vectors(os.path.join(folder, name)):
            try:
                pair = check(v)
            except reader.Damaged as problem:
                pair = problem, None
            if pair is None:
                print(f"{name}: {v.title}: left out, it takes minutes")
                continue
            checked += 1
            if pair[0] != pair[1]:
                differ += 1
                print(f"{name}: {v.title}: decoded otherwise: {str(pair[0])[:200]}")
    print(f"{checked} vectors, {differ} decoded otherwise")
    return 1 if differ else 0


if __name__ == "__main__":
    run_all = sys.argv[1:2] == ["--all"]
    if len(sys.argv) != 2 + run_all:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.exit(main(sys.argv[1 + run_all]))
