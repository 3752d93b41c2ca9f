// Package inflate inflates gzip with several threads: one long member, many members, and BGZF.
// It knows nothing of what the text is.
//
// The input is read in segments of equal size (fetch.go). A task for each segment looks for a
// place to begin, the header of a member or of a dynamic block (find.go), and decodes from
// there to the first such place in the next segment. A block may refer to the 32 KiB of text
// before it, which is not known yet. So the task decodes to symbols of 16 bits, of which the
// values from 256 on refer to those bytes (decode.go). It goes on with bytes as soon as the
// last 32 KiB hold no such symbol, or a member begins. This is the method of pugz (Kerbiriou and
// Chikhi 2019, 10.1109/IPDPSW.2019.00042) and rapidgzip (Knespel and Brunst 2023,
// 10.1145/3588195.3592992).
//
// The chain (tasks.go, follow.go) is what has been decoded without a gap from the beginning on. If a task
// began at the very bit where the chain ends, its result is the next link. Then the last 32 KiB
// of the text are known, which takes microseconds, and another task completes the text and
// computes its CRC-32. Otherwise the chain goes on with a task of its own, which begins at the
// right bit with the known text: up to where another task began, or through the segment. So a
// place that only looked like the beginning of a block costs time, but can't give a wrong text.
// Data without places to begin at (stored and fixed blocks, blocks larger than a segment) is
// decoded by the chain alone.
//
// A member's CRC-32 is combined from those of its parts (crc.go) and compared before the text
// behind the member is given out. BGZF is read like any other gzip, but it must end with an empty member.
//
// All buffers come from one pool with a bound (buffers.go). A task whose text is larger than
// its share stops in between, and the chain goes on from there. Nothing runs while nobody
// reads, but for tasks that had started before.
//
// FindMembers (members.go) is for programs that inflate BGZF by other means, or to a place of their
// own, as a MemberDecoder does (memberdecoder.go).
//
// The loops over symbols are in Go (fast.go), and in assembler for amd64 with BMI2 (fast_amd64.s,
// fast_loop.h). With AVX-512, CRC-32 is computed 64 bytes at a time (crc_amd64.s).
//
// The decoder accepts the streams that compress/flate accepts, and its errors are those of
// klauspost/compress, with other offsets, which the tests and fuzz targets compare.
package inflate
