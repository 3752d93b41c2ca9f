#!/usr/bin/env python3
"""A reader of orcomgo's archives, written from docs/FORMAT.md alone.

It shares nothing with the program: it is there to show that the written format
is enough to read an archive, and to notice when the two drift apart.  It needs
Python 3 and its standard library, and is slow: some hundred records a second.

    orcomgo_reader.py DIR/NAME                        what the archive holds, all checksums
    orcomgo_reader.py --check DIR/NAME                the same, and everything is decoded
    orcomgo_reader.py --steps DIR/NAME                check values of each step of the first slice
    orcomgo_reader.py --outcome DIR/NAME...           which inputs can be restored, and their SHA-256
    orcomgo_reader.py --text DIR/NAME INPUT           the text of an input
    orcomgo_reader.py --sequences DIR/NAME INPUT      the reads of an input, one a line
    orcomgo_reader.py --lengths DIR/NAME INPUT        the read lengths of an input, one a line
    orcomgo_reader.py --names DIR/NAME INPUT          the names of an input, one a line
    orcomgo_reader.py --qualities DIR/NAME INPUT      the qualities of an input, one read a line

DIR/NAME is an archive without its extension: NAME.cdna and NAME.cmeta (packed),
or NAME.bdna and NAME.bmeta (bins).  INPUT is the name or the index of one of
its inputs.  Damage, and anything else that keeps the archive from being read,
gives one line on stderr and exit status 1.  What --outcome prints for each
archive is, after a line "archive: DIR/NAME", as testdata/testkit/README.md says.

"FORMAT: X" in a comment means section X of FORMAT.md.
"""

import copy
import hashlib
import os
import re
import struct
import sys


class Damaged(Exception):
    """The archive is not what FORMAT.md says it should be."""


class NoArchive(Exception):
    """There is no archive of this name."""


class UnknownVersion(Exception):
    """The archive is of a version that FORMAT.md does not describe."""


class NotHeld(Exception):
    """The archive does not hold what was asked for."""


MASK32 = 0xFFFFFFFF
MASK64 = 0xFFFFFFFFFFFFFFFF


# ---------------------------------------------------------------------------
# XXH3, seed 0 (FORMAT: Conventions).  The algorithm is that of the xxHash
# library's specification; both widths share their parts.

XXH_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
PRIME32_1, PRIME32_2, PRIME32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
PRIME64_1 = 0x9E3779B185EBCA87
PRIME64_2 = 0xC2B2AE3D27D4EB4F
PRIME64_3 = 0x165667B19E3779F9
PRIME64_4 = 0x85EBCA77C2B2AE63
PRIME64_5 = 0x27D4EB2F165667C5
PRIME_MX1 = 0x165667919E3779F9
PRIME_MX2 = 0x9FB21C651E98DF25


def read32(data, at):
    return int.from_bytes(data[at:at + 4], "little")


def read64(data, at):
    return int.from_bytes(data[at:at + 8], "little")


def secret64(at):
    return int.from_bytes(XXH_SECRET[at:at + 8], "little")


def swap_bytes(value, size):
    return int.from_bytes(value.to_bytes(size, "little"), "big")


def multiply_fold(a, b):
    product = a * b
    return (product & MASK64) ^ (product >> 64)


def xxh64_avalanche(h):
    h ^= h >> 33
    h = h * PRIME64_2 & MASK64
    h ^= h >> 29
    h = h * PRIME64_3 & MASK64
    return h ^ (h >> 32)


def xxh3_avalanche(h):
    h ^= h >> 37
    h = h * PRIME_MX1 & MASK64
    return h ^ (h >> 32)


def xxh3_mix16(data, at, secret_at):
    return multiply_fold(read64(data, at) ^ secret64(secret_at),
                         read64(data, at + 8) ^ secret64(secret_at + 8))


def xxh3_long_accumulators(data):
    """The eight sums over an input of more than 240 bytes."""
    sums = [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3,
            PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1]

    def accumulate(at, secret_at):
        for i in range(8):
            value = read64(data, at + 8 * i)
            key = value ^ secret64(secret_at + 8 * i)
            sums[i ^ 1] = (sums[i ^ 1] + value) & MASK64
            sums[i] = (sums[i] + (key & MASK32) * (key >> 32)) & MASK64

    # Blocks of 16 stripes of 64 bytes.  The last block, full or not, is not
    # scrambled, and the last stripe is always the last 64 bytes.
    size = len(data)
    blocks = (size - 1) // 1024
    for block in range(blocks):
        for stripe in range(16):
            accumulate(1024 * block + 64 * stripe, 8 * stripe)
        for i in range(8):
            s = sums[i]
            s ^= s >> 47
            s ^= secret64(128 + 8 * i)
            sums[i] = s * PRIME32_1 & MASK64
    for stripe in range((size - 1 - 1024 * blocks) // 64):
        accumulate(1024 * blocks + 64 * stripe, 8 * stripe)
    accumulate(size - 64, 192 - 64 - 7)
    return sums


def xxh3_merge(sums, secret_at, start):
    for i in range(4):
        start += multiply_fold(sums[2 * i] ^ secret64(secret_at + 16 * i),
                               sums[2 * i + 1] ^ secret64(secret_at + 16 * i + 8))
    return xxh3_avalanche(start & MASK64)


def xxh3_64(data):
    """XXH3-64 as an integer."""
    size = len(data)
    if size == 0:
        return xxh64_avalanche(secret64(56) ^ secret64(64))
    if size <= 3:
        mixed = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        return xxh64_avalanche(mixed ^ read32(XXH_SECRET, 0) ^ read32(XXH_SECRET, 4))
    if size <= 8:
        h = read32(data, size - 4) + (read32(data, 0) << 32)
        h ^= secret64(8) ^ secret64(16)
        h ^= rotate_left64(h, 49) ^ rotate_left64(h, 24)
        h = h * PRIME_MX2 & MASK64
        h ^= (h >> 35) + size
        h = h * PRIME_MX2 & MASK64
        return h ^ (h >> 28)
    if size <= 16:
        low = read64(data, 0) ^ secret64(24) ^ secret64(32)
        high = read64(data, size - 8) ^ secret64(40) ^ secret64(48)
        h = size + swap_bytes(low, 8) + high + multiply_fold(low, high)
        return xxh3_avalanche(h & MASK64)
    if size <= 128:
        h = size * PRIME64_1
        for i in range((size - 1) // 32, -1, -1):
            h += xxh3_mix16(data, 16 * i, 32 * i)
            h += xxh3_mix16(data, size - 16 * (i + 1), 32 * i + 16)
        return xxh3_avalanche(h & MASK64)
    if size <= 240:
        h = size * PRIME64_1
        for i in range(8):
            h += xxh3_mix16(data, 16 * i, 16 * i)
        h = xxh3_avalanche(h & MASK64)
        for i in range(8, size // 16):
            h += xxh3_mix16(data, 16 * i, 16 * (i - 8) + 3)
        h += xxh3_mix16(data, size - 16, 136 - 17)
        return xxh3_avalanche(h & MASK64)
    return xxh3_merge(xxh3_long_accumulators(data), 11, size * PRIME64_1 & MASK64)


def rotate_left64(value, by):
    return (value << by | value >> (64 - by)) & MASK64


def xxh3_128(data):
    """XXH3-128 as its 16 bytes in canonical (big-endian) order."""
    low, high = xxh3_128_halves(data)
    return (high << 64 | low).to_bytes(16, "big")


def xxh3_128_halves(data):
    size = len(data)
    if size == 0:
        return (xxh64_avalanche(secret64(64) ^ secret64(72)),
                xxh64_avalanche(secret64(80) ^ secret64(88)))
    if size <= 3:
        low = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        high = swap_bytes(low, 4)
        high = (high << 13 | high >> 19) & MASK32
        low ^= read32(XXH_SECRET, 0) ^ read32(XXH_SECRET, 4)
        high ^= read32(XXH_SECRET, 8) ^ read32(XXH_SECRET, 12)
        return xxh64_avalanche(low), xxh64_avalanche(high)
    if size <= 8:
        key = read32(data, 0) + (read32(data, size - 4) << 32)
        key ^= secret64(16) ^ secret64(24)
        product = key * ((PRIME64_1 + (size << 2)) & MASK64)
        low, high = product & MASK64, product >> 64
        high = (high + (low << 1)) & MASK64
        low ^= high >> 3
        low ^= low >> 35
        low = low * PRIME_MX2 & MASK64
        low ^= low >> 28
        return low, xxh3_avalanche(high)
    if size <= 16:
        key_low = secret64(32) ^ secret64(40)
        key_high = secret64(48) ^ secret64(56)
        first, last = read64(data, 0), read64(data, size - 8)
        product = (first ^ last ^ key_low) * PRIME64_1
        low, high = product & MASK64, product >> 64
        low = (low + ((size - 1) << 54)) & MASK64
        last ^= key_high
        high = (high + last + (last & MASK32) * (PRIME32_2 - 1)) & MASK64
        low ^= swap_bytes(high, 8)
        product = low * PRIME64_2
        low, top = product & MASK64, product >> 64
        high = (top + high * PRIME64_2) & MASK64
        return xxh3_avalanche(low), xxh3_avalanche(high)
    if size <= 240:
        low, high = size * PRIME64_1 & MASK64, 0

        def mix32(low, high, at1, at2, secret_at):
            low = (low + xxh3_mix16(data, at1, secret_at)) & MASK64
            low ^= (read64(data, at2) + read64(data, at2 + 8)) & MASK64
            high = (high + xxh3_mix16(data, at2, secret_at + 16)) & MASK64
            high ^= (read64(data, at1) + read64(data, at1 + 8)) & MASK64
            return low, high

        if size <= 128:
            for i in range((size - 1) // 32, -1, -1):
                low, high = mix32(low, high, 16 * i, size - 16 * (i + 1), 32 * i)
        else:
            for i in range(4):
                low, high = mix32(low, high, 32 * i, 32 * i + 16, 32 * i)
            low, high = xxh3_avalanche(low), xxh3_avalanche(high)
            for i in range(4, size // 32):
                low, high = mix32(low, high, 32 * i, 32 * i + 16, 3 + 32 * (i - 4))
            low, high = mix32(low, high, size - 16, size - 32, 136 - 17 - 16)
        total = (low + high) & MASK64
        other = (low * PRIME64_1 + high * PRIME64_4 + size * PRIME64_2) & MASK64
        return xxh3_avalanche(total), -xxh3_avalanche(other) & MASK64
    sums = xxh3_long_accumulators(data)
    return (xxh3_merge(sums, 11, size * PRIME64_1 & MASK64),
            xxh3_merge(sums, 192 - 64 - 11, ~(size * PRIME64_2) & MASK64))


# ---------------------------------------------------------------------------
# Reading bytes

class Bytes:
    """Reads a byte string from front to end; running out of it is damage."""

    def __init__(self, data, what):
        self.data, self.at, self.what = data, 0, what

    def left(self):
        return len(self.data) - self.at

    def take(self, count):
        if count > self.left():
            raise Damaged(f"{self.what} ends too early")
        self.at += count
        return self.data[self.at - count:self.at]

    def rest(self):
        return self.take(self.left())

    def byte(self):
        return self.take(1)[0]

    def fixed(self, size):
        return int.from_bytes(self.take(size), "little")

    def uvarint(self):
        value = 0
        for i in range(10):
            byte = self.byte()
            value |= (byte & 127) << 7 * i
            if byte < 128:
                if value > MASK64 or i > 0 and byte == 0:
                    break
                return value
        raise Damaged(f"{self.what} has a number that is too large or longer than it needs to be")

    def text(self):
        return self.take(self.uvarint())

    def finish(self):
        if self.left():
            raise Damaged(f"{self.what} has {self.left()} bytes too many")


class Words:
    """Which words the names of a slice may have (FORMAT: Words of names)."""

    def __init__(self, source, last):
        self.texts = []
        for _ in range(2):
            shared = source.uvarint()
            require(shared <= len(last), "a word shares more than there is with the one before")
            last = last[:shared] + source.text()
            require(len(last) <= 255, "a word is too long")
            self.texts.append(last)
        self.last = last

    def has(self, word):
        if self.texts == [b"", b""]:
            return True
        parts = [re.split(rb"([0-9]+)", text) for text in (self.texts[0], word, self.texts[1])]
        return len(set(map(len, parts))) == 1 and all(
            int(low) <= int(part) <= int(high) if i % 2 else low == part == high
            for i, (low, part, high) in enumerate(zip(*parts)))


def require(condition, message):
    if not condition:
        raise Damaged(message)


def read_file(path):
    """The bytes of a file, or None if there is none."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def show(name):
    """A file name of any bytes, printable."""
    return "".join(chr(c) if 32 < c < 127 else f"\\x{c:02x}" for c in name)


def check_input_name(name, seen):
    require(1 <= len(name) <= 255 and b"/" not in name and b"\0" not in name
            and name not in (b".", b".."), "an input has a name that is none of a file")
    require(name not in seen, f"two inputs are called {show(name)}")
    seen.add(name)


KINDS = {0: "FASTQ", 1: "FASTA"}
QUALITY_MODES = {0: "kept", 1: "eight levels", 2: "dropped"}
READS_ONLY, ORDER_ANY, NAMES_DROPPED, VERIFIED, REPEATS, NAME_RANGES, SIDES = 1, 2, 4, 8, 16, 32, 64


def flag_words(flags):
    words = [word for bit, word in ((READS_ONLY, "reads only"), (ORDER_ANY, "order any"),
                                    (NAMES_DROPPED, "names dropped"), (VERIFIED, "verified"),
                                    (REPEATS, "repeats"))
             if flags & bit]
    return ", ".join(words) or "none"


# ---------------------------------------------------------------------------
# The packed archive (FORMAT: Archive)

CDNA_MAGIC = bytes.fromhex("894F4347640D0A1A")
CDNA_END = bytes.fromhex("894F4347650D0A1A")
CMETA_MAGIC = bytes.fromhex("894F43476D0D0A1A")
CDNA_HEADER = 8 + 1 + 16
SECTION_HEADER = 64
COLUMNS = ("lengths", "forms", "names", "qualities")


class Section:
    """Length and checksum of one section; its place is the sum of the lengths before."""

    def __init__(self, source, label):
        self.label = label
        self.length = source.uvarint()
        self.checksum = source.fixed(8) if self.length else None
        self.offset = None


class Source:
    """What is recorded of the file of an input (FORMAT: Source)."""

    def __init__(self, source, text_bytes):
        flags = source.byte()
        require(flags < 128 and (flags == 0 or flags & 1), "a source has flags that are not known")
        self.recorded, self.plain, self.text_md5 = flags != 0, bool(flags & 8), bool(flags & 16)
        self.name, self.size, self.time, self.sha256, self.md5, self.sample = b"", 0, None, None, None, b""
        if not self.recorded:
            return
        self.name, self.size = source.text(), source.uvarint()
        if self.name:
            check_input_name(self.name, set())
        require(not self.plain or self.size == text_bytes, "a plain file has another size than its text")
        if flags & 2:
            self.time = int.from_bytes(source.take(8), "little", signed=True)
        if flags & 4:
            self.sha256, self.md5 = source.take(32), source.take(16)
        if flags & 32:
            self.sample = source.text()
            check_input_name(self.sample, set())
        if flags & 64:
            require(flags & 12 == 4 and 0 < len(source.text()) <= 1 << 22, "a gzip file can't be made again as it says")

    def describe(self):
        if not self.recorded:
            return "nothing is recorded"
        words = [show(self.name) or "no name", f"{self.size} bytes", "plain" if self.plain else "compressed"]
        if self.time is not None:
            words.append(f"time {self.time}")
        if self.sha256:
            words.append(f"SHA-256 {self.sha256.hex()}, MD5 {self.md5.hex()}")
        if self.sample:
            words.append(f"sample {show(self.sample)}")
        return ", ".join(words)


class PackedInput:
    pass


class Member:
    pass


class Slice:
    pass


def manifest_is_sound(data):
    """FORMAT: .cmeta: the checksum is looked at first, only then the version."""
    return (len(data) >= len(CMETA_MAGIC) + 1 + 16 and data.startswith(CMETA_MAGIC)
            and xxh3_128(data[:-16]) == data[-16:])


class PackedArchive:
    """NAME.cdna and NAME.cmeta."""

    def __init__(self, base):
        self.base = base
        self.models = None
        self.primers = {}               # by input
        self.decoded = {}       # the sequences of slices
        self.problems = []      # of what the archive can be read without
        self.data = read_file(base + ".cdna")
        meta = read_file(base + ".cmeta")
        if self.data is None:
            raise Damaged("the .cdna file is missing")
        own, own_problem = self.attempt(self.manifest_at_end)
        other, other_problem = self.attempt(lambda: self.manifest_beside(meta))
        if own and other:
            require(own["archive_id"] == other["archive_id"],
                    "the .cdna and the .cmeta file belong to different archives")
        if not own and not other:
            raise own_problem if isinstance(own_problem, UnknownVersion) else other_problem
        self.source = ".cdna" if own else ".cmeta"
        self.__dict__.update(own or other)
        self.meta_missing = meta is None
        if other_problem:
            self.problems.append(str(other_problem))
        if own_problem:
            self.problems.append(str(own_problem))
        self.check_header()

    # -- the two copies of the manifest

    @staticmethod
    def attempt(read):
        """What read returns, or why it fails."""
        try:
            return read(), None
        except (Damaged, UnknownVersion) as problem:
            return None, problem

    def manifest_beside(self, data):
        require(data is not None, "the .cmeta file is missing")
        require(manifest_is_sound(data), "the manifest in the .cmeta file is damaged")
        return self.parse(data)

    def manifest_at_end(self):
        data, what = self.data, "the manifest in the .cdna file is damaged"
        require(len(data) >= CDNA_HEADER + 16 and data[-8:] == CDNA_END, what)
        start = len(data) - 16 - read64(data, len(data) - 16)
        require(start >= CDNA_HEADER, what)
        manifest = data[start:-16]
        require(manifest_is_sound(manifest), what)
        found = self.parse(manifest)
        # The length of the file is right if the sections end where the manifest starts.
        require(found["bulk_length"] == start, what)
        return found

    def parse(self, data):
        """FORMAT: .cmeta, the fields in their order."""
        source = Bytes(data[:-16], "the manifest")
        source.take(len(CMETA_MAGIC))
        found = {"version": source.uvarint()}
        if found["version"] != 1:
            raise UnknownVersion(f"version {found['version']} of the format is not known")
        found["archive_id"] = source.take(16)
        found["bins_id"] = source.take(16)
        found["tool"] = source.text().decode("utf-8", "replace")
        found["flags"] = flags = source.uvarint()
        require(flags < 512, "the manifest has flags that are not known")
        for _ in range(self.count(source) if flags & SIDES else 0):
            side = source.text()
            require(1 <= len(side) <= 200 and side not in (b".", b"..") and b"/" not in side and b"\0" not in side,
                    "the manifest has a side archive without a name")
        found["quality"] = source.byte()
        require(found["quality"] in QUALITY_MODES, "the manifest has an unknown quality mode")
        found["block_size"] = source.uvarint()
        found["bulk_length"] = source.uvarint()
        found["head"] = Section(source, "head")
        exact = not flags & (READS_ONLY | ORDER_ANY | NAMES_DROPPED)
        found["inputs"] = inputs = []
        for _ in range(self.count(source)):
            inputs.append(self.parse_input(source, exact, found["quality"], flags))
        self.check_pairs(inputs)
        found["slices"] = []
        last = b""
        for index in range(self.count(source)):
            found["slices"].append(self.parse_slice(source, index, inputs, flags, last))
            if found["slices"][-1].words:
                last = found["slices"][-1].words.last
        found["shared"] = [Section(source, f"shared {i}") for i in range(self.count(source))]
        found["parity"] = Section(source, "parity")
        require(not flags & REPEATS or len(found["shared"]) > 1 and found["shared"][1].length,
                "the section of repeats is missing")
        source.finish()
        self.place_sections(found)
        self.check_sums(found)
        return found

    @staticmethod
    def count(source):
        count = source.uvarint()
        require(count <= source.left(), "the manifest counts more than it can hold")
        return count

    @staticmethod
    def parse_input(source, exact, quality, flags):
        one = PackedInput()
        one.name = source.text()
        one.kind = source.byte()
        require(one.kind != 2, "an input is BAM, which this reader does not read")
        require(one.kind in KINDS, "an input is neither FASTQ nor FASTA")
        one.pairing = source.byte()
        require(one.pairing <= 7 and one.pairing != 2, "an input has an unknown pairing")
        require(one.pairing != 6 or one.kind == 1 and not flags & ORDER_ANY,
                "an input of two bits a base is not FASTA, or its order is free")
        one.interleaved = one.pairing == 7
        require(not one.interleaved or not flags & ORDER_ANY, "an input is interleaved, and its order is free")
        mate = source.uvarint() if one.pairing in (1, 3, 5) else None
        one.mate, one.lead = (None, mate) if one.pairing == 5 else (mate, None)
        one.first = one.pairing == 3
        one.records, one.bytes, one.bases = source.uvarint(), source.uvarint(), source.uvarint()
        one.shortest, one.longest = source.uvarint(), source.uvarint()
        one.exact = exact and (one.kind == 1 or quality == 0)
        one.blocks = []
        if one.exact:
            for _ in range(PackedArchive.count(source)):
                length = source.uvarint()
                one.blocks.append((length, source.take(16)))
        one.unpacked = one.sha256 = None
        if flags & VERIFIED:
            one.unpacked, one.sha256 = source.uvarint(), source.take(32)
        one.file = Source(source, one.bytes)
        one.md5 = None
        if flags & VERIFIED and one.file.text_md5:
            one.md5 = source.take(16)
        return one

    @staticmethod
    def check_pairs(inputs):
        seen = set()
        for index, one in enumerate(inputs):
            check_input_name(one.name, seen)
            require(not one.interleaved or one.mate is None and one.records % 2 == 0,
                    "an interleaved input has other mates, or one too many")
            if one.lead is not None:
                require(one.lead < len(inputs), "an input has further mates of no input")
                lead = inputs[one.lead]
                require(lead.mate is not None and lead.first and lead.records == one.records,
                        "an input has further mates of one that has no first mates for them")
            if one.mate is None:
                continue
            require(one.mate < len(inputs) and one.mate != index, "an input has a mate that is none")
            other = inputs[one.mate]
            require(other.mate == index and other.records == one.records
                    and other.first != one.first, "two mates do not fit each other")

    @staticmethod
    def parse_slice(source, index, inputs, flags, last):
        one = Slice()
        one.index = index
        one.input = source.uvarint()
        require(one.input < len(inputs), "a slice is of no input")
        first = inputs[one.input]
        require(first.mate is None or first.first, "a slice begins with second mates")
        one.records = source.uvarint()
        require(1 <= one.records <= 1 << 26, "a slice has too many records, or none")
        require(not first.interleaved or one.records % 2 == 0, "a slice ends within a pair")
        one.each = one.records // 2 if first.interleaved else one.records
        one.members = []
        owners = [one.input]
        if first.interleaved:
            owners = [one.input, one.input]
        elif first.mate is not None:
            owners = [one.input, first.mate]
        for number, owner in enumerate(owners):
            member = Member()
            member.input = owner
            member.bases, member.names_length = source.uvarint(), source.uvarint()
            require(source.uvarint() <= 1, "names continue others, or do not")
            member.text_length = member.text_hash = None
            if flags & VERIFIED:
                member.text_length, member.text_hash = source.uvarint(), source.fixed(8)
            for column in COLUMNS:
                label = f"slice {index} {column}"
                if len(owners) > 1:
                    label += " of first mates" if number == 0 else " of second mates"
                setattr(member, column, Section(source, label))
            one.members.append(member)
        one.sequences = Section(source, f"slice {index} sequences")
        one.words = Words(source, last) if flags & NAME_RANGES else None
        return one

    # -- what the manifest says must fit together

    @staticmethod
    def sections(head, slices, shared, parity):
        """All sections in the order in which they are stored (FORMAT: .cdna)."""
        yield head
        for one in slices:
            for member in one.members:
                for column in COLUMNS:
                    yield getattr(member, column)
            yield one.sequences
        yield from shared
        yield parity

    @classmethod
    def place_sections(cls, found):
        offset = CDNA_HEADER
        for section in cls.sections(found["head"], found["slices"], found["shared"], found["parity"]):
            if section.length:
                offset += SECTION_HEADER
            section.offset = offset
            offset += section.length
        require(offset == found["bulk_length"], "the lengths of the sections do not add up")

    def check_header(self):
        """Damage here does not keep the sections from being read (FORMAT: .cdna)."""
        expected = CDNA_MAGIC + bytes([self.version]) + self.archive_id
        if self.data[:CDNA_HEADER] != expected:
            self.problems.append("the header of the .cdna file is damaged")
        if len(self.data) < self.bulk_length:
            self.problems.append("the .cdna file has another length than it should")

    @staticmethod
    def check_sums(found):
        """FORMAT: .cmeta, the end."""
        slices, verified = found["slices"], found["flags"] & VERIFIED
        shared = sum(section.length for section in found["shared"])
        for index, one in enumerate(found["inputs"]):
            owned = [(s, m) for s in slices for m in s.members if m.input == index]
            require(sum(s.each for s, m in owned) == one.records,
                    f"the slices of {show(one.name)} have other records than the input")
            require(sum(m.bases for s, m in owned) == one.bases,
                    f"the slices of {show(one.name)} have other bases than the input")
            if verified:
                require(sum(m.text_length for s, m in owned) == one.unpacked,
                        f"the slices of {show(one.name)} have other text than the input")
            if one.exact:
                require(sum(length for length, _ in one.blocks) == one.bytes
                        and (not verified or one.unpacked == one.bytes),
                        f"the blocks of {show(one.name)} do not add up")
        for one in slices:
            if found["inputs"][one.input].lead is not None:
                PackedArchive.find_lead_slice(found["inputs"], slices, one)
            for member in one.members:
                require(member.bases <= (512 + one.sequences.length + shared) << 20,
                        "a slice has more bases than its sections can hold")
                require(member.names_length <= (512 + member.names.length) << 20,
                        "a slice has longer names than its section can hold")

    # -- reading

    def read(self, section):
        data = self.data[section.offset:section.offset + section.length]
        if section.length and xxh3_64(data) != section.checksum:
            raise Damaged(f"{section.label}: checksum differs")
        return data

    def report(self):
        """Prints everything and returns the problems."""
        problems = list(self.problems)
        print(f"packed archive, version {self.version}, manifest read from the {self.source} file")
        print(f"archive ID {self.archive_id.hex()}, bins ID {self.bins_id.hex()}")
        print(f"written by {self.tool}; flags: {flag_words(self.flags)}; qualities "
              f"{QUALITY_MODES[self.quality]}; block size {self.block_size}")
        for index, one in enumerate(self.inputs):
            pair = ""
            if one.mate is not None:
                pair = f", {'first' if one.first else 'second'} mates of input {one.mate}"
            if one.lead is not None:
                pair = f", further mates of input {one.lead}"
            if one.interleaved:
                pair = ", interleaved mates"
            print(f"input {index}: {show(one.name)}, {KINDS[one.kind]}{pair}, {one.records} records, "
                  f"{one.bytes} bytes, {one.bases} bases, reads of {one.shortest} to {one.longest}, "
                  f"{'exact, ' + str(len(one.blocks)) + ' blocks' if one.exact else 'not exact'}")
            print(f"  read from: {one.file.describe()}")
        for section in self.sections(self.head, self.slices, self.shared, self.parity):
            owner = next((s for s in self.slices if section is s.members[0].lengths), None)
            if owner is not None:
                print(f"slice {owner.index}: input {owner.input}, {owner.records} records, bases "
                      f"{' + '.join(str(m.bases) for m in owner.members)}")
            status = "no bytes"
            if section.length:
                try:
                    self.read(section)
                    status = f"{section.length} bytes at {section.offset}, checksum right"
                except Damaged as problem:
                    problems.append(str(problem))
                    status = f"{section.length} bytes at {section.offset}, CHECKSUM DIFFERS"
            print(f"  {section.label}: {status}")
        end = self.parity.offset - SECTION_HEADER if self.parity.length else self.bulk_length
        start = self.head.offset + self.head.length if self.head.length else CDNA_HEADER
        if xxh3_128(self.data[start:end]) == self.archive_id:
            print("archive ID is that of the sections")
        else:
            problems.append("the archive ID is not that of the sections")
        return problems

    def members_of(self, index):
        """The slices that hold an input, each with the numbers of its members: one, or both of an interleaved input."""
        for one in self.slices:
            numbers = [number for number, member in enumerate(one.members) if member.input == index]
            if numbers:
                yield one, numbers

    def in_turn(self, index, column):
        """The items of an input, of which column gives those of a member of a slice."""
        for one, numbers in self.members_of(index):
            for items in zip(*(column(one, number) for number in numbers)):
                yield from items

    def lengths(self, index):
        yield from self.in_turn(index, self.slice_lengths)

    def slice_lengths(self, one, number):
        member = one.members[number]
        label = member.lengths.label
        found = decode_lengths(self.read(member.lengths), one.each, label)
        require(sum(found) == member.bases, f"{label}: they do not add up to the bases")
        return found

    def names(self, index):
        if self.flags & READS_ONLY:
            raise NotHeld("the archive holds reads only, no names")
        if self.flags & NAMES_DROPPED:
            for number in range(self.inputs[index].records):
                yield str(number + 1).encode()
            return
        lead_chain, chains = NameChain(), (NameChain(), NameChain())
        for one, numbers in self.members_of(index):
            mates, found = None, []
            if self.inputs[index].lead is not None:
                lead = self.lead_slice(one).members[0]
                mates = lead_chain.decode(self.read(lead.names), one.records, None, lead.names_length, lead.names.label)
            for chain, member in zip(chains, one.members[:numbers[-1] + 1]):
                mates = chain.decode(self.read(member.names), one.each, mates,
                                     member.names_length, member.names.label)
                for name in mates:
                    require(one.words is None or one.words.has(re.split(rb"[ \t]", name, maxsplit=1)[0]),
                            f"{member.names.label}: a name is out of the range of the slice")
                found.append(mates)
            for names in zip(*(found[number] for number in numbers)):
                yield from names

    def lead_slice(self, one):
        return self.find_lead_slice(self.inputs, self.slices, one)

    @staticmethod
    def find_lead_slice(inputs, slices, one):
        """The slice of the first mates of a slice of further mates (FORMAT: .cmeta)."""
        lead = inputs[one.input].lead
        start = sum(s.records for s in slices[:one.index] if s.input == one.input)
        at = 0
        for other in slices:
            if other.input == lead:
                if at == start and other.records == one.records:
                    return other
                at += other.records
        raise Damaged("a slice of further mates has no slice of first mates")

    def qualities(self, index):
        if self.flags & READS_ONLY or self.quality == 2 or self.inputs[index].kind == 1:
            raise NotHeld("the archive holds no qualities of this input")
        yield from self.in_turn(index, self.slice_qualities)

    def slice_qualities(self, one, number):
        member, letters = one.members[number], None
        if self.inputs[member.input].pairing == 4:
            letters = self.slice_sequences(one, number)
        return decode_qualities(self.read(member.qualities), self.slice_lengths(one, number), member.qualities.label,
                                letters, lambda: self.primer(member.input, number))

    def primer(self, index, number):
        """What decode_leading returns of a member, which is of an input, of the first slice of that."""
        if (index, number) not in self.primers:
            one, _ = next(self.members_of(index))
            section = one.members[number].qualities
            self.primers[index, number] = decode_leading(self.read(section), self.slice_lengths(one, number), section.label)
        return self.primers[index, number]

    # -- sequences and text

    def shared_models(self):
        """The pseudogenome's model and the trees of positions, read once."""
        if self.models is None:
            require(self.shared, "the shared sections are missing")
            genome, model = decode_pseudogenome(self.read(self.shared[0]), "shared 0")
            trees = self.shared[1:]
            if self.flags & REPEATS:
                genome = decode_repeats(self.read(trees[0]), genome, trees[0].label)
                trees = trees[1:]
            trees = [PositionTree(self.read(section), len(genome), section.label)
                     for section in trees]
            self.models = genome, model, trees
        return self.models

    def has_qualities(self, index):
        return (not self.flags & READS_ONLY and self.quality != 2
                and self.inputs[index].kind == 0)

    def slice_sequences(self, one, number):
        """The sequences of a member of a slice."""
        if (one.index, number) not in self.decoded:
            self.decoded[one.index, number] = self.decode_slice(one, number)
        return self.decoded[one.index, number]

    def decode_slice(self, one, wanted):
        """The sequences of a member: the lengths of both members are needed, but its own qualities only."""
        if self.inputs[one.input].pairing == 6:
            return decode_two_bit(self.read(one.sequences), self.slice_lengths(one, 0), one.sequences.label)
        members = []
        for number, member in enumerate(one.members):
            lengths = self.slice_lengths(one, number)
            qualities = [None] * one.each
            if number == wanted and self.has_qualities(member.input) and self.inputs[member.input].pairing != 4:
                qualities = self.slice_qualities(one, number)
            members.append([Read(*pair) for pair in zip(lengths, qualities)])
        SliceDecoder(self.read(one.sequences), members, *self.shared_models(), one.sequences.label, wanted)
        return [read.text() for read in members[wanted]]

    def sequences(self, index):
        yield from self.in_turn(index, self.slice_sequences)

    def text(self, index):
        """The text of an input, record by record; checked where the archive has checksums of it."""
        kind = self.inputs[index].kind
        names = None if self.flags & READS_ONLY else self.names(index)
        total, text_of_input = 0, b""
        for one, numbers in self.members_of(index):
            parts, columns, member = [], [], one.members[numbers[0]]
            for number in numbers:
                forms, qualities = (lambda i: None), [None] * one.each
                if self.has_qualities(index):
                    qualities = self.slice_qualities(one, number)
                if not self.flags & READS_ONLY and (kind == 1 or self.has_qualities(index)):
                    section = one.members[number].forms
                    forms = packed_forms(self.read(section), one.each, section.label)
                columns.append((self.slice_sequences(one, number), qualities, forms))
            for i in range(one.each):
                for sequences, qualities, forms in columns:
                    parts.append(record_text(kind, next(names) if names else None, sequences[i], qualities[i], forms(i)))
            text = b"".join(parts)
            if member.text_length is not None:
                require(len(text) == member.text_length and xxh3_64(text) == member.text_hash,
                        f"slice {one.index}: the text is not what it was when it was verified")
            text_of_input += text
            yield from parts
        self.check_text(index, text_of_input)

    def check_text(self, index, text):
        one, at = self.inputs[index], 0
        for number, (length, checksum) in enumerate(one.blocks):
            require(text_hash(text[at:at + length]) == checksum,
                    f"block {number} of {show(one.name)} is not the original text")
            at += length
        if one.exact:
            require(at == len(text), f"{show(one.name)} has more text than its blocks")
        if one.md5 is not None:
            require(hashlib.md5(text).digest() == one.md5, f"the MD5 of {show(one.name)} differs")
        if one.sha256 is not None:
            require(len(text) == one.unpacked and hashlib.sha256(text).digest() == one.sha256,
                    f"{show(one.name)} is not what it was when it was verified")


# ---------------------------------------------------------------------------
# The bins (FORMAT: Bins)

BDNA_MAGIC, BMETA_MAGIC, BMETA_END = b"ORCOBDNA", b"ORCOBMET", b"ORCOBEND"
BMETA_FOOTER = 8 + 8 + 8 + 16 + 16 + 8
BIN_SECTIONS = ("bases", "names", "qualities", "bin table", "order", "places", "lengths",
                "exceptions", "forms")
BIN_NAMES, BIN_QUALITIES = 1, 2
METHODS = {0: "as it is", 1: "one byte", 2: "coded"}
BIN_METHODS = {BIN_NAMES: (0, 2), BIN_QUALITIES: (0, 1, 2)}
BIN_CHUNK = 1 << 20                     # bytes before compression


def text_hash(text):
    """FORMAT: Bins, Text hash."""
    sums = [xxh3_64(text[at:at + 16384].ljust(16384, b"\0")) for at in range(0, len(text), 16384)]
    return xxh3_128(b"".join(value.to_bytes(8, "little") for value in sums))


VARY, HAS_NAMES, HAS_QUALITIES, HAS_EXCEPTIONS, HAS_LAYOUT = 1, 2, 4, 8, 16


class Chunk:
    def __init__(self, method, stored, size, checksum):
        self.method, self.stored, self.size, self.checksum = method, stored, size, checksum
        self.offset = None


class BinInput:
    pass


class BinBlock:
    pass


class BinArchive:
    """NAME.bdna and NAME.bmeta."""

    def __init__(self, base):
        self.base = base
        self.problems = []
        self.meta = read_file(base + ".bmeta")
        if self.meta is None:
            raise Damaged("the .bmeta file is missing")
        self.parse_footer()
        self.parse_trailer()
        self.data, self.data_name = self.find_data_file()
        require(len(self.data) == self.data_size, "the .bdna file has another length than it should")

    def parse_footer(self):
        meta = self.meta
        require(len(meta) >= 16 + BMETA_FOOTER, "the .bmeta file is cut off")
        require(meta.startswith(BMETA_MAGIC), "the .bmeta file is damaged at its start")
        self.version = read32(meta, 8)
        if self.version != 1:
            raise UnknownVersion(f"version {self.version} of the bins is not known")
        require(read32(meta, 12) == 0, "the .bmeta file is damaged at its start")
        require(meta[-8:] == BMETA_END, "the .bmeta file is damaged at its end")
        footer = Bytes(meta[-BMETA_FOOTER:], "the footer")
        self.trailer_at, self.trailer_length = footer.fixed(8), footer.fixed(8)
        self.data_size = footer.fixed(8)
        checksum, self.id = footer.take(16), footer.take(16)
        require(self.trailer_at >= 16
                and self.trailer_at + self.trailer_length + BMETA_FOOTER == len(meta),
                "the trailer of the .bmeta file is not where it should be")
        self.trailer = meta[self.trailer_at:self.trailer_at + self.trailer_length]
        require(xxh3_128(meta[:16] + self.trailer + meta[-BMETA_FOOTER:-BMETA_FOOTER + 24] + self.id) == checksum,
                "the trailer of the .bmeta file is damaged")

    def find_data_file(self):
        """FORMAT: Commit: NAME.bdna or NAME.bdna.ID, whichever has the ID."""
        header = BDNA_MAGIC + struct.pack("<II", self.version, 0) + self.id
        seen = False
        for suffix in (".bdna", ".bdna." + self.id.hex()):
            data = read_file(self.base + suffix)
            if data is not None:
                seen = True
                if data.startswith(header):
                    return data, suffix
        raise Damaged("the header of the .bdna file is damaged, or the file is of other bins"
                      if seen else "the .bdna file is missing")

    def parse_trailer(self):
        source = Bytes(self.trailer, "the trailer of the .bmeta file")
        self.tool = source.text().decode("utf-8", "replace")
        self.flags = source.byte()
        require(self.flags < 8, "the trailer has options that are not known")
        self.quality = source.byte()
        require(self.quality in QUALITY_MODES, "the trailer has an unknown quality mode")
        self.block_size = source.uvarint()
        self.inputs, seen = [], set()
        for _ in range(PackedArchive.count(source)):
            one = BinInput()
            one.name = source.text()
            check_input_name(one.name, seen)
            one.kind = source.byte()
            require(one.kind != 2, "an input is BAM, which this reader does not read")
            require(one.kind in KINDS, "an input is neither FASTQ nor FASTA")
            mates = source.byte()
            require(mates <= 3, "an input has an unknown pairing")
            mate = source.uvarint()
            mate = mate - 1 if mate else None
            require(mates != 2 or mate is not None, "an input has further mates of no input")
            one.first, one.mate, one.lead = mates == 1, mate, None
            one.interleaved = mates == 3
            require(not one.interleaved or not self.flags & ORDER_ANY, "an input is interleaved, and its order is free")
            if mates == 2:
                one.mate, one.lead = None, mate
            one.records, one.bytes = source.uvarint(), source.uvarint()
            one.file = Source(source, one.bytes)
            self.inputs.append(one)
        PackedArchive.check_pairs(self.inputs)
        self.blocks = []
        for index in range(PackedArchive.count(source)):
            one = BinBlock()
            one.index = index
            one.flags = source.byte()
            require(one.flags < 32, "a block has flags that are not known")
            one.input = source.uvarint()
            require(one.input < len(self.inputs), "a block is of no input")
            one.before, one.records = source.uvarint(), source.uvarint()
            one.bytes, one.bases, one.length = source.uvarint(), source.uvarint(), source.uvarint()
            one.names_size, one.qualities_size, one.bases_size = (
                source.uvarint(), source.uvarint(), source.uvarint())
            one.text_hash = source.take(16)
            self.blocks.append(one)
        for one in self.blocks:
            one.stored = [source.uvarint() for _ in range(3)]
            one.meta_bytes, one.directory_bytes = source.uvarint(), source.uvarint()
            one.directory_hash = source.fixed(8)
            one.sections = None         # see directory
        source.finish()
        self.check_blocks()

    def check_blocks(self):
        """Blocks follow one another in the inputs and in both files."""
        data_at, meta_at = len(BDNA_MAGIC) + 8 + 16, 16
        records, text = [0] * len(self.inputs), [0] * len(self.inputs)
        for one in self.blocks:
            where = f"block {one.index}"
            require(one.before == records[one.input], f"{where} does not follow the one before")
            require(not self.inputs[one.input].interleaved or one.records % 2 == 0, f"{where} ends within a pair")
            records[one.input] += one.records
            text[one.input] += one.bytes
            one.data_at, one.meta_at = data_at, meta_at
            data_at += sum(one.stored)
            meta_at += one.meta_bytes
            require(one.directory_bytes <= one.meta_bytes, f"{where}: the directory is too long")
            require(one.records < 1 << 32, f"{where}: too many records")
            if one.flags & VARY:
                require(one.length == 0, f"{where}: lengths vary, or do not")
            else:
                require(one.length * one.records == one.bases, f"{where}: the lengths do not add up")
            require(one.names_size >= one.records if one.flags & HAS_NAMES else one.names_size == 0,
                    f"{where}: names of an impossible length")
            require(one.qualities_size == (one.bases if one.flags & HAS_QUALITIES else 0),
                    f"{where}: there are not as many qualities as bases")
            require(one.stored[0] == one.bases_size and one.bases <= 4 * one.bases_size,
                    f"{where}: bases of an impossible length")
        require(data_at == self.data_size and meta_at == self.trailer_at,
                "the blocks do not fill their files")
        require(records == [one.records for one in self.inputs]
                and text == [one.bytes for one in self.inputs], "the blocks do not add up")

    def directory(self, block):
        """The sections of a block: (name, bytes before compression, chunks)."""
        if block.sections is not None:
            return block.sections
        where = f"block {block.index}"
        end = block.meta_at + block.meta_bytes
        directory = self.meta[end - block.directory_bytes:end]
        require(xxh3_64(directory) == block.directory_hash, f"{where}: the directory is damaged")
        source = Bytes(directory, f"{where}: the directory")
        sections, places = [], [block.data_at] * 3 + [block.meta_at] * 6
        for number, name in enumerate(BIN_SECTIONS):
            size = source.uvarint()
            require(-(-size // BIN_CHUNK) <= source.left() // 8, f"{where}: too many chunks")
            chunks, left = [], size
            while left:
                content = min(left, BIN_CHUNK)
                method, stored = 0, content
                if number in (BIN_NAMES, BIN_QUALITIES):
                    method, stored = source.byte(), source.uvarint()
                    require(method in BIN_METHODS[number],
                            "a chunk is stored in an unknown way")
                    require(1 <= stored <= content and (method or stored == content),
                            "a chunk has an impossible length")
                    require(method != 1 or stored == 1, "a chunk of one byte has more")
                chunks.append(Chunk(method, stored, content, source.fixed(8)))
                left -= content
            sections.append((name, size, chunks))
        source.finish()
        data_at, meta_at = block.data_at, block.meta_at
        for number, (name, size, chunks) in enumerate(sections):
            for chunk in chunks:
                if number < 3:
                    chunk.offset = data_at
                    data_at += chunk.stored
                else:
                    chunk.offset = meta_at
                    meta_at += chunk.stored
        require(meta_at + block.directory_bytes == end, f"{where}: a gap in the .bmeta file")
        self.check_directory(block, sections)
        block.sections = sections
        return sections

    @staticmethod
    def check_directory(block, sections):
        """What the trailer says too."""
        sizes = [size for _, size, _ in sections]
        where = f"block {block.index}"
        require(sizes[:3] == [block.bases_size, block.names_size, block.qualities_size],
                f"{where}: the trailer has other sizes than the directory")
        stored = [sum(chunk.stored for chunk in chunks) for _, _, chunks in sections[:3]]
        require(stored == block.stored, f"{where}: the trailer has other lengths than the directory")
        require(sizes[4] == sizes[5] == 4 * block.records, f"{where}: order or places is too short")
        require(sizes[6] == (4 * block.records if block.flags & VARY else 0),
                f"{where}: lengths is too short")
        for number, flag in ((7, HAS_EXCEPTIONS), (8, HAS_LAYOUT)):
            require(bool(block.flags & flag) == bool(sizes[number]),
                    f"{where}: {BIN_SECTIONS[number]} is there or not, against the flags")

    def stored_chunk(self, block, number, index):
        """The bytes of a chunk as stored, checked."""
        name, _, chunks = self.directory(block)[number]
        chunk = chunks[index]
        file = self.data if number < 3 else self.meta
        data = file[chunk.offset:chunk.offset + chunk.stored]
        if xxh3_64(data) != chunk.checksum:
            raise Damaged(f"block {block.index} {name}, chunk {index}: checksum differs")
        return data

    def content(self, block, number):
        """A whole section before compression."""
        name, size, chunks = self.directory(block)[number]
        parts = []
        for index, chunk in enumerate(chunks):
            data = self.stored_chunk(block, number, index)
            what = f"block {block.index} {name}, chunk {index}"
            if chunk.method == 1:
                data = data * chunk.size
            elif chunk.method == 2 and number == BIN_NAMES:
                data = decode_line_names(data, chunk.size, what)
            elif chunk.method == 2:
                require(data[0] in (2, 3), f"{what}: a coded stream of another kind")
                data = decode_stream(data, chunk.size, what)
            require(len(data) == chunk.size, f"{what}: its content has another length")
            parts.append(data)
        return b"".join(parts)

    def report(self):
        problems = list(self.problems)
        print(f"bins, version {self.version}, data in the {self.data_name} file, ID {self.id.hex()}")
        print(f"written by {self.tool}; flags: {flag_words(self.flags)}; qualities "
              f"{QUALITY_MODES[self.quality]}; block size {self.block_size}")
        for index, one in enumerate(self.inputs):
            pair = ""
            if one.mate is not None:
                pair = f", {'first' if one.first else 'second'} mates of input {one.mate}"
            if one.lead is not None:
                pair = f", further mates of input {one.lead}"
            if one.interleaved:
                pair = ", interleaved mates"
            print(f"input {index}: {show(one.name)}, {KINDS[one.kind]}{pair}, {one.records} records, "
                  f"{one.bytes} bytes")
        for block in self.blocks:
            length = "lengths vary" if block.flags & VARY else f"all of {block.length}"
            print(f"block {block.index}: input {block.input}, {block.records} records from "
                  f"{block.before}, {block.bytes} bytes, {block.bases} bases, {length}")
            try:
                sections = self.directory(block)
            except Damaged as problem:
                problems.append(str(problem))
                continue
            for number, (name, size, chunks) in enumerate(sections):
                if not chunks:
                    print(f"  {name}: no bytes")
                for index, chunk in enumerate(chunks):
                    status = "checksum right"
                    try:
                        self.stored_chunk(block, number, index)
                    except Damaged as problem:
                        problems.append(str(problem))
                        status = "CHECKSUM DIFFERS"
                    print(f"  {name}, chunk {index}: {chunk.stored} bytes for {chunk.size} at "
                          f"{chunk.offset}, {METHODS[chunk.method]}, {status}")
                try:
                    self.content(block, number)
                except Damaged as problem:
                    if str(problem) not in problems:
                        problems.append(str(problem))
        return problems

    def blocks_of(self, index):
        return [block for block in self.blocks if block.input == index]

    def block_lengths(self, block):
        if not block.flags & VARY:
            return [block.length] * block.records
        data = self.content(block, 6)
        found = [read32(data, 4 * i) for i in range(block.records)]
        require(sum(found) == block.bases, f"block {block.index}: the lengths do not add up")
        return found

    def lengths(self, index):
        for block in self.blocks_of(index):
            yield from self.block_lengths(block)

    def names(self, index):
        if self.flags & (READS_ONLY | NAMES_DROPPED):
            raise NotHeld("the bins hold no names")
        for block in self.blocks_of(index):
            names = self.content(block, 1).split(b"\n")
            require(names.pop() == b"" and len(names) == block.records,
                    f"block {block.index}: there are not as many names as records")
            yield from names

    def qualities(self, index):
        if not all(block.flags & HAS_QUALITIES for block in self.blocks_of(index)):
            raise NotHeld("the bins hold no qualities of this input")
        for block in self.blocks_of(index):
            data, at = self.content(block, 2), 0
            for length in self.block_lengths(block):
                yield data[at:at + length]
                at += length

    def block_sequences(self, block):
        """FORMAT: Bins, bases, bin table, order, places and exceptions."""
        where = f"block {block.index}"
        lengths, data = self.block_lengths(block), self.content(block, 0)
        order, places = self.content(block, 4), self.content(block, 5)
        found, at = [None] * block.records, 0
        for i in range(block.records):
            record = read32(order, 4 * i)
            require(record < block.records and found[record] is None, f"{where}: order is damaged")
            length = lengths[record]
            require(at + (length + 3) // 4 <= len(data), f"{where}: too few bases")
            bases = [data[at + j // 4] >> 2 * (j % 4) & 3 for j in range(length)]
            at += (length + 3) // 4
            if read32(places, 4 * i) & 1:
                bases = [3 - base for base in reversed(bases)]
            found[record] = bytearray(b"ACGT"[base] for base in bases)
        require(at == len(data), f"{where}: too many bases")
        self.check_bin_table(block, len(data))
        source = Bytes(self.content(block, 7), f"{where} exceptions")
        record = end = 0
        while source.left():
            skipped = source.uvarint()
            if skipped:
                record, end = record + skipped, 0
            start = end + source.uvarint()
            end = start + source.uvarint()
            byte = source.byte()
            require(record < block.records and start < end <= lengths[record],
                    f"{where}: an exception is outside its read")
            part = found[record][start:end]
            found[record][start:end] = bytes([byte]) * (end - start) if byte else part.lower()
        return [bytes(sequence) for sequence in found]

    def check_bin_table(self, block, size):
        source = Bytes(self.content(block, 3), f"block {block.index} bin table")
        signature, sums = -1, [0, 0, 0]
        while source.left():
            signature += source.uvarint() + 1
            require(signature <= 65536, f"block {block.index}: an unknown bin")
            for i in range(3 if block.flags & VARY else 1):
                sums[i] += source.uvarint()
        expected = [block.records, block.bases, size] if block.flags & VARY else [block.records, 0, 0]
        require(sums == expected, f"block {block.index}: the bin table does not add up")

    def sequences(self, index):
        for block in self.blocks_of(index):
            yield from self.block_sequences(block)

    def text(self, index):
        """The text of an input, record by record, and checked if it is all there."""
        kind = self.inputs[index].kind
        names = None
        if self.flags & NAMES_DROPPED:
            names = (b"%d" % (i + 1) for i in range(self.inputs[index].records))
        elif not self.flags & READS_ONLY:
            names = self.names(index)
        for block in self.blocks_of(index):
            qualities = forms = None
            if block.flags & HAS_QUALITIES:
                data, qualities, at = self.content(block, 2), [], 0
                for length in self.block_lengths(block):
                    qualities.append(data[at:at + length])
                    at += length
            if not self.flags & READS_ONLY and (kind == 1 or qualities is not None):
                forms = parse_forms(self.content(block, 8), block.records,
                                        f"block {block.index} forms")
            parts = [record_text(kind, next(names) if names else None, sequence,
                                 qualities and qualities[i], forms and forms(i))
                     for i, sequence in enumerate(self.block_sequences(block))]
            if not self.flags and (kind == 1 or self.quality == 0):
                require(text_hash(b"".join(parts)) == block.text_hash,
                        f"block {block.index} is not the original text")
            yield from parts


# ---------------------------------------------------------------------------
# The arithmetic coder (FORMAT: Sequences, The arithmetic coder)

class ArithmeticDecoder:
    def __init__(self, data):
        self.data, self.at = data, 8
        self.size = MASK64
        self.code = int.from_bytes(data[:8].ljust(8, b"\0"), "big")

    def bit(self, p):
        """A bit that is 1 with probability p / 65536."""
        split = (self.size >> 16) * p
        if self.code < split:
            self.size, bit = split, 1
        else:
            self.code -= split
            self.size -= split
            bit = 0
        self.shift()
        return bit

    def shift(self):
        if self.size < 1 << 32:
            # Past the end the decoder reads zeros.
            more = int.from_bytes(self.data[self.at:self.at + 4].ljust(4, b"\0"), "big")
            self.at += 4
            self.code = (self.code << 32 | more) & MASK64
            self.size = self.size << 32 & MASK64

    def point(self):
        """Which 65536th of the interval the code is in."""
        return min(self.code // (self.size >> 16), 65535)

    def part(self, start, width):
        unit = self.size >> 16
        self.code -= unit * start
        self.size = unit * width
        self.shift()

    def adaptive(self, prob, limit):
        """A bit by a prob, a list of its probability and its count, which learns it."""
        p, count = prob
        bit = self.bit(min(max(p >> 6, 8), 65528))
        learn(prob, bit, limit)
        return bit

    def mixed(self, inputs, weights, rate):
        """FORMAT: Mixing: weights are lists of as many weights as there are inputs, which are added."""
        total = sum(x * sum(w) for x, w in zip(inputs, zip(*weights)))
        p = squash(total >> 16)
        bit = self.bit(p)
        step = (65536 * bit - p) * rate
        for one in weights:
            for i, x in enumerate(inputs):
                one[i] += (x * step + (1 << 19)) >> 20
        return bit

    def even(self, count):
        """FORMAT: The arithmetic coder, an even number."""
        value = 0
        while count > 0:
            bits = min(count, 16)
            part = self.point() >> (16 - bits)
            self.part(part << (16 - bits), 1 << (16 - bits))
            value = value << bits | part
            count -= bits
        return value


    def below(self, count):
        """FORMAT: The arithmetic coder, a number below count."""
        low = max((count - 1).bit_length() - 16, 0)
        parts = (count - 1 >> low) + 1
        high = (self.point() + 1) * parts - 1 >> 16
        start = (high << 16) // parts
        self.part(start, (high + 1 << 16) // parts - start)
        return min(high << low | self.even(low), count - 1)


def rounded(x, n):
    return x + (1 << n - 1) >> n


class Effect:
    """FORMAT: Kinetics, an effect."""

    def __init__(self):
        self.mean = self.count = 0

    def learn(self, y, n=1):
        self.count = min(self.count + n, 1000)
        self.mean += rounded((y - n * self.mean) * (65536 // self.count), 16)


class Frequencies:
    """FORMAT: Kinetics, frequencies."""

    def __init__(self):
        self.counts, self.after = [1] * 256, 16
        self.compute()

    def compute(self):
        total = sum(self.counts)
        wide = next((w for most, w in ((11, 8), (14, 4), (17, 2), (19, 1)) if total < 1 << most), 0)
        around = [sum(self.counts[max(v - wide, 0):v + wide + 1]) for v in range(256)]
        share = (65280 << 16) // sum(around)
        self.starts, before = [], 0
        for v, n in enumerate(around):
            self.starts.append(v + (before * share >> 16))
            before += n
        self.starts.append(65536)
        if total > 1 << 20:
            self.counts = [n - n // 2 for n in self.counts]
        self.left, self.after = self.after, min(2 * self.after, 4096)

    def byte(self, coder):
        point = coder.point()
        v = next(v for v in range(256) if point < self.starts[v + 1])
        coder.part(self.starts[v], self.starts[v + 1] - self.starts[v])
        self.counts[v] += 32
        self.left -= 1
        if not self.left:
            self.compute()
        return v


def level(v):
    """FORMAT: Kinetics, the level of a byte."""
    part = v // 64
    x = (64 << part) - 64 + (v % 64 << part) + 1
    n = x.bit_length() - 1
    return n * 2048 + (x * 2048 >> n) % 2048


class KineticsDecoder:
    """FORMAT: Kinetics, the arrays of a column."""

    def __init__(self, data):
        source = Bytes(data, "kinetics")
        self.coders, self.spread = [ArithmeticDecoder(data) for data in (source.take(source.uvarint()), source.rest())], 2048
        self.effects, self.weights, self.frequencies = {}, {}, {}

    def arrays(self, reads, reverse, others):
        """The arrays of reads, and the rests of their values; others are those of the column before."""
        found, rests = [], []
        for letters, other in zip(reads, others):
            if reverse:
                letters = letters[::-1].translate(bytes.maketrans(b"ACGT", b"TGCA"))
            array, rest = self.array(["ACGT".find(chr(l)) for l in letters], other)
            found.append(array)
            rests.append(rest)
        return found, rests

    def adds(self, *inputs):
        return sum(self.weights.get(name, 0) * x for name, x in inputs) >> 16

    def array(self, bases, others):
        read, last, array, rests = Effect(), 0, [], []
        bases = [0] * 7 + [max(b, 0) for b in bases] + [0] * 5
        for begin in range(0, len(others), 64):
            s = self.spread >> 4 | 8
            size = s.bit_length()
            spread_class = min(2 * size + (s >> size - 2 & 1) - 8, 15)
            of_read = ("read", read.count.bit_length())
            values, used = [], []
            for i, other in enumerate(others[begin:begin + 64]):
                window = 0
                for b in bases[begin + i:begin + i + 13]:
                    window = window << 2 | b
                near, middle, sides = (self.effects.setdefault((name, bits), Effect()) for name, bits in (
                    ("near", window >> 6 & 0xff), ("middle", window >> 6 & 0x3fff), ("sides", (window >> 20, window & 0x3f))))
                first = near.mean
                second = first + self.adds(("middle", middle.mean), ("sides", sides.mean))
                whole = second + self.adds((of_read, read.mean)) + self.adds(("last", last)) + self.adds(("other", other))
                values.append((near, middle, sides, first, second, whole, other))
                step = max(0, min(rounded(whole, 7), 159))
                used.append(self.frequencies.setdefault((step, spread_class), Frequencies()))
            coded = [f.byte(self.coders[i & 1]) for i, f in enumerate(used)]
            array += coded
            levels = [level(v) for v in coded]
            for i, l in enumerate(levels):
                near, middle, sides, first, second, whole, other = values[i]
                if i % 16 == 0 and near.count >= 8:
                    for name, x in (("middle", middle.mean), ("sides", sides.mean), (of_read, read.mean), ("last", last), ("other", other)):
                        moved = self.weights.get(name, 0) + rounded(x * (l - whole), 14)
                        self.weights[name] = max(-1 << 17, min(moved, 1 << 17))
                elif i % 4 == 2:
                    middle.learn(l - first)
                elif i % 8 == 4:
                    sides.learn(l - first)
                elif i % 16 == 8:
                    near.learn(l)
            rest = [max(-1 << 15, min(l - value[4], (1 << 15) - 1)) for l, value in zip(levels, values)]
            rests += rest
            read.learn(sum(rest), len(rest))
            self.spread += sum(abs(l - value[5]) for l, value in zip(levels, values)) - len(rest) * self.spread >> 8
            last = sum(rest) >> 6
        return array, rests


def new_prob():
    return [1 << 21, 0]


def learn(prob, bit, limit):
    p, count = prob
    goal = (1 << 22) - 1 if bit else 0
    prob[0] = p + ((goal - p) * (131072 // (2 * count + 3)) >> 16)
    if count < limit:
        prob[1] = count + 1


def density(left, bases):
    return min((64 * left // bases).bit_length(), 7)


class Gaps:
    """FORMAT: Differences with qualities: which base of a read differs next."""

    def __init__(self):
        self.seen, self.differed = [0] * 128, [0] * 128
        self.factors = [[256] * 8 for _ in range(12)]
        self.reads, self.after = 0, 32
        self.learn()

    def learn(self):
        self.weights = []
        for q in range(256):
            rate = ERROR_RATE[max(q - 33, 0)]
            w = (self.differed[q & 127] + 1 << 20) // (16 * self.seen[q & 127] + (1 << 20) // max(rate, 1))
            self.weights.append(min(max(w, 1), 1 << 20))
        if self.reads:
            self.factors = [[min(max(f * (256 * o + 1024) // (e + 1024), 4), 1 << 14) for f, o, e in zip(*of)]
                            for of in zip(self.factors, self.observed, self.expected)]
        self.observed, self.expected = [[0] * 8 for _ in range(12)], [[0] * 8 for _ in range(12)]

    def begin(self, qualities):
        self.qualities = qualities
        self.reads += 1
        if self.reads % 16 == 0:
            for q in qualities:
                self.seen[q & 127] += 1
        if self.reads == self.after:
            self.after += min(self.reads, 512)
            self.learn()

    def next(self, coder, at, left, before):
        k = min(left.bit_length(), 6) - 1 + 6 * before
        n = len(self.qualities)
        densities = [density(left, n - i) for i in range(at, n)]
        sums = [0]
        for d, q in zip(densities, self.qualities[at:]):
            sums.append(sums[-1] + self.factors[k][d] * self.weights[q])

        def some(x):
            share = 65536 - (x << 16) // sums[-1]
            for _ in range(min(left.bit_length() - 1, 2)):
                share = share * share >> 16
            return 65536 - share

        starts = [(some(x) * (65536 - n + at) >> 16) + i for i, x in enumerate(sums)]
        point = coder.point()
        i = next((i for i in range(n - at) if starts[i + 1] > point), n - at - 1)
        coder.part(starts[i], starts[i + 1] - starts[i])
        if self.reads % 4 == 0:
            self.observed[k][densities[i]] += 1
            for d in set(densities):
                first, end = densities.index(d), n - at - densities[::-1].index(d)
                self.expected[k][d] += some(sums[end]) - some(sums[first]) >> 8
        return at + i


class Probs:
    """Adaptive probabilities ("prob"), each made when its key first comes."""

    def __init__(self, coder):
        self.coder, self.states = coder, {}

    def bit(self, key, limit):
        return self.coder.adaptive(self.states.setdefault(key, new_prob()), limit)

    def mixed(self, keys, weights, rate):
        """A bit that the probs of several keys predict, which learn it; the weights are those of the sum."""
        probs = [self.states.setdefault(key, new_prob()) for key in keys]
        bit = self.coder.mixed([STRETCH[prob[0] >> 10] for prob in probs], [weights], rate)
        for prob in probs:
            learn(prob, bit, 1023)
        return bit

    def tree(self, key, bits, limit):
        node = 1
        for _ in range(bits):
            node = node << 1 | self.bit((key, node), limit)
        return node - (1 << bits)

    def number(self, key, limit):
        length = self.tree((key, "length"), 6, limit)
        value = min(length, 1)
        for _ in range(min(length - 1, 4)):
            value = value << 1 | self.bit((key, length, value), limit)
        rest = max(length - 5, 0)
        return value << rest | self.coder.even(rest)


def make_squash():
    """FORMAT: Mixing: squash(-2047..2047), by x + 2047."""
    positive, t = [], 1 << 62
    for _ in range(2048):
        positive.append(min((1 << 62) // (((1 << 62) + t) >> 16), 65527))
        t = t * 4593706758521714574 >> 62
    return [65536 - positive[x] for x in range(2047, 0, -1)] + positive


SQUASH = make_squash()


def squash(x):
    return SQUASH[min(max(x, -2047), 2047) + 2047]


def make_stretch():
    table, x = [], -2047
    for i in range(4096):
        # squash never gets to 16 * 4095 + 8: the last entry is the largest x.
        while x < 2047 and squash(x) < 16 * i + 8:
            x += 1
        table.append(x)
    return table


STRETCH = make_stretch()


# ---------------------------------------------------------------------------
# Lengths (FORMAT: Sequences, Lengths section)

MEMORY = 1023                   # the limit wherever FORMAT.md gives no other


def decode_lengths(data, records, what):
    source = Bytes(data, what)
    bits = source.byte()
    if bits == 0:
        length = source.uvarint()
        require(length <= MASK32, f"{what}: a length of more than 32 bits")
        source.finish()
        return [length] * records
    require(bits <= 12 or bits == 33, f"{what}: a length of {bits} bits")
    probs = Probs(ArithmeticDecoder(source.rest()))
    weights = {"same": [1 << 15] * 2, "symbol": [1 << 15] * 2}
    outcomes, last, run, found = 0, 0, 1, []
    for _ in range(records):
        same = probs.mixed([("same", outcomes, min(half_octaves(run), 7)), ("same after", last & 255)],
                           weights["same"], 8)
        outcomes = outcomes << 1 & 3 | same
        run = run + 1 if same else 1
        if not same and bits == 33:
            last = probs.number("length", MEMORY)
        elif not same:
            node, before = 1, 1 << bits | last
            for i in range(bits, 0, -1):
                node = node << 1 | probs.mixed(
                    [("symbol", node == before >> i, node), ("symbol after", last & 255, node)],
                    weights["symbol"], 8)
            last = node - (1 << bits)
        found.append(last)
    return found


def half_octaves(x):
    """FORMAT: Adaptive elements: twice the binary logarithm of x, rounded down to a half octave."""
    n = x.bit_length()
    return 2 * n - 2 + (2 * x >> n - 1 & 1)


# ---------------------------------------------------------------------------
# Names (FORMAT: Names)

(SHAPE, PLAN, RARE, SIDE, RULE, SAME, KIND, EQUAL, MATCH, FITS, LOW, WELL, LETTER,
 SIZE) = range(1, 15)
MOVE_SAME, MOVE_UP, MOVE_DOWN, MOVE_JUMP, MOVE_RISE, MOVE_NONE = range(6)
NEW_SHAPE = 255                 # no id of a shape
SPELT_FIELD = 8160              # the field of whole names that are spelt
TABLES = 8192                   # at most


def name_hash(a, b, c):
    x = (a * 0x9E3779B1 ^ b * 0x85EBCA77 ^ c * 0xC2B2AE3D) & MASK32
    x ^= x >> 15
    x = x * 0x2C1B3C6D & MASK32
    return x ^ x >> 13


class Table:
    """FORMAT: Names, Decisions: the frequencies of 128 symbols."""

    def __init__(self, once):
        self.counts = [25] * min(once, 128) + [1] * (128 - once)
        self.coded = self.next = 0
        self.renew()

    def renew(self):
        unit = 65408 * 65536 // sum(self.counts)
        self.widths = [1 + (n * unit >> 16) for n in self.counts[:127]]
        self.widths.append(65536 - sum(self.widths))

    def learn(self, symbol):
        self.counts[symbol] += 24
        if self.counts[symbol] > 7168:
            self.counts = [(n + 1) // 2 for n in self.counts]
        self.coded += 1
        if self.coded >= self.next:
            self.next = self.coded + min(self.coded // 16 + 1, 256)
            self.renew()


class NameCoder:
    """FORMAT: Names, Decisions: cells and tables."""

    def __init__(self):
        self.cells = {}                 # of a table of 2^16 probs
        self.tables = {}                # by field and what they are for
        self.made, self.newest = 0, None

    def begin(self, stream):
        """What follows is coded by this stream."""
        self.coder = ArithmeticDecoder(stream)

    def even(self, count):
        return self.coder.even(count)

    def table(self, key, once=0):
        if key not in self.tables:
            self.made += 1
            if self.made <= TABLES:
                self.newest = Table(once)
            self.tables[key] = self.newest
        return self.tables[key]

    def symbol(self, key, last=127):
        table, point, start = self.table(key), self.coder.point(), 0
        total = sum(table.widths[:last + 1])
        for symbol, width in enumerate(table.widths):
            end = (start + width << 16) // total
            if point < end:
                begin = (start << 16) // total
                self.coder.part(begin, end - begin)
                table.learn(symbol)
                return symbol
            start += width

    def spread(self, key):
        symbol = self.symbol(key)
        k = symbol >> 2
        return (4 + (symbol & 3) << k) >> 2 | self.even(max(k - 2, 0))

    def cell(self, h, node):
        place = ((h ^ node * 0x9E3779B1) * 0x85EBCA6B & MASK32) >> 16
        return self.cells.setdefault(place, new_prob())

    def by_cell(self, h, node, limit):
        return self.coder.adaptive(self.cell(h, node), limit)

    def direct(self, h, limit):
        return self.by_cell(h, 0, limit)

    def tree(self, bits, h, limit):
        node = 1
        for _ in range(bits):
            node = 2 * node + self.by_cell(h, node, limit)
        return node - (1 << bits)


def is_digit(c):
    return 48 <= c <= 57


def is_letter(c):
    return 65 <= c <= 90 or 97 <= c <= 122 or c >= 127 or (c < 32 and c not in (9, 13))


def hexadecimal(text):
    """The length of the hexadecimal number that text begins with, 0 if it has less than 16 bytes or no letters."""
    size = 0
    while size < len(text) and (text[size] in b"0123456789abcdef" or text[size] == 45 and size in (8, 13, 18, 23)):
        size += 1
    return size if size >= 16 and any(c in b"abcdef" for c in text[:size]) else 0


def cut_name(name):
    """FORMAT: Names, Cutting a name: the shape and the fields."""
    shape, fields, at = bytearray(), [], 0
    while at < len(name):
        c = name[at]
        if not is_digit(c) and not is_letter(c):
            shape.append(c)
            at += 1
            continue
        start, kind = at, 0
        if len(fields) == 31:
            at = len(name)
        elif hexadecimal(name[start:]):
            at += hexadecimal(name[start:])
        else:
            if is_digit(c):
                while at < len(name) and is_digit(name[at]) and at - start < 9:
                    at += 1
                kind = 2 + at - start if c == 48 and at - start > 1 else 1
            else:
                while at < len(name) and is_letter(name[at]):
                    at += 1
        shape.append(128 + kind)
        fields.append(name[start:at])
    return bytes(shape), fields


class Field:
    """What is remembered of one field of one shape."""

    def __init__(self, number, kind):
        self.number = number            # F
        self.is_number = kind != 0
        self.digits = kind - 2 if kind > 2 else 0
        self.live, self.match, self.equal = True, False, None
        self.pitch = self.phase = 0
        self.width = 32
        # A word
        self.word = b""
        self.dictionary, self.places = [], {}
        # A number
        self.value = 0
        self.stepped = self.offset = 0
        self.before = self.sorted = self.last_up = self.mean = 0
        self.shifts = {}                # of rows of wells
        # Forecasts
        self.history, self.came_from, self.by_value = [], [], {}
        self.place, self.misses = None, 0

    def text(self):
        if not self.is_number:
            return self.word
        return str(self.value).encode().rjust(self.digits, b"0")

    # -- words

    def word_place(self):
        """I: the number of the last word in the dictionary, 127 if it is not in it."""
        return self.places.get(self.word, 127)

    def take_word(self, word):
        self.word = word
        if word not in self.places and len(self.dictionary) < 127 and len(word) <= 255:
            self.places[word] = len(self.dictionary)
            self.dictionary.append(word)

    # -- numbers

    def forecasts(self):
        """FORMAT: Names, Forecasts: at most three values that may come next."""
        found, place = [], self.place
        for _ in range(8):
            if place is None or len(found) == 3:
                break
            value = self.history[place]
            if not found or value not in (found[0], found[-1]):
                found.append(value)
            place = self.came_from[place]
        return found

    def remember(self, value):
        here = len(self.history)
        self.history.append(value)
        self.came_from.append(self.place)
        missed = False
        if self.place is not None:
            missed = self.history[self.place] != value
            self.misses = (self.misses << 1 | missed) & 0xFFFF
            self.place += 1
            if self.misses == 0xFFFF:
                self.place = None
        slot = (value * 0x9E3779B1 & MASK32) >> 15
        if missed or self.place is None:
            earlier = self.by_value.get(slot)
            if (earlier is not None and self.history[earlier] == value
                    and (self.place is None or self.misses & 3 == 3)):
                self.place, self.misses = earlier + 1, 0
        self.by_value[slot] = here

    def part(self):
        return self.stepped >> max(self.width - 4, 0)

    def begin(self, cell, more=0):
        return ((cell * self.pitch + self.phase + more & MASK64) >> 20) & MASK32

    def cell(self, value):
        return max((value << 20) + (1 << 20) - 1 - self.phase, 0) // self.pitch & MASK32

    def has_wells(self):
        return 0 < self.pitch < 1 << 25

    def has_windows(self):
        return self.pitch >= 1 << 25

    def set_number(self, value):
        """A value that was not coded as a step counts as a jump."""
        self.value = stepped = value
        if self.pitch:
            stepped = self.cell(value)
            self.offset = min(value - self.begin(stepped) & MASK32, (self.pitch >> 20) - 1)
        self.moved(stepped, MOVE_JUMP)
        if self.match:
            self.remember(value)

    def moved(self, stepped, move):
        """FORMAT: Names, After a step."""
        d = (stepped - self.stepped) & MASK32
        down = -d & MASK32
        rises = d < 1 << 31
        if rises:
            small = d == 0 or d.bit_length() <= self.width - 3
        else:
            small = down.bit_length() <= min(8, self.width - 3)
        if small:
            self.sorted += (4096 - self.sorted) >> 4
        else:
            self.sorted -= self.sorted >> 4
        if d and rises and small:
            self.last_up = d
            self.mean = self.mean + d - (self.mean >> 4) & MASK32
        self.before, self.stepped = move, stepped


class Shape:
    def __init__(self, number, shape):
        self.number, self.shape = number, shape
        kinds = [c - 128 for c in shape if c >= 128]
        self.fields = [Field(32 * number + i, kind) for i, kind in enumerate(kinds)]

    def name(self):
        fields = iter(self.fields)
        return b"".join(next(fields).text() if c >= 128 else bytes([c]) for c in self.shape)


class NameDecoder:
    """The names of one section, and of those that continue it."""

    def __init__(self, stream, mates, rule):
        self.mates, self.rule = mates, rule
        self.coder = NameCoder()
        self.coder.begin(stream)
        self.shapes = {}                # by id
        self.new_shapes = 0
        self.tables = 0                 # forecasts and cells so far
        self.last_shape = NEW_SHAPE
        self.last_move = self.length = self.rare = 0
        self.last_spelt = b""
        self.mate = None

    def go_on(self, stream, mates):
        """The next section continues this one."""
        self.coder.begin(stream)
        self.mates = mates

    def decode(self, count):
        for index in range(count):
            self.mate = None
            if self.mates is not None:
                self.mate = self.mates[index]
                if self.coder.direct(name_hash(RULE, 0, 0), 1000):
                    yield self.by_rule(self.mate)
                    continue
            yield self.one()

    def by_rule(self, name):
        """FORMAT: Names, Second mates."""
        mark, before, after = self.rule
        at = name.rfind(bytes([mark])) + 1
        if before == after or at == 0 or at >= len(name) or name[at] != before:
            return name
        return name[:at] + bytes([after]) + name[at + 1:]

    def one(self):
        coder = self.coder
        self.last_move, self.length, self.rare = MOVE_NONE, 0, 0
        number = self.last_shape
        if number == NEW_SHAPE or not coder.direct(name_hash(SHAPE, number, 1), 255):
            number = coder.tree(8, name_hash(SHAPE, number, 2), 60)
        if number == NEW_SHAPE:
            return self.spelt_name()
        if number not in self.shapes:
            raise Damaged("names: a shape is not known")
        self.last_shape = number
        shape = self.shapes[number]
        if self.mate is not None:
            mate_shape, mate_fields = cut_name(self.mate)
            if mate_shape == shape.shape:
                for i, field in enumerate(shape.fields):
                    if coder.direct(name_hash(SIDE, field.number, 0), 255):
                        self.take_text(field, mate_fields[i])
                    else:
                        self.value(shape, i)
                return shape.name()
        resting = [i for i, field in enumerate(shape.fields) if not field.live]
        if resting:
            self.rare = coder.direct(name_hash(RARE, number, 0), 255)
            if self.rare:
                for i in resting:
                    if not coder.direct(name_hash(RARE, shape.fields[i].number, 1), 30):
                        self.value(shape, i)
        for i, field in enumerate(shape.fields):
            if field.live:
                self.value(shape, i)
        return shape.name()

    def spelt_name(self):
        last = self.last_spelt if self.mate is None else self.mate
        name = self.spell(SPELT_FIELD, last)
        if b"\n" in name:
            raise Damaged("names: a name has a line end")
        self.last_spelt = name
        text, fields = cut_name(name)
        number = self.new_shapes % 255
        self.new_shapes += 1
        shape = self.shapes[number] = Shape(number, text)
        self.coder.tables = {key: table for key, table in self.coder.tables.items()
                             if key[0] // 32 != number}
        self.last_shape = number
        self.plan(shape)
        for field, value in zip(shape.fields, fields):
            self.take_text(field, value)
        return name

    def plan(self, shape):
        coder = self.coder
        if not coder.direct(name_hash(PLAN, 0, 0), 30):
            return
        for i, field in enumerate(shape.fields):
            flags = coder.even(4)
            live, match, cells, equal = (flags >> i & 1 for i in range(4))
            field.live, field.match = bool(live), bool(match)
            if equal:
                field.equal = coder.even(5)
                if field.equal >= i or not (field.is_number and shape.fields[field.equal].is_number):
                    raise Damaged("names: a field equals one that is no number before it")
            if cells:
                field.pitch, field.phase = max(coder.even(32), 1), coder.even(32)
            self.tables += match + cells
            if self.tables > 64:
                field.match, field.pitch = False, 0
            field.width = coder.even(5) + 1

    def take_text(self, field, text):
        """A value that was not coded itself: of a new shape, or of the first mate."""
        if field.is_number:
            field.set_number(int(text))
        else:
            field.take_word(text)

    def value(self, shape, i):
        field = shape.fields[i]
        if field.is_number:
            self.number(shape, i)
        else:
            self.word(field)

    # -- words

    def word(self, field):
        coder, number, place = self.coder, field.number, field.word_place()
        if coder.direct(name_hash(SAME, number, place), 500):
            return
        index = coder.symbol((number, "part", min(place, 7)))
        if index < 127:
            if index >= len(field.dictionary):
                raise Damaged("names: a word is not in the dictionary")
            field.take_word(field.dictionary[index])
            return
        field.take_word(self.spell(number, field.word))

    def spell(self, number, last):
        """FORMAT: Names, Spelling."""
        coder, word, letter = self.coder, bytearray(), 0
        if coder.direct(name_hash(SIZE, number, 0), 250):
            size = len(last)
        else:
            size = coder.spread((-1, "size")) - 1
        for _ in range(size):
            letter = coder.tree(8, name_hash(LETTER, number, letter), 250)
            word.append(letter)
        return bytes(word)

    # -- numbers

    def number(self, shape, i):
        """FORMAT: Names, A number."""
        coder, field = self.coder, shape.fields[i]
        number = field.number
        if field.equal is not None:
            if coder.direct(name_hash(EQUAL, number, 0), 255):
                field.value = field.stepped = shape.fields[field.equal].value
                return
        missed = 0
        if field.match:
            forecasts = field.forecasts()
            for j, g in enumerate(forecasts):
                high = (g >> max(field.width - 8, 0)) << 2
                if coder.direct(name_hash(MATCH, number, high | j), 250):
                    field.set_number(g)
                    return
            missed = int(bool(forecasts))
        if field.pitch:
            field.value = self.in_cells(shape, i)
        else:
            field.value = self.step(field, missed, field.part())
        if field.match:
            field.remember(field.value)

    def step(self, field, missed, place):
        """FORMAT: Names, A step: the stepped value."""
        coder, last = self.coder, field.stepped
        rising = int(field.sorted > 2500)
        h = name_hash(KIND, field.number, (place << 16 | field.before << 8 | self.last_move << 4 | self.rare << 1 | rising) & MASK32)
        if coder.direct(h, 1000):
            move, stepped = MOVE_SAME, last
        elif rising and coder.direct(h + 1 & MASK32, 1000):
            move, stepped = MOVE_UP, last + self.distance(field, MOVE_UP) & MASK32
        elif rising and coder.direct(h + 2 & MASK32, 1000):
            move, stepped = MOVE_DOWN, last - self.distance(field, MOVE_DOWN) & MASK32
        else:
            move, stepped = MOVE_JUMP, self.jump(field, missed)
        self.last_move = MOVE_RISE if move == MOVE_JUMP and stepped > last else move
        self.length = min((stepped - last & MASK32).bit_length(), 15) if move == MOVE_UP else 0
        field.moved(stepped, move)
        return stepped

    def distance(self, field, move):
        coder, number = self.coder, field.number
        key = (number, "down")
        if move == MOVE_UP and field.has_windows():
            key = (number, "up", self.length)
        elif move == MOVE_UP:
            key = (number, "up", min((field.last_up << 5 & MASK32) // (field.mean + 1 & MASK32), 3))
        if not field.has_wells():
            return coder.spread(key)
        half = coder.spread(key) - 1
        return half << 1 | coder.direct(name_hash(LOW, number, move), 1000)

    def jump(self, field, missed):
        coder, number = self.coder, field.number
        if not coder.direct(name_hash(FITS, number, 0), 1000):
            return coder.even(32)
        low = max(field.width - 7, 0)
        return coder.symbol((number, "top", missed)) << low | coder.even(low)

    def in_cells(self, shape, i):
        """FORMAT: Names, Cells."""
        coder, field = self.coder, shape.fields[i]
        number, before, last = field.number, self.last_move, field.stepped
        if field.has_wells():
            cell = self.step(field, 0, field.part())
            row = cell % 8192
            if not coder.direct(name_hash(WELL, number, 0), 1000):
                field.shifts[row] = coder.symbol((number, "top", 0)) - 64
            return field.begin(cell, field.pitch >> 1) + field.shifts.get(row, 0) & MASK32
        ahead = 0
        if i + 1 < len(shape.fields) and shape.fields[i + 1].has_windows():
            ahead = 8 * shape.fields[i + 1].offset // (shape.fields[i + 1].pitch >> 20)
        cell = self.step(field, 0, 8 * self.length + ahead)
        size = field.pitch >> 20
        low = max((size - 1).bit_length() - 7, 0)
        top = size - 1 >> low
        if cell == last and before == MOVE_SAME:
            key = (number, "part", 1)
            coder.table(key, top + 2)
            rise = coder.symbol(key, min((size - 1 - field.offset >> low) + 1, 127))
            if rise:
                field.offset = (field.offset + (rise - 1 << low | coder.even(low))) % size
                return field.begin(cell) + field.offset & MASK32
        key = (number, "part", 0)
        coder.table(key, top + 1)
        field.offset = (coder.symbol(key) << low | coder.even(low)) % size
        return field.begin(cell) + field.offset & MASK32


class NameChain:
    """Sections of names of an input, slice by slice: one may continue the one before it."""

    def __init__(self):
        self.decoder, self.continued = None, 0

    def decode(self, data, count, mates, size, what):
        """The names of a section; mates are those of the first mates, or None."""
        source = Bytes(data, what)
        version = source.byte()
        if version == 0:
            source.finish()
            require(count == 0, f"{what}: the section has no names")
            return []
        require(version in (1, 2), f"{what}: unknown layout")
        if version == 1:
            rule = tuple(source.take(3)) if mates is not None else None
        else:
            require(self.decoder is not None and (self.decoder.mates is None) == (mates is None),
                    f"{what}: it continues nothing")
            require(self.continued < 32, f"{what}: too many sections continue others")
        self.continued = self.continued + 1 if version == 2 else 0
        require(source.uvarint() == size, f"{what}: the length is not that of the manifest")
        if version == 1:
            self.decoder = NameDecoder(source.rest(), mates, rule)
        else:
            self.decoder.go_on(source.rest(), mates)
        names, total = [], 0
        for name in self.decoder.decode(count):
            names.append(name)
            total += len(name) + 1
            require(total <= size, f"{what}: the names are too long")
        require(total == size, f"{what}: the names have another length than they should")
        return names


def decode_names(data, count, mates, size, what):
    """The names of a section that continues no other."""
    return NameChain().decode(data, count, mates, size, what)


# ---------------------------------------------------------------------------
# Two bits a base (FORMAT: Two bits a base)

EXCEPTION_BYTES = set(b"\0.-*BDEFHIJKLMNOPQRSUVWXYZbdefhijklmnopqrsuvwxyz")


def decode_two_bit(data, lengths, what):
    """The sequences of a slice, whose lengths are known."""
    source, total = Bytes(data, what), sum(lengths)
    literals = source.uvarint()
    sizes = [(source.uvarint(), source.uvarint()) for _ in range(7)]
    streams = []
    for symbols, stored in sizes:
        coded = source.take(stored)
        if coded[:1] == b"\1":
            require(symbols <= 65536, f"{what}: too many symbols of one value")
        else:
            require(symbols <= 8 * stored, f"{what}: more symbols than bits")
        streams.append(Bytes(decode_stream(coded, symbols, what, order1=False), what))
    packed = source.take((literals + 3) // 4)
    source.finish()
    kinds, before, copied, shifts, gaps, run_lengths, letters = streams
    bases, taken = [], 0

    def take_literals(count):
        nonlocal taken
        require(count <= literals - taken and len(bases) + count <= total, f"{what}: too many literals")
        bases.extend(packed[i // 4] >> i % 4 * 2 & 3 for i in range(taken, taken + count))
        taken += count

    while kinds.left():
        kind, gap = kinds.byte(), before.uvarint()
        require(kind <= 2, f"{what}: a copy of an unknown kind")
        take_literals(gap)
        n, p = copied.uvarint() + 8, len(bases)
        require(n <= total - p, f"{what}: a copy of too many bases")
        if kind == 0:
            x = p - 64 - shifts.uvarint()
            require(x >= 0, f"{what}: a copy of bases that are not there")
            for i in range(n):
                bases.append(bases[x + i])
        elif kind == 1:
            x = p - shifts.uvarint()
            require(x >= n, f"{what}: a copy of bases that are not there")
            bases.extend(3 - bases[x - 1 - i] for i in range(n))
        else:
            bases.extend([0] * n)
    require(total - len(bases) == literals - taken, f"{what}: another number of literals")
    take_literals(literals - taken)
    text, end = bytearray(b"ACGT"[base] for base in bases), 0
    while letters.left():
        start = end + gaps.uvarint()
        end = start + run_lengths.uvarint() + 1
        letter = letters.byte()
        require(end <= total and letter in EXCEPTION_BYTES, f"{what}: a run that is none")
        text[start:end] = text[start:end].lower() if letter == 0 else bytes([letter]) * (end - start)
    for stream in streams:
        stream.finish()
    sequences, at = [], 0
    for length in lengths:
        sequences.append(bytes(text[at:at + length]))
        at += length
    return sequences


# ---------------------------------------------------------------------------
# Qualities (FORMAT: Qualities)

def decode_qualities(data, lengths, what, letters=None, primer=None):
    """The quality strings of a column, one a record; letters are the reads, if they are given.

    primer returns what decode_leading does of the leading column, for a column that begins with its model.
    """
    total = sum(lengths)
    source = Bytes(data, what)
    if not data:
        require(total == 0, f"{what}: the column is not there")
        return [b""] * len(lengths)
    strategy = source.byte()
    if strategy == 0:
        source.finish()
        require(total == 0, f"{what}: the column has no bytes")
        return [b""] * len(lengths)
    if strategy == 1:
        value = source.take(1)
        source.finish()
        return [value * length for length in lengths]
    if strategy in (5, 6):
        return decode_leading(data, lengths, what)[1]
    if strategy == 7:
        require(primer is not None and total > 0, f"{what}: there is no leading column")
        return primer()[0].copy().decode(source, lengths)
    require(2 <= strategy <= 4, f"{what}: unknown strategy")
    require(strategy != 4 or letters is not None, f"{what}: the letters are missing")
    model = QualityModel(source, QUALITY_KINDS[strategy - 2], total, what)
    return model.decode(source, lengths, letters)


QUALITY_KINDS = "smooth", "stepped", "given"


def decode_leading(data, lengths, what):
    """The model of a leading column after its primer, and its quality strings."""
    source, total = Bytes(data, what), sum(lengths)
    strategy = source.byte()
    require(strategy in (5, 6), f"{what}: it is no leading column")
    model = QualityModel(source, QUALITY_KINDS[strategy - 5], total, what)
    records, size = source.uvarint(), source.uvarint()
    require(1 <= records <= len(lengths), f"{what}: there are no such records of a primer")
    first = model.decode(Bytes(source.take(size), what), lengths[:records])
    return model, first + model.copy().decode(source, lengths[records:])


def base_runs(letters):
    """For each letter of a read, its run and place in it (*in*), and its base."""
    codes = [b"ACGT".find(bytes([c]).upper()) for c in letters]
    found = []
    while len(found) < len(codes):
        start = len(found)
        end = start + 1
        while end < len(codes) and codes[end] == codes[start]:
            end += 1
        base = 4 if codes[start] < 0 else codes[start]
        found += [(8 * (min(end - start, 8) - 1) + min(k, 7), base) for k in range(end - start)]
    return found


def decode_ranks(source, kind, what):
    """The values of a column, and its lists of grades, one a previous symbol."""
    n = source.byte() + 1
    values = source.take(n)
    require(n > 1 and all(a < b for a, b in zip(values, values[1:])), f"{what}: the values do not ascend")
    probs = Probs(ArithmeticDecoder(source.take(source.uvarint())))
    lists = 1 if kind == "given" else n
    above, grades = [0] * n, []
    for _ in range(lists):
        row = []
        for symbol in range(n):
            left = row[-1] if row else 0
            row.append(probs.tree(4 * min(left, 3) + min(above[symbol] >> 2, 3), 7, 30))
        grades.append(row)
        above = row
    return values, grades if lists == n else grades * n


def grade_frequency(grade):
    return (2 + (grade - 1 & 1)) << (min(grade - 1, 90) >> 1) if grade else 0


def octaves(i):
    """FORMAT: The model: L."""
    e = i.bit_length() - 1
    return 2048 * e + (i * 2048 >> e) - 2048


def half_octaves(i):
    """FORMAT: Contexts: H."""
    e = i.bit_length() - 1
    return 2 * e + (2 * i >> e & 1)


def clamp16(x):
    return min(max(x, -32768), 32767)


def going_on(logit):
    """FORMAT: The model: s."""
    a = min(abs(logit), 32767)
    tail, after = (65536 // (1 + (1 << i)) for i in (a >> 11, (a >> 11) + 1))
    tail -= (tail - after) * (32 * a & 65535) >> 16
    return 65536 - tail if logit < 0 else tail


def decode_outcome(source, state, bounds, bits=16):
    """FORMAT: Blocks, Decoding e; also the state after it. Bounds are in 1 / 2^bits."""
    c = state & (1 << bits) - 1
    e = sum(bound > c for bound in bounds)
    above, below = bounds[e - 1] if e else 1 << bits, bounds[e] if e < len(bounds) else 0
    state = (above - below) * (state >> bits) + c - below
    return e, state if state >= 65536 else state << 16 | source.fixed(2)


class QualityLane:
    """The state of the piece of a read that a lane decodes (FORMAT: Qualities, Contexts)."""

    def __init__(self, record, length, place, top, runs):
        self.record, self.left, self.place, self.runs = record, length, place, runs
        self.q = [0] * 4
        self.start = place
        self.run = self.before = self.delta = self.share = self.tops = 0
        self.slow = 256 * top

    def append(self, s, top):
        q = self.q[0]
        if s == q:
            self.run += 1
        else:
            self.before, self.run = q, 0
        if self.place:
            self.delta += abs(s - q)
        self.slow += 256 * s - self.slow >> 4
        self.share += (4096 if s == top else 0) - self.share >> 5
        self.tops += s == top
        self.q = [s] + self.q[:3]
        self.place += 1
        self.left -= 1

    def words(self, kind):
        """Those of features 0 to 3."""
        _, q2, q3, q4 = self.q
        p, share, slow = min(self.place, 511), self.share, self.slow
        if kind == "given":
            run, base = self.runs[self.place]
            whole = 64 * self.tops // (self.place - self.start + 1)
            return (run << 8 | min(half_octaves(self.run + 1), 15) << 16 | (share >> 10) << 20, run << 8 | base << 14,
                    run << 8 | (slow >> 11) << 16, run << 8 | whole << 16)
        if kind == "smooth":
            return ((slow >> 8) << 8 | p << 20, min(self.run, 15) << 8 | (slow >> 9) << 16,
                    (share >> 9) << 8 | (p >> 3) << 16, q2 << 8 | max(q3, q4) << 16)
        z = min(half_octaves(4 * self.delta + 1), 31)
        return ((slow >> 6) << 8 | p << 20, min(self.run, 31) << 8 | self.before << 13 | z << 18,
                (share >> 8) << 8 | (p >> 3) << 16, q2 << 8 | q3 << 12 | q4 << 16 | z << 20)


class QualityModel:
    """FORMAT: Qualities, The model; lines are made when they are first used."""

    def __init__(self, source, kind, total, what):
        self.values, self.grades = decode_ranks(source, kind, what)
        self.kind, self.what, self.n = kind, what, len(self.values)
        self.by_rank = [sorted(range(self.n), key=lambda s, row=row: (-row[s], s)) for row in self.grades]
        most = 12 if kind == "smooth" else 13
        self.bits = next(b for b in range(10, 14) if total >> b <= 4 or b == most)
        self.lines, self.steps = {}, 0
        self.groups = (self.n - 1) // 8 if self.n > 9 else 0
        self.group_rounds = (self.groups + 6) // 8

    def copy(self):
        other = copy.copy(self)
        other.lines = {key: list(line) for key, line in self.lines.items()}
        return other

    def line(self, feature, index, k, q1):
        if k:
            index = 2 ** self.bits + (k - 1) * 2 ** (self.bits - 2) + (index >> 2)
        found = self.lines.get((feature, index))
        if found is None:
            found = self.lines[feature, index] = self.first_logits(q1, k) if feature == 4 else [0] * 8
        return found

    def outcomes(self, k):
        """The outcomes of a line, as (first, last + 1) of their ranks."""
        if k == 0:
            found, end = [(r, r + 1) for r in range(min(self.n, 8))], 8
        elif k <= self.group_rounds:
            first = 8 * (k - 1)
            found = [(8 + 8 * g, 16 + 8 * g) for g in range(first, min(self.groups, first + 8))]
            end = 8 + 8 * (first + 8)
        else:
            first = 8 * (k - self.group_rounds)
            return [(r, r + 1) for r in range(first, first + 8)]
        return found + ([(end, 256)] if end < self.n else [])

    def first_logits(self, q1, k):
        found, row = [0] * 8, self.grades[q1]
        frequencies = [grade_frequency(row[s]) for s in self.by_rank[q1]]
        outcomes = [range(start, min(end, self.n)) for start, end in self.outcomes(k)]
        for i in range(len(outcomes) - 1):
            if not outcomes[i + 1]:
                break  # the last group has fewer ranks
            later = sum(frequencies[r] for outcome in outcomes[i + 1:] for r in outcome)
            logit = octaves(1 + sum(frequencies[r] for r in outcomes[i])) - octaves(1 + later)
            found[i] = min(max(logit, -16384), 16384)
        return found

    def indices(self, lane):
        q1 = lane.q[0]
        found = []
        for w in lane.words(self.kind):
            y = (q1 | w) * 0x9E3779B1 & MASK32
            found.append((y ^ y >> 15) * 0x85EBCA77 % 2 ** 32 >> 32 - self.bits)
        return found + [4 * q1]

    def decode(self, source, lengths, letters=None):
        """The quality strings of the records."""
        found = [bytearray(length) for length in lengths]
        pieces = [(record, at, min(16384, length - at)) for record, length in enumerate(lengths)
                  for at in range(0, length, 16384)]
        while pieces:
            size, count = 0, 0
            while count < len(pieces) and size < 1 << 20:
                size += pieces[count][2]
                count += 1
            self.block(source, pieces[:count], found, letters)
            pieces = pieces[count:]
        source.finish()
        return [bytes(text) for text in found]

    def block(self, source, pieces, found, letters):
        pieces = iter(pieces)

        def take():
            piece = next(pieces, None)
            if piece is None:
                return None
            record, at, length = piece
            return QualityLane(record, length, at, self.n - 1, base_runs(letters[record]) if letters else None)

        lanes = [take() for _ in range(16)]
        states = [source.fixed(4) for lane in lanes if lane]
        while any(lanes):
            self.steps += 1
            ranks = self.step(source, lanes, states)
            for i, lane in enumerate(lanes):
                if lane:
                    s = self.by_rank[lane.q[0]][ranks[i]]
                    found[lane.record][lane.place] = self.values[s]
                    lane.append(s, self.n - 1)
                    if not lane.left:
                        lanes[i] = take()
        require(all(x == 65536 for x in states), f"{self.what}: a block ends wrongly")

    def step(self, source, lanes, states):
        """The ranks of the next symbols, by lane."""
        rate = 80 + 320 * 80 // (80 + min((self.steps - 1) // 256, 65536))
        dither = (40503 * self.steps & 65535) * (65536 // rate) >> 16
        indices = [lane and self.indices(lane) for lane in lanes]

        def decode(active, k):
            """A round of some lanes; k gives the number of the line of a lane. Returns the outcomes, by lane."""
            predicted = []
            for i in active:
                q1 = lanes[i].q[0]
                lines = [self.line(f, index, k(i), q1) for f, index in enumerate(indices[i]) if k(i) == 0 or f >= 1]
                predicted.append((i, lines) + self.predict(lines, k(i)))
            decoded, found = [], {}
            for i, lines, going, bounds in predicted:
                e, states[i] = decode_outcome(source, states[i], bounds)
                found[i] = e
                decoded.append((lines, going, e))
            for lines, going, e in decoded:
                for j in range(min(e, 7) + 1):
                    v = min((going[j] >> 1) - (32767 if j < e else 0) + dither, 32767)
                    m = v * rate >> 16
                    for line in lines:
                        line[j] = clamp16(line[j] + m)
            return found

        ranks = decode([i for i, lane in enumerate(lanes) if lane], lambda i: 0)
        if self.n <= 9:
            return ranks
        rare = [i for i, rank in ranks.items() if rank == 8]
        groups, active = dict.fromkeys(rare, 0), rare
        for k in range(1, self.group_rounds + 1):
            found = decode(active, lambda i: k)
            for i, e in found.items():
                groups[i] = 8 * (k - 1) + e
            active = [i for i in active if found[i] == 8]
        for i, e in decode(rare, lambda i: 1 + self.group_rounds + groups[i]).items():
            ranks[i] = 8 + 8 * groups[i] + e
            require(ranks[i] < self.n, f"{self.what}: a rank that no value has")
        return ranks

    def predict(self, lines, k):
        """The probabilities of going on, and the bounds."""
        s = []
        for j in range(8):
            logit = 0
            for line in lines:
                logit = clamp16(logit + line[j])
            s.append(going_on(logit))
        p01, p23, p45, p67 = (s[j] * s[j + 1] >> 16 for j in (0, 2, 4, 6))
        p03 = p01 * p23 >> 16
        products = [s[0], p01, p01 * s[2] >> 16, p03, p03 * s[4] >> 16, p03 * p45 >> 16,
                    p03 * (p45 * s[6] >> 16) >> 16, p03 * (p45 * p67 >> 16) >> 16]
        decisions = len(self.outcomes(k)) - 1
        return s, [(p * 65528 >> 16) + 8 - j if j < decisions else 0 for j, p in enumerate(products)]


# ---------------------------------------------------------------------------
# Sequences: the model of bases (FORMAT: Sequences, Bases and Matches)

LAST_BASES = (2, 3, 4, 6, 8, 10)
KMER = 13
BLOCK = 1 << 18                 # bases
LEAD = 16                       # bases
CONFIDENCE = (20535, 15279, 12348, 10243, 8561, 7133, 5870, 4720,
              3649, 2634, 1655, 699, -247, -1198, -2164, -3160)


def product(a, b):
    return -32768 if a == b == -32768 else a * b + (1 << 14) >> 15


def probability(logit):
    """FORMAT: Bases: P."""
    return 65536 - going_on(clamp16(logit))


def first_node(key):
    node = [0, 0, 0, 6144]
    if key[0] == "match" and key[1] is not None:
        _, predicted, _, m = key
        high, low = predicted >> 1, predicted & 1
        node[0] = CONFIDENCE[m] if high else -CONFIDENCE[m]
        node[1 + high] = CONFIDENCE[m] if low else -CONFIDENCE[m]
    return node


def errors(base, p):
    """Of the three decisions."""
    high, low = base >> 1, base & 1
    found = [high * 32767 - (p[0] >> 1), 0, 0]
    found[1 + high] = low * 32767 - (p[1 + high] >> 1)
    return found


def moved(node, errors, weights):
    """A node that has learnt."""
    rate = node[3]
    logits = [clamp16(x + product(product(e, w), rate)) for x, e, w in zip(node, errors, weights)]
    return logits + [clamp16(rate + product(product(-8192, rate), rate))]


def group_of(l):
    """The group of the bases since the last miss."""
    if l <= 5:
        return l
    if l <= 11:
        return 3 + l // 2
    return 6 + l // 4


def rating(l, m):
    if m == 0:
        return 1
    if m <= 2:
        return 2 if l >= 16 else 3
    if l < 8:
        return 6 if m > 8 else 5
    if m > 8:
        return 4
    return 3 if l >= 16 else 7


def table_bits(size):
    return min(max(size.bit_length(), 10), 22)


class BaseLane:
    """Some bases of a block, one after another."""

    def __init__(self, at, end):
        self.at, self.end = at, end
        self.forward = self.reverse = 0         # the last 32 bases, and their reverse complement
        self.forget()

    def forget(self):
        self.match = self.predicted = None      # (index, +1 or -1) and what is predicted
        self.misses = 0                         # of the match, a bit a base, the newest lowest
        self.kmer = None                        # that ends with the last base: (slot, flag)
        self.found = None                       # what was found for the one before: (index, whether flags differ)

    def push(self, base):
        self.forward = (self.forward << 2 | base) & MASK64
        self.reverse = self.reverse >> 2 | (3 - base) << 62


class BaseModel:
    """Nodes are never changed, but replaced."""

    def __init__(self, size):
        self.bases = bytearray(size)            # the history; an index not yet written is A
        self.nodes = {}
        self.weights = {}                       # by quality class and rating
        self.first_weights = {}                 # what those of all quality classes start with
        self.table_bits, self.table = table_bits(size), {}

    def copy(self, more):
        """A copy that goes on by itself, for so many bases more."""
        other, size = BaseModel(len(self.bases) + more), len(self.bases)
        other.bases[:size] = self.bases
        other.nodes, other.first_weights, other.table = dict(self.nodes), self.weights, dict(self.table)
        if other.table_bits > self.table_bits:
            other.table, lane = {}, BaseLane(0, 0)
            for i, base in enumerate(self.bases):
                lane.push(base)
                if i >= KMER - 1 and i % 2 == 0:
                    slot, flag = other.kmer(lane)
                    other.table[slot] = i, flag
        return other

    def node(self, *key):
        return self.nodes.get(key) or first_node(key)

    def weights_of(self, quality_class, kind):
        key = quality_class, kind
        if key not in self.weights:
            self.weights[key] = [list(w) for w in self.first_weights.get((0, kind), [[8192] * 3] * 8)]
        return self.weights[key]

    # -- blocks

    def decode(self, source, start, classes, what, leads=()):
        """Bases from an index on, whose quality classes are given; leads are the indices of first bases of leads."""
        lead_ends = {i: lead + LEAD for lead in leads for i in range(lead, lead + LEAD)}
        end = start + len(classes)
        for at in range(start, end, BLOCK):
            n = min(BLOCK, end - at)
            count = min(max(n // 16384, 1), 16)
            lanes = [BaseLane(at + n * i // count, at + n * (i + 1) // count) for i in range(count)]
            states = [source.fixed(4) for _ in lanes]
            require(min(states) >= 65536, f"{what}: a state is too small")
            for lane in lanes:
                self.pass_leads(lane, lead_ends)
            while any(lane.at < lane.end for lane in lanes):
                self.step(source, lanes, states, classes, start, lead_ends)
            require(all(x == 65536 for x in states), f"{what}: a block ends wrongly")

    def pass_leads(self, lane, lead_ends):
        while lane.at < lane.end and lane.at in lead_ends:
            end = min(lead_ends[lane.at], lane.end)
            for base in self.bases[lane.at:end]:
                lane.push(base)
            lane.at = end
            lane.forget()
            lane.kmer = self.kmer(lane)

    def step(self, source, lanes, states, classes, start, lead_ends):
        """FORMAT: Bases, A step."""
        predicted = []
        for i, lane in enumerate(lanes):
            if lane.at < lane.end:
                predicted.append((i, lane, *self.predict(lane, classes[lane.at - start]), *self.predict_strand(lane)))
        learnt = []
        for i, lane, keys, weights, p, strand_keys, q in predicted:
            nodes = [self.node(*key) for key in keys]
            bounds = p[0] + ((65536 - p[0]) * p[1] >> 16), p[0], p[0] * p[2] >> 16
            bounds = [(bound * 16380 >> 16) + 3 - j for j, bound in enumerate(bounds)]
            base, states[i] = decode_outcome(source, states[i], bounds, 14)
            learnt.append((lane, base, keys, nodes, weights, p, strand_keys, q))
        for lane, base, keys, nodes, weights, p, strand_keys, q in learnt:
            e = errors(base, p)
            for key, node, w in zip(keys, nodes, weights):
                self.nodes[key] = moved(node, e, w)
                w[:] = [clamp16(x + product(product(e[d], node[d]), 1024)) for d, x in enumerate(w)]
            e = [x >> 2 for x in errors(lane.reverse >> 40 & 3, q)]
            for key in strand_keys:
                node = self.node(*key)
                rate = node[3]
                logits = [clamp16(x + product(y, rate)) for x, y in zip(node, e)]
                self.nodes[key] = logits + moved(node, [0] * 3, [0] * 3)[3:]
        for lane, base, *_ in learnt:
            self.enter(lane, base)
            self.pass_leads(lane, lead_ends)

    def predict(self, lane, quality_class):
        """The contexts, the weights, and the probabilities of the three decisions."""
        kind, a, match = 0, 0, ("match", None)
        if lane.match:
            m = bin(lane.misses).count("1")
            l = 32 if m == 0 else (lane.misses & -lane.misses).bit_length() - 1
            kind = rating(l, m)
            match = "match", lane.predicted, group_of(l), min(m, 15)
            a = 4 * kind - 3 + lane.predicted
        keys = [(k, lane.forward & 4 ** k - 1) for k in LAST_BASES] + [match, ("both", a, lane.forward & 15)]
        nodes, weights, p = [self.node(*key) for key in keys], self.weights_of(quality_class, kind), []
        for d in range(3):
            t = [product(node[d], w[d]) for node, w in zip(nodes, weights)]
            t = [clamp16(t[f] + t[f + 4]) for f in range(4)]
            total = clamp16(clamp16(t[0] + t[2]) + clamp16(t[1] + t[3]))
            p.append(probability(2 * total))
        return keys, weights, p

    def predict_strand(self, lane):
        keys, logits = [(k, lane.reverse >> 42 & 4 ** k - 1) for k in LAST_BASES[3:]], [0] * 3
        for key in keys:
            logits = [clamp16(x + y) for x, y in zip(logits, self.node(*key))]
        return keys, [probability(x >> 1) for x in logits]

    # -- matches

    def kmer(self, lane):
        """The slot of the k-mer that the last bases are, and whether its reverse complement is smaller."""
        forward, reverse = lane.forward & 4 ** KMER - 1, lane.reverse >> 64 - 2 * KMER
        return (min(forward, reverse) * 0x9E3779B1 & MASK32) >> (32 - self.table_bits), int(reverse < forward)

    def enter(self, lane, base):
        """FORMAT: Bases, Passing a base."""
        t = lane.at
        self.bases[t] = base
        lane.push(base)
        lane.at += 1
        if lane.match:
            index, direction = lane.match
            lane.misses = (lane.misses << 1 | (base != lane.predicted)) & MASK32
            lane.match = index + direction, direction
            if bin(lane.misses).count("1") > 20 or not 0 <= index + direction < len(self.bases):
                lane.match = None
        if lane.found:
            self.try_match(lane, *lane.found)
        lane.found = None
        if lane.kmer:
            slot, flag = lane.kmer
            if slot in self.table:
                index, other = self.table[slot]
                lane.found = index, other != flag
            if (t - 1) % 2 == 0:
                self.table[slot] = t - 1 & 0x7FFFFFFF, flag
        lane.kmer = self.kmer(lane)
        lane.predicted = None
        if lane.match:
            index, direction = lane.match
            lane.predicted = self.bases[index] if direction > 0 else 3 - self.bases[index]

    def try_match(self, lane, index, other):
        if lane.match and lane.misses == 0:
            return
        if other:
            q, direction = index - 14, -1
            fits = q >= 1 and q + 32 <= len(self.bases)
        else:
            q, direction = index + 2, 1
            fits = q >= 31 and q + 1 < len(self.bases)
        if not fits:
            return
        misses = 0
        for i in range(32):
            last = lane.forward >> 2 * i if other else lane.reverse >> 62 - 2 * i
            misses |= (self.bases[q - direction * i] != 3 - (last & 3)) << i
        count = bin(misses).count("1")
        if count <= 13 and (not lane.match or count < bin(lane.misses).count("1")):
            lane.match, lane.misses = (q + direction, direction), misses


# ---------------------------------------------------------------------------
# Sequences: the sections (FORMAT: Sequences, from Pseudogenome section on)


SEGMENT = 1 << 24               # a segment has at most so many bases


def decode_pseudogenome(data, what):
    """The bases, and the model of the first segment at the end."""
    source = Bytes(data, what)
    n = source.uvarint()
    require(n <= MASK32 - 1 and n // 4096 <= len(data) + 64, f"{what}: too many bases for its size")
    count = max(1, -(-n // SEGMENT))
    most = 4 * -(-n // (4 * count))
    lengths = [source.uvarint() for _ in range(count - 1)]
    models = []
    for i in range(count):
        stream = Bytes(source.take(lengths[i]) if i < count - 1 else source.rest(), what)
        models.append(BaseModel(min(most, n - i * most)))
        models[i].decode(stream, 0, bytes(len(models[i].bases)), what)
        stream.finish()
    return bytearray().join(model.bases for model in models), models[0]


def decode_repeats(data, modelled, what):
    """The pseudogenome, of the bases under the base model (FORMAT: Repeats section)."""
    source = Bytes(data, what)
    begin, blocks = source.uvarint(), source.uvarint()
    n = begin + blocks
    require(begin <= len(modelled) <= n < MASK32 and (n - len(modelled)) >> 20 <= len(data),
            f"{what}: no plausible number of bases")
    bits = source.byte()
    require(12 <= bits <= 24, f"{what}: no plausible size of blocks")
    genome = bytearray(modelled[:begin]) + bytes(blocks)
    literal = begin

    def reads():
        nonlocal literal
        for at in range(begin, n, 1 << bits):
            read = Read(min(1 << bits, n - at), None)
            yield read
            # The block was decoded. Its other bases are the next ones under the model.
            for i, base in enumerate(read.bases):
                if base is None:
                    require(literal < len(modelled), f"{what}: too few bases under the model")
                    base, literal = modelled[literal], literal + 1
                genome[at + i] = base

    EditsDecoder(source.rest(), reads(), genome, False, what)
    require(literal == len(modelled), f"{what}: too many bases under the model")
    return genome


class PositionTree:
    """FORMAT: Positions section."""

    def __init__(self, data, size, what):
        self.depth = max(size - 1, 0).bit_length()
        coder = ArithmeticDecoder(data)
        probs = Probs(coder)
        self.right = {}                 # by node (the root is 1): the probability of the right child
        nodes = [(1, probs.number("count", 255), self.depth)]
        while nodes:
            node, count, depth = nodes.pop()
            if count < 24 or depth == 0:
                continue
            bits, room = 3, 96
            while bits < 8 and count >= room:
                bits, room = bits + 1, room * 4
            q = probs.tree(("split", bits), bits, 255)
            p = min(max((2 * q + 1) << (15 - bits), 256), 65280)
            self.right[node] = p
            right = count * p >> 16
            nodes.append((2 * node, count - right, depth - 1))
            nodes.append((2 * node + 1, right, depth - 1))

    def decode(self, coder):
        node = 1
        for above in range(0, self.depth, 4):
            point, start, width, least = coder.point(), 0, 65536, 8
            for _ in range(min(self.depth - above, 4)):
                right = min(max(width * self.right.get(node, 32768) >> 16, least), width - least)
                node, width, least = 2 * node, width - right, least // 2
                if point >= start + width:
                    node, start, width = node + 1, start + width, right
            coder.part(start, width)
        return node - (1 << self.depth)


class Read:
    """One read of a slice while it is put together, in its own orientation."""

    def __init__(self, length, qualities):
        self.length, self.qualities = length, qualities
        self.exceptions = {}            # by place: the byte, or 0 for lower case
        self.position = None
        self.reverse = False
        self.bases = [None] * length

    def over(self, genome, i):
        """The base of the pseudogenome that base i of a placed read lies over."""
        if self.reverse:
            return 3 - genome[self.position + self.length - 1 - i]
        return genome[self.position + i]

    def open_places(self):
        """The places whose base is coded: all but the exceptions other than lower case."""
        return [i for i in range(self.length) if not self.exceptions.get(i)]

    def text(self):
        found = bytearray()
        for i, base in enumerate(self.bases):
            byte = self.exceptions.get(i)
            if byte:
                found.append(byte)
            else:
                found.append(b"ACGT"[base] if byte is None else b"acgt"[base])
        return bytes(found)


class StrandModel:
    """Strands by position (FORMAT: Places)."""

    def __init__(self, coder):
        self.coder, self.states = coder, {}
        self.weights = [1 << 15] * 61

    def decode(self, position):
        key = ((position >> 8) * 0x9E3779B1 & MASK32) >> 18
        prob = self.states.setdefault(key, new_prob())
        weight = [self.weights[prob[1]]]
        bit = self.coder.mixed([STRETCH[prob[0] >> 10]], [weight], 4)
        self.weights[prob[1]] = weight[0]
        learn(prob, bit, 60)
        return bit


class PlaceOrder:
    """Where the reads of a sorted slice begin (FORMAT: Places), or their leads, which have no strands."""

    def __init__(self, probs, strands):
        self.probs, self.strands = probs, strands
        self.start, self.reverse, self.length, self.reads, self.steps = -1, True, 0, 0, 0
        self.again = False

    def next(self, length):
        steps = min(self.steps.bit_length(), 29)
        self.again = False
        if self.reads:
            sign = (length > self.length) - (length < self.length)
            key = "again", sign, steps, min(half_octaves(self.reads), 31)
            self.again = bool(self.probs.bit(key, MEMORY))
        self.length = length
        if self.again:
            self.reads += 1
            return self.start, self.reverse
        step = self.reverse + self.probs.number(("step", self.reverse, steps), MEMORY)
        self.start, self.reads = self.start + step, 1
        self.steps += min(step, 1 << 24) - (self.steps >> 4)
        self.reverse = step == 0 or bool(self.strands and self.strands.decode(self.start))
        return self.start, self.reverse


class KnownValues:
    """Values that came before, in groups (FORMAT: Known places)."""

    def __init__(self, coder, probs):
        self.coder, self.probs = coder, probs
        self.classes, self.highest = {}, {}     # by group and class: a list of [value, times]; by group

    def next(self, group):
        """One of the values; None is a new one."""
        if group not in self.highest or not self.probs.bit(("known", group), 255):
            return None
        at = self.highest[group] - self.probs.tree(("class", group), 5, 255)
        values = self.classes.get((group, at))
        require(values, "no values of a class")
        number = self.coder.below(len(values))
        value = values[number]
        value[1] += 1
        if value[1].bit_length() - 1 > at:
            values[number] = values[-1]
            values.pop()
            self.classes.setdefault((group, at + 1), []).append(value)
            self.highest[group] = max(self.highest[group], at + 1)
        return value[0]

    def add(self, group, value):
        self.classes.setdefault((group, 0), []).append([value, 1])
        self.highest.setdefault(group, 0)


class KnownPlaces:
    """Where the reads of a slice begin that is not sorted (FORMAT: Known places)."""

    def __init__(self, coder, probs, strands, tree):
        self.coder, self.strands, self.tree = coder, strands, tree
        self.values = KnownValues(coder, probs)

    def next(self, length):
        place = self.values.next(1 + length)
        if place is None:
            place = self.values.next(0)
            if place is None:
                position = self.tree.decode(self.coder)
                reverse = bool(self.strands.decode(position))
                place = position + length if reverse else position, reverse
                self.values.add(0, place)
            self.values.add(1 + length, place)
        return place


class SliceDecoder:
    """The sequences of one slice, or of one member of it; members is a list of lists of Read."""

    def __init__(self, data, members, genome, model, trees, what, wanted=None):
        self.members, self.genome, self.model, self.what = members, genome, model, what
        source = Bytes(data, what)
        part = source.uvarint()
        require(part < len(trees), f"{what}: an unknown part")
        self.tree = trees[part]
        flags = source.byte()
        self.sorted, self.with_qualities = bool(flags & 1), bool(flags & 2)
        require(flags < 32 and bool(flags & 4) == (len(members) == 2), f"{what}: unknown flags")
        require(not (flags & 16 and self.sorted), f"{what}: positions in order are in lanes")
        count = 3 + bool(flags & 8)     # of each member
        lanes = 8 * bool(flags & 16)
        lengths = [source.uvarint() for _ in range(1 + lanes + count * len(members))]
        streams = [source.take(length) for length in lengths]
        source.finish()
        self.places(streams[0], streams[1:1 + lanes])
        del streams[1:1 + lanes]
        for number, reads in enumerate(members):
            if wanted not in (None, number):
                continue
            exceptions, mismatches, literals, *pieces = streams[1 + count * number:1 + count * (number + 1)]
            self.exceptions(exceptions, reads)
            self.mismatches(mismatches, reads)
            for data in pieces:
                long = [read for read in reads if read.position is None and read.length >= 701]
                EditsDecoder(data, long, genome, self.with_qualities, what)
            self.literals(literals, reads, bool(pieces))

    def exceptions(self, data, reads):
        coder = ArithmeticDecoder(data)
        probs = Probs(coder)
        mode = coder.even(2)
        require(mode <= 2, f"{self.what}: unknown exceptions")
        if mode == 0:
            return
        at = end = 0
        for _ in range(probs.number("length", MEMORY)):
            skipped = probs.number("reads", MEMORY)
            if skipped:
                at, end = at + skipped, 0
            require(at < len(reads), f"{self.what}: an exception is of no read")
            start = end + probs.number("gap", MEMORY)
            end = start + 1 + probs.number("length", MEMORY)
            byte = probs.tree("byte", 8, MEMORY)
            require(end <= reads[at].length, f"{self.what}: an exception is outside its read")
            for i in range(start, end):
                reads[at].exceptions[i] = byte
        if mode == 2:
            self.exceptions_by_quality(coder, probs, reads)

    def exceptions_by_quality(self, coder, probs, reads):
        values = [coder.even(1) for _ in range(128)]
        for read in reads:
            before = 1
            for i, q in enumerate(read.qualities):
                q &= 127
                if values[q]:
                    bit = probs.bit(("N", q, before), MEMORY)
                    before = 2 if bit else 0
                    if bit:
                        read.exceptions[i] = ord("N")
                else:
                    before = 0

    def places(self, data, lanes):
        coder = ArithmeticDecoder(data)
        lanes = [ArithmeticDecoder(lane) for lane in lanes] or [coder]
        probs, strands = Probs(coder), StrandModel(coder)
        outcomes, near_before, equal_before = 3, 1, 0
        order = PlaceOrder(probs, strands)
        choice = bool(coder.even(1))
        at_left, known_places = self.sorted and choice, not self.sorted and choice
        known = KnownPlaces(coder, probs, strands, self.tree)

        def place(read):
            if self.sorted:
                start, read.reverse = order.next(read.length)
                read.position = start - read.length if read.reverse and not at_left else start
            elif known_places:
                start, read.reverse = known.next(read.length)
                read.position = start - read.length if read.reverse else start
            else:
                read.reverse = bool(strands.decode(read.position))
            self.check_place(read)

        placed_reads = []
        for first in self.members[0]:
            placed = probs.bit(("placed", outcomes), 255)
            outcomes = outcomes << 1 & 3 | placed
            if placed:
                placed_reads.append(first)
                first.position = 0
        if not self.sorted and not known_places:
            for number, read in enumerate(placed_reads):
                read.position = self.tree.decode(lanes[number % len(lanes)])
        for index, first in enumerate(self.members[0]):
            placed = int(first.position is not None)
            if placed:
                place(first)
            if len(self.members) == 1:
                continue
            mate, near = self.members[1][index], 0
            before = self.members[1][index - 1]
            if placed and order.again and index > 0 and before.position is not None:
                equal_before = probs.bit(("equal mates", equal_before), 255)
                if equal_before:
                    mate.position, mate.reverse = before.position, before.reverse
                    self.check_place(mate)
                    continue
            if placed:
                near = near_before = probs.bit(("near", near_before), 255)
            if near:
                distance = probs.tree("distance", 13, MEMORY) - 2048
                mate.position = first.position + (-distance if first.reverse else distance)
                mate.reverse = first.reverse != bool(probs.bit("differ", MEMORY))
                self.check_place(mate)
            elif probs.bit(("mate placed", placed, near_before), 255):
                position = self.tree.decode(coder)
                mate.position, mate.reverse = position, bool(strands.decode(position))
                self.check_place(mate)

    def check_place(self, read):
        require(0 <= read.position and read.position + read.length <= len(self.genome),
                f"{self.what}: a read is placed outside the pseudogenome")

    def mismatches(self, data, reads):
        self.coder = ArithmeticDecoder(data)
        probs, self.variants, self.gaps = Probs(self.coder), {}, Gaps()
        tied = self.sorted and not self.with_qualities and self.coder.even(1)
        at = 0
        while at < len(reads):
            end = at + 1
            while tied and end < len(reads) and self.together(at, end, reads):
                end += 1
            if end > at + 1:
                self.group(probs, reads[at:end])
            elif reads[at].position is not None:
                self.one_read(probs, reads[at], 0, "alone")
            at = end

    def together(self, a, b, reads):
        def alike(read, other):
            return (read.position, read.reverse) == (other.position, other.reverse)
        return (reads[a].position is not None and alike(reads[a], reads[b]) and reads[a].length == reads[b].length
                and all(alike(member[a], member[b]) for member in self.members)
                and all(len(read.open_places()) == read.length for read in (reads[a], reads[b])))

    def group(self, probs, reads):
        first = reads[0]
        self.letters = [first.over(self.genome, i) for i in range(first.length)]
        for read in reads:
            read.settled = {}
        self.few = len(reads) <= 4
        self.alike(probs, reads, 0, 0, False)
        for read in reads:
            read.bases = [read.settled.get(i, base) for i, base in enumerate(self.letters)]

    def share(self, probs, key, n):
        q, count = probs.tree(("share",) + key, 3, MEMORY), n + 1
        low, high = (q * count + 7) // 8, ((q + 1) * count + 7) // 8
        require(low < high, f"{self.what}: a share of nothing")
        return low + self.coder.below(high - low)

    @staticmethod
    def size(n):
        return n if n < 8 else min(4 + n.bit_length(), 31)

    def alike(self, probs, reads, at, before, more):
        length, since = reads[0].length, 0 if before else 3
        while len(reads) > 1 and at < length:
            n, rest = len(reads), 1 + (length - at) * 3 // length
            if not more:
                k = self.share(probs, ("more", rest if before else 0, self.size(n)), n)
                reads, more = reads[n - k:], True
                continue
            while True:
                require(at < length, f"{self.what}: more bases differ than there are")
                key = "some", min(before, 1), min(n.bit_length(), 7), min(since, 3), min(at, 511)
                if probs.bit(key, MEMORY):
                    break
                at, since = at + 1, since + 1
            k = self.differing(probs, reads, at, before)
            reads, at, since = reads[:n - k], at + 1, since + 1
        if reads and at < length:
            which = min(before, 1), (length - at) * 3 // length
            self.one_read(probs, reads[0], at, which, more)

    def differing(self, probs, reads, at, before):
        n, r = len(reads), self.letters[at]
        k = 1 + probs.number(("count", self.size(n)), MEMORY)
        require(k <= n, f"{self.what}: more reads differ than there are")
        have = [0] * 4
        if k == 1:
            have[(self.letter(probs, r, None) - r) % 4] = 1
        else:
            have[2] = self.share(probs, ("two", self.size(k)), k)
            if have[2] < k:
                have[3] = self.share(probs, ("three", self.size(k - have[2])), k - have[2])
            have[1] = k - have[2] - have[3]
        left = reads[n - k:]
        for x in (2, 3, 1):
            if have[x]:
                for read in left[:have[x]]:
                    read.settled[at] = (r + x) % 4
                self.alike(probs, left[:have[x]], at + 1, before + 1, False)
                left = left[have[x]:]
        return k

    @staticmethod
    def under(read, i):
        return (read.position + (read.length - 1 - i if read.reverse else i)) % (1 << 26)

    def one_read(self, probs, read, at, which, more=False):
        """From base `at` on."""
        def reference(i):
            return read.over(self.genome, i)

        def under(i):
            return self.under(read, i)

        open_places = [i for i in read.open_places() if i >= at]
        settled, last, with_variants = {}, 0, which == "alone" or self.few
        for i in (reversed(open_places) if read.reverse else open_places):
            variant = self.variants.get(under(i)) if with_variants else None
            if variant is None:
                continue
            key = "variant", last, variant[1]
            if self.with_qualities:
                key += (min(self.quality(read, i), 47) // 6,)
            bit = probs.bit(key, MEMORY)
            last = 1 + bit
            if bit:
                settled[i] = 3 - variant[0] if read.reverse else variant[0]
            self.met(under(i), variant, bit)
        if self.with_qualities:
            differ = self.differ_by_quality(probs, read, reference)
        else:
            differ = self.differ_by_place(probs, read, reference, at, (which, more and not settled))
        for i, base in differ.items():
            if with_variants and under(i) not in self.variants:
                self.variants[under(i)] = [3 - base if read.reverse else base, 1]
        settled.update(differ)
        if which != "alone":
            read.settled.update(settled)
            return
        for i in open_places:
            read.bases[i] = settled.get(i, reference(i))

    def met(self, at, variant, bit):
        """Whether a read has a variant: one that the last four have not is forgotten."""
        variant[1] = variant[1] << 1 & 15 | bit
        if variant[1] == 0:
            del self.variants[at]

    @staticmethod
    def quality(read, i):
        return max(read.qualities[i] - 33, 0)

    def differ_by_quality(self, probs, read, reference):
        """FORMAT: Differences with qualities."""
        self.gaps.begin(read.qualities[:read.length])
        e = sum(ERROR_RATE[self.quality(read, i)] for i in range(read.length)) & MASK32
        length = (e | 2).bit_length()
        c = min(2 * length + (e >> (length - 2) & 1), 63)
        left = next((i for i in range(255) if probs.bit(("differ", c, i), MEMORY)), 255)
        found, at, before = {}, 0, 0
        while left:
            require(at < read.length, f"{self.what}: more bases differ than there are")
            q = read.qualities[at] & 127
            share = density(left, read.length - at)
            if before or share > 4 or read.length > 4095:
                before = probs.bit(("base differs", q, share, before), MEMORY)
            else:
                at = self.gaps.next(probs.coder, at, left, bool(found))
                q, before = read.qualities[at] & 127, 1
            if before:
                self.gaps.differed[q] += 1
                found[at] = self.letter(probs, reference(at), q)
                left -= 1
            at += 1
        return found

    def differ_by_place(self, probs, read, reference, at, which):
        """Settled bases and exceptions are among those of which it is coded whether they differ."""
        left = probs.tree(("differ", which), 8, MEMORY)
        found, since = {}, 3
        while left:
            require(at < read.length, f"{self.what}: more bases differ than there are")
            if probs.bit(("differs", min(left, 8), min(at, 511), min(since, 3)), MEMORY):
                found[at] = self.letter(probs, reference(at), None)
                left -= 1
                since = -1
            at += 1
            since += 1
        return found

    @staticmethod
    def letter(probs, r, q):
        if probs.bit(("two", q, r), MEMORY):
            return (r + 2) % 4
        return (r + (3 if probs.bit(("three", q, r), MEMORY) else 1)) % 4

    def literals(self, data, reads, pieces):
        """Exceptions count in the size of the table."""
        unplaced = [read for read in reads if read.position is None]
        more = sum(read.bases.count(None) for read in unplaced)
        if more == 0:
            return
        source = Bytes(data, self.what)
        coder = ArithmeticDecoder(source.take(source.uvarint()))
        probs, known, order = Probs(coder), None, None
        if coder.even(1):
            order = PlaceOrder(probs, None)
        elif coder.even(1):
            known = KnownValues(coder, probs)
        model, start = self.model.copy(more), len(self.model.bases)
        open_bases, classes, leads = [], [], []
        for read in unplaced:
            places = [i for i in read.open_places() if read.bases[i] is None]
            if (order or known) and len(places) == read.length >= LEAD and not (pieces and read.length >= 701):
                lead = order.next(0)[0] if order else known.next(0)
                if lead is None:
                    lead = coder.even(32)
                    known.add(0, lead)
                at = start + len(open_bases)
                leads.append(at)
                model.bases[at:at + LEAD] = [lead >> 2 * (LEAD - 1 - i) & 3 for i in range(LEAD)]
            open_bases += [(read, i) for i in places]
            classes += [min(self.quality(read, i) // 6, 7) if self.with_qualities else 0 for i in places]
        model.decode(source, start, classes, self.what, leads)
        source.finish()
        for (read, i), base in zip(open_bases, model.bases[start:]):
            read.bases[i] = base


class EditsDecoder:
    """The pieces of long reads (FORMAT: Edits section)."""

    SHORT = 255

    def __init__(self, data, reads, genome, with_qualities, what):
        self.genome, self.what, self.with_qualities = genome, what, with_qualities
        source = Bytes(data, what)
        gaps = source.take(source.uvarint())
        self.read_gaps(Probs(ArithmeticDecoder(gaps)))
        self.steps = {}                  # by class: since its last edit
        self.coder = ArithmeticDecoder(source.take(len(data) - source.at))
        self.probs = Probs(self.coder)
        self.frequency, self.last_count, self.other_far = 2048, 0, 1
        self.bits = (len(self.genome) - 1).bit_length()
        for read in reads:
            self.one_read(read)
        require(not any(self.gaps.values()), f"{what}: edits that no step reaches")

    def read_gaps(self, probs):
        self.gaps = {}
        had, m_of = [0] * 4, [256 * 16] * 4
        for c in range(96 * 16 * 4):
            state = c % 4
            count = probs.number(("gaps", had[state]), self.SHORT)
            had[state] = 1 if count else 0
            if count == 0:
                continue
            m, found = m_of[state], []
            total, number = m >> 4, 1
            for _ in range(count):
                gap = 0
                while True:
                    length = m.bit_length()
                    if length <= 2:
                        u, tree = 0, m
                    elif length <= 6:
                        u, tree = 0, 4 * length - 8 + (m >> (length - 3) & 3)
                    else:
                        u, tree = min(length - 7, 24), 20 + (m >> (length - 3) & 3)
                    v = probs.tree(("gap", tree), 4, MEMORY)
                    if v < 15:
                        break
                    gap += 15 << u
                    total += 15 << u
                    require(gap < MASK32, f"{self.what}: a gap is too long")
                    m = 16 * total // number
                rest = (v << u) + probs.coder.even(u)
                gap += rest
                require(gap < MASK32, f"{self.what}: a gap is too long")
                total, number = total + rest, number + 1
                if number == 256:
                    total, number = total >> 1, number >> 1
                m = 16 * total // number
                found.append(gap)
            m_of[state] = m
            self.gaps[c] = found[::-1]

    def position(self):
        node = 1
        tree = min(self.bits, 12)
        for _ in range(tree):
            self.probs.states.setdefault(("position", node), [1 << 21, 20])
            node = node << 1 | self.probs.bit(("position", node), self.SHORT)
        rest = self.bits - tree
        found = (node - (1 << tree)) << rest | self.coder.even(rest)
        require(found < len(self.genome), f"{self.what}: a piece is outside the pseudogenome")
        return found

    def distance(self):
        up = self.probs.bit("up", self.SHORT)
        step = self.probs.number("distance", MEMORY)
        return step if up else -step

    def template(self, i):
        if i >= self.room:
            return 0
        if self.reverse:
            return 3 - self.genome[self.anchor - i]
        return self.genome[self.anchor + i]

    def run_class(self, i):
        if i >= self.room:
            return 0
        first = i
        while first > 0 and i - first < 8 and self.template(first - 1) == self.template(i):
            first -= 1
        n = 1
        while n < 8 and first + n < self.room and self.template(first + n) == self.template(i):
            n += 1
        return 2 * (n - 1) | (1 if i > first else 0)

    def one_read(self, read):
        probs = self.probs
        count = probs.number(("pieces", min(self.last_count, 2)), self.SHORT)
        self.last_count = count
        if count:
            self.level = self.frequency
        at = 0
        for piece in range(count):
            start = at + probs.number(("start", piece == 0), self.SHORT)
            if piece < count - 1:
                end = start + probs.number("length", self.SHORT)
            elif probs.bit("to the end", self.SHORT):
                end = read.length
            else:
                end = read.length - probs.number("rest", self.SHORT)
            require(at <= start < end <= read.length, f"{self.what}: a piece is outside its read")
            if piece == 0:
                self.anchor = self.position()
                self.reverse = bool(probs.bit("strand", self.SHORT))
            else:
                gap = start - at
                y = self.following - gap if self.reverse else self.following + gap
                near = probs.bit(("near", self.other_far), self.SHORT)
                self.other_far = 1 - near
                if near:
                    self.anchor = y + self.distance()
                    require(0 <= self.anchor < len(self.genome), f"{self.what}: a piece is outside")
                else:
                    self.anchor = self.position()
                    self.reverse = bool(probs.bit("strand", self.SHORT))
            self.room = self.anchor + 1 if self.reverse else len(self.genome) - self.anchor
            used = self.one_piece(read, start, end)
            self.following = self.anchor - used if self.reverse else self.anchor + used
            at = end
        if count:
            self.frequency += (self.level - self.frequency) >> 4

    @staticmethod
    def log(n):
        length = n.bit_length()
        return 256 * (length - 1) + ((n << (32 - length)) >> 23) % 256

    def one_piece(self, read, start, end):
        i, r, state, d = 0, start, 0, 0
        while r < end:
            if self.with_qualities:
                band = min(max(read.qualities[r] - 33, 0), 93)
            else:
                band = min(3 * self.level // 512, 15)
            c = (band * 16 + self.run_class(i)) * 4 + state
            gaps = self.gaps.get(c)
            if not gaps or self.steps.get(c, 0) < gaps[-1]:
                require(i < self.room, f"{self.what}: a piece ends after the pseudogenome")
                self.steps[c] = self.steps.get(c, 0) + 1
                read.bases[r] = self.template(i)
                i, r, d, state = i + 1, r + 1, d + 1, 0
                continue
            gaps.pop()
            self.steps[c] = 0
            state, i, r = self.edit(c, read, i, r)
            self.level += (self.log(d + 1) - self.level) >> 3
            d = 0
        require(i <= self.room, f"{self.what}: a piece ends after the pseudogenome")
        return i

    def edit(self, c, read, i, r):
        probs, t = self.probs, self.template
        c = (c // 64 // 4, c % 64)
        if probs.bit(("substitution", c), MEMORY):
            require(i < self.room, f"{self.what}: an edit is after the pseudogenome")
            context = t(i)
            if probs.bit(("two", context), MEMORY):
                read.bases[r] = (t(i) + 2) % 4
            else:
                read.bases[r] = (t(i) + (3 if probs.bit(("three", context), MEMORY) else 1)) % 4
            return 1, i + 1, r + 1
        if probs.bit(("insertion", c), MEMORY):
            run = self.run_class(i)
            key = "inserted", t(i), 0 if run == 0 else 1 if run % 2 else 2
            read.bases[r] = (probs.tree(key, 2, MEMORY) + t(i)) % 4
            return 2, i, r + 1
        n = 1
        while n <= 8 and probs.bit(("deleted", n), MEMORY):
            n += 1
        if n == 9:
            n += probs.number("deleted after 8", self.SHORT)  # another key than of the bits before
        require(i + n <= self.room, f"{self.what}: an edit is after the pseudogenome")
        return 3, i + n, r


def make_error_rates():
    found, t = [], 1 << 40
    for _ in range(256):
        found.append(t >> 20)
        t = t * 3331652 >> 22
    return found


ERROR_RATE = make_error_rates()


# ---------------------------------------------------------------------------
# Record forms and the text of a record (FORMAT: Columns; Record forms; What comes back)

class Layout:
    def __init__(self, source=None):
        """A record form; without a source that of archives without form sections."""
        self.flags, self.text = 0, b""
        self.width = [None, None]       # of sequence and quality lines
        self.lines = [None, None]
        self.tail = b""
        if source is None:
            return
        self.flags = source.byte()
        more = source.byte() if self.flags & 128 else 0
        require(self.after_plus() <= 2 and more < 32, f"{source.what}: an unknown form")
        if self.after_plus() == 2:
            self.text = source.text()
        for i in (0, 1):
            if more & 1 << i:
                self.width[i] = source.uvarint()
                require(self.width[i], f"{source.what}: lines without letters")
        for i in (0, 1):
            if more & 4 << i:
                self.lines[i] = [source.uvarint() for _ in range(PackedArchive.count(source))]
        if more & 16:
            self.tail = source.text()

    def after_plus(self):
        return self.flags >> 4 & 3

    def end(self, line):
        """The line end of name (0), sequence (1), + (2) or quality lines (3)."""
        return b"\r\n" if self.flags >> line & 1 else b"\n"

    def cut(self, which, letters):
        """The lines of the sequence (0) or the qualities (1)."""
        end = self.end(1 + 2 * which)
        if self.lines[which] is not None:
            parts, at = [], 0
            for line in self.lines[which]:
                parts.append(letters[at:at + (line >> 1)] + (b"\r\n" if line & 1 else b"\n"))
                at += line >> 1
            require(at == len(letters), "the lines of a form do not add up")
            return b"".join(parts)
        width = self.width[which]
        if width is None:
            return letters + end
        return b"".join(letters[at:at + width] + end for at in range(0, len(letters), width))


def record_text(kind, name, sequence, quality, form):
    """FORMAT: What comes back."""
    if name is None:
        return sequence + b"\n"
    if kind == 0 and quality is None:
        return b">" + name + b"\n" + sequence + b"\n"
    text = (b">" if kind else b"@") + name + form.end(0) + form.cut(0, sequence)
    if kind == 0:
        text += b"+" + (b"", name, form.text)[form.after_plus()] + form.end(2)
        text += form.cut(1, quality)
    if form.flags & 64:               # a CR before the missing LF is kept
        require(text.endswith(b"\n"), "a record without lines cannot lack a line end")
        text = text[:-1]
    return text + form.tail


def read_forms(data, count, what):
    """The default form and the others by record."""
    if not data:
        return Layout(), {}
    source = Bytes(data, what)
    default, others, record = Layout(source), {}, -1
    for _ in range(PackedArchive.count(source)):
        record += 1 + source.uvarint()
        require(record < count, f"{what}: a form of no record")
        others[record] = Layout(source)
    source.finish()
    return default, others


def parse_forms(data, count, what):
    """A function from record to form."""
    default, others = read_forms(data, count, what)
    return lambda record: others.get(record, default)


def packed_forms(data, count, what):
    """FORMAT: Columns, the section of forms."""
    if not data:
        return parse_forms(data, count, what)
    source = Bytes(data, what)
    size = source.uvarint()
    code = source.take(source.uvarint())
    require(size <= (len(code) + 64) << 15, f"{what}: more forms than so few bytes say")
    probs, stored = Probs(ArithmeticDecoder(code)), bytearray(1)
    for _ in range(size):
        stored.append(probs.tree(stored[-1], 8, 250))
    default, others = read_forms(bytes(stored[1:]), count, what)
    with_text = [form for form in [default, *others.values()] if form.after_plus() == 2]
    if with_text:
        size = source.uvarint()
        texts = decode_names(source.rest(), len(with_text), None, size, what)
        for form, text in zip(with_text, texts):
            form.text = text
    source.finish()
    return lambda record: others.get(record, default)


# ---------------------------------------------------------------------------
# Coded streams and names of the bins (FORMAT: Bins, Coded stream and Coded names)

ONLY_SYMBOL = 15                # instead of a code length


class RowCode:
    """The codes of a row: code lengths in nibbles, one for each of the symbols."""

    def __init__(self, nibbles, symbols, what):
        self.only, self.codes = None, {}
        used = [(length, symbol) for length, symbol in zip(nibbles, symbols) if length]
        if any(length == ONLY_SYMBOL for length, _ in used):
            require(len(used) == 1, f"{what}: more than the only symbol of a row")
            self.only = used[0][1]
            return
        require(len(used) != 1 and all(length <= 10 for length, _ in used),
                f"{what}: impossible code lengths")
        require(sum(1 << 10 - length for length, _ in used) <= 1024, f"{what}: too many codes")
        code = last = 0
        for length, symbol in sorted(used):
            code <<= length - last
            self.codes[length, code] = symbol
            code, last = code + 1, length


class PartBits:
    """The bits of a part, the lowest of a byte first."""

    def __init__(self, data, what):
        self.data, self.at, self.what = data, 0, what

    def symbol(self, row):
        if row.only is not None:
            return row.only
        code = length = 0
        while (length, code) not in row.codes or not length:
            require(length < 10 and self.at < 8 * len(self.data), f"{self.what}: bits that are no code")
            code = code << 1 | self.data[self.at >> 3] >> (self.at & 7) & 1
            length, self.at = length + 1, self.at + 1
        return row.codes[length, code]

    def finish(self):
        require((self.at + 7) // 8 == len(self.data)
                and (self.at % 8 == 0 or self.data[-1] >> self.at % 8 == 0),
                f"{self.what}: a part has more bits than symbols")


def decode_stream(data, count, what, order1=True):
    """A coded stream of count symbols; order1 says whether it may be of order 1."""
    source = Bytes(data, what)
    if count == 0:
        source.finish()
        return b""
    kind = source.byte()
    if kind in (0, 1):
        content = source.take(count) if kind == 0 else source.take(1) * count
        source.finish()
        return content
    require(kind == 2 or kind == 3 and order1, f"{what}: a stream of an unknown kind")
    require(count >= 64, f"{what}: too few symbols for codes")
    k = source.byte() + 1
    occurs = source.take(32)
    symbols = [s for s in range(256) if occurs[s // 8] >> s % 8 & 1]
    require(len(symbols) == k and k >= 2, f"{what}: another number of symbols")
    first = b""
    if kind == 3:
        require(k <= 64 and 33 <= symbols[0] and symbols[-1] <= 126,
                f"{what}: symbols that can't be coded in order 1")
        first = source.take(4)
        require(set(first) <= set(symbols), f"{what}: a symbol that does not occur")
    number = k * k if kind == 3 else k
    packed = source.take((number + 1) // 2)
    nibbles = [packed[i // 2] >> 4 * (i % 2) & 15 for i in range(2 * len(packed))]
    require(not any(nibbles[number:]), f"{what}: the padding is not 0")
    if kind == 2:
        require(0 not in nibbles[:k], f"{what}: a symbol without a code")
    rows = [RowCode(nibbles[at:at + k], symbols, what) for at in range(0, number, k)]
    sizes = [source.fixed(4) for _ in range(3)]
    decoded, quarter = bytearray(), (count + 3) // 4
    for part in range(4):
        bits = PartBits(source.take(sizes[part] if part < 3 else source.left()), what)
        end = min((part + 1) * quarter, count)
        if kind == 3:
            decoded.append(first[part])
        while len(decoded) < end:
            row = rows[symbols.index(decoded[-1])] if kind == 3 else rows[0]
            decoded.append(bits.symbol(row))
        bits.finish()
    return bytes(decoded)


def decode_line_names(data, size, what):
    """A chunk of names."""
    source = Bytes(data, what)
    heads = [(source.fixed(4), source.fixed(4)) for _ in range(5)]
    require(all(count <= size for count, _ in heads), f"{what}: more symbols than bytes of names")
    counts, low, high, kinds, literals = (
        Bytes(decode_stream(source.take(stored), count, what, False), what) for count, stored in heads)
    source.finish()
    lines, before, text = counts.left(), [], bytearray()
    for line in range(lines):
        require(len(text) < size, f"{what}: more lines than names")
        number, differ, tokens = counts.byte(), low.byte() | high.byte() << 8, []
        require(number <= 16 and differ >> number == 0, f"{what}: too many tokens")
        for k in range(number):
            if differ >> k & 1:
                tokens.append(name_token(k, before, kinds, literals, what))
            else:
                require(k < len(before), f"{what}: a token that the line before has not")
                tokens.append(before[k])
        text += b"".join(tokens)
        before = tokens
        if len(text) < size:
            text += b"\n"
        else:
            require(len(text) == size and line == lines - 1 and tokens, f"{what}: more text than names")
    for stream in (low, high, kinds, literals):
        stream.finish()
    return bytes(text)


def name_token(k, before, kinds, literals, what):
    """A token that differs from that of the line before."""
    kind = kinds.byte()
    require(kind not in (0, 128), f"{what}: an unknown kind of token")
    if kind < 128:
        require(k < 15 and k < len(before) and len(before[k]) <= 9 and before[k].isdigit(),
                f"{what}: no number to add to")
        return b"%0*d" % (len(before[k]), int(before[k]) + kind)
    length = kind - 128
    if kind == 255:
        length = kinds.fixed(3)
        require(length >= 127, f"{what}: a short literal as a long one")
    return literals.take(length)


# ---------------------------------------------------------------------------
# The command

def begins_with(path, magic):
    """FORMAT, at the top: a file that does not begin with its magic is no file of an archive."""
    try:
        with open(path, "rb") as file:
            return file.read(len(magic)) == magic
    except FileNotFoundError:
        return False


def open_archive(base):
    """FORMAT: Which files a reader takes."""
    def there(data, data_magic, meta, meta_magic):
        if os.path.exists(base + data) and os.path.exists(base + meta):
            return True
        return begins_with(base + data, data_magic) or begins_with(base + meta, meta_magic)

    packed = bins = packed_problem = bins_problem = None
    if there(".cdna", CDNA_MAGIC, ".cmeta", CMETA_MAGIC):
        packed, packed_problem = PackedArchive.attempt(lambda: PackedArchive(base))
    if os.path.exists(base + ".bmeta") and there(".bdna", BDNA_MAGIC, ".bmeta", BMETA_MAGIC):
        bins, bins_problem = PackedArchive.attempt(lambda: BinArchive(base))
    same = packed and bins and packed.bins_id == bins.id
    if bins and not (same and not packed.meta_missing):
        if packed_problem:
            bins.problems.append(str(packed_problem))
        if packed and not same:
            bins.problems.append("the packed archive was made of other bins")
        return bins
    if packed:
        return packed
    raise packed_problem or bins_problem or NoArchive("there is no archive of this name")


def restored_names(archive):
    """FORMAT: What comes back: the names under which inputs are restored."""
    def name(one, replace):
        if archive.flags & READS_ONLY:
            end = b".reads"
        elif one.kind == 0 and archive.quality == 2:
            end = b".fasta"
        else:
            return one.name
        for extension in (b".fastq", b".fq", b".fasta", b".fa", b".fna"):
            if replace and one.name.endswith(extension) and len(one.name) > len(extension):
                return one.name[:-len(extension)] + end
        return one.name + end

    names = [name(one, True) for one in archive.inputs]
    if len(set(names)) < len(names):
        names = [name(one, False) for one in archive.inputs]
    return names


def escape(name):
    """As testdata/testkit/README.md says."""
    return "".join(chr(c) if 32 < c < 127 and c != 37 else f"%{c:02X}" for c in name)


def outcome(base):
    """Prints what of an archive can be restored; whether all is well."""
    print(f"archive: {base}")
    try:
        archive = open_archive(base)
    except (Damaged, UnknownVersion, NoArchive) as problem:
        kinds = {Damaged: "damaged", UnknownVersion: "unknown version", NoArchive: "not an archive"}
        print(f"# {problem}\nresult: {kinds[type(problem)]}")
        return False
    lines, problems, lost = [], list(archive.problems), False
    names = restored_names(archive)
    for index, one in enumerate(archive.inputs):
        digest, size = hashlib.sha256(), 0
        try:
            for part in archive.text(index):
                digest.update(part)
                size += len(part)
        except Damaged as problem:
            lost = True
            problems.append(str(problem))
            lines.append(f"damaged: {escape(names[index])}")
        else:
            lines.append(f"restored: {digest.hexdigest()} {size} {escape(names[index])}")
    for problem in problems:
        print(f"# {problem}")
    print("result:", "damaged" if lost else "noted" if problems else "whole")
    for line in lines:
        print(line)
    return not problems


def find_input(archive, wanted):
    for index, one in enumerate(archive.inputs):
        if wanted in (os.fsdecode(one.name), str(index)):
            return index
    raise Damaged("there is no such input")


COMMANDS = {"--lengths": lambda archive, index: (b"%d" % n for n in archive.lengths(index)),
            "--names": lambda archive, index: archive.names(index),
            "--qualities": lambda archive, index: archive.qualities(index),
            "--sequences": lambda archive, index: archive.sequences(index)}
USAGE = ("usage: orcomgo_reader.py [--check|--steps] DIR/NAME, or --outcome DIR/NAME..., or "
         "--lengths|--names|--qualities|--sequences|--text DIR/NAME INPUT")


def check(archive):
    """Decodes everything; what the text should be is checked on the way."""
    for index, one in enumerate(archive.inputs):
        size = sum(len(part) for part in archive.text(index))
        print(f"input {index}: {show(one.name)}, {size} bytes of text decoded")


def steps(archive):
    """Prints check values of the first slice, in the order in which a decoder is written (FORMAT: An example)."""
    one = archive.slices[0]

    def line(what, value):
        print(f"{what:12} {value}")

    def total(parts):
        data = b"".join(parts)
        return f"{len(data)} bytes, XXH3-64 {xxh3_64(data):016x}"

    sections = [s for s in archive.sections(archive.head, archive.slices, archive.shared, archive.parity)
                if s.length]
    line("manifest", f"archive ID {archive.archive_id.hex()[:16]}..., {len(archive.slices)} slice, "
                     f"{one.records} records, {one.members[0].bases} bases")
    line("sections", ", ".join(f"{s.label.split()[-1] if 'shared' not in s.label else s.label} "
                               f"{s.length} at {s.offset}" for s in sections))
    lengths = archive.slice_lengths(one, 0)
    line("lengths", f"{lengths[:5]}...")
    genome, _, trees = archive.shared_models()
    line("pseudogenome", f"{len(genome)} bases, {''.join('ACGT'[b] for b in genome[:24])}..., "
                         f"{total([bytes(genome)])}")
    line("qualities", total(archive.qualities(0)) + f", first {next(iter(archive.qualities(0)))[:24].decode()}")
    reads = [Read(n, q) for n, q in zip(lengths, archive.qualities(0))]
    SliceDecoder(archive.read(one.sequences), [reads], genome, archive.shared_models()[1], trees, "slice 0")
    line("exceptions", f"{sum(len(r.exceptions) for r in reads)} bases")
    places = [b"none" if r.position is None else b"%d%s" % (r.position, b"-" if r.reverse else b"+") for r in reads]
    line("places", " ".join(p.decode() for p in places[:8]) + "..., " + total(p + b" " for p in places))
    placed = [r for r in reads if r.position is not None]
    differ = sum(r.bases[i] not in (None, r.over(genome, i)) for r in placed for i in range(r.length))
    line("mismatches", f"{differ} in {len(placed)} reads")
    line("literals", f"{sum(r.length for r in reads if r.position is None)} bases")
    line("sequences", total(archive.sequences(0)))
    names = list(archive.names(0))
    line("names", total(n + b"\n" for n in names) + f", last {names[-1].decode()}")
    line("text", total(archive.text(0)))


def main(arguments):
    if len(arguments) == 3 and arguments[0] in (*COMMANDS, "--text"):
        command, base, wanted = arguments
    elif len(arguments) == 2 and arguments[0] in ("--check", "--steps"):
        command, base, wanted = *arguments, None
    elif len(arguments) >= 2 and arguments[0] == "--outcome":
        return 0 if all([outcome(base) for base in arguments[1:]]) else 1
    elif len(arguments) == 1 and not arguments[0].startswith("-"):
        command, base, wanted = None, arguments[0], None
    else:
        print(USAGE, file=sys.stderr)
        return 2
    try:
        archive = open_archive(base)
        if command is None:
            problems = archive.report()
        elif command == "--check":
            problems = archive.report()
            if not problems:
                check(archive)
        elif command == "--steps":
            steps(archive)
            problems = archive.problems
        elif command == "--text":
            for part in archive.text(find_input(archive, wanted)):
                sys.stdout.buffer.write(part)
            problems = archive.problems
        else:
            for line in COMMANDS[command](archive, find_input(archive, wanted)):
                sys.stdout.buffer.write(line + b"\n")
            problems = archive.problems
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (Damaged, NoArchive, UnknownVersion, NotHeld, OSError) as problem:
        problems = [str(problem)]
    if problems:
        sys.stdout.flush()
        print(f"{base}: {'; '.join(problems)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
