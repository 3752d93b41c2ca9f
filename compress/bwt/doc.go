// Package bwt is the Burrows-Wheeler transform (Burrows and Wheeler, "A block-sorting lossless data compression algorithm", 1994) of
// texts of up to 2^32-2 bytes, and its inverse; the transform by many threads inside one text. docs/FORMAT.md, "Burrows-Wheeler transform", says
// what the result is; it does not depend on the number of threads.
//
// # Forward
//
// About a third of the suffixes are sorted as strings, and give the order of the others. The first part is made of buckets that do not
// depend on one another; the second goes through the suffixes in their order, many of which are known at any time.
//
//   - Each suffix is of type S or L: smaller or larger than the suffix after it (types.go). Stars are those of type S that precede one
//     of type L. They are sorted.
//   - The text is coded with alphabetic codes (code.go): its bits compare as its bytes do, and 56 bits hold 28 bases. In larger
//     alphabets the code of a symbol depends on the symbol before it, which is the same in suffixes that agree so far; so FASTQ takes
//     about 2.7 bits a byte. The first symbol of a suffix has a code of its own.
//   - A star is a word of 64 bits: the bits of the coded text after its bucket, and its place (sorter.go). Words are distributed by
//     their first 11 bits, and each bucket is sorted by radix sort (radix.go). Stars that agree in all bits of the word are compared by
//     the next bits of the text, until they agree in 64 symbols.
//   - Then the ranks of sampled suffixes decide (cover.go): 9 of 64 suffixes are sorted in the same way and then by prefix doubling, so
//     that at most 63 symbols after any two suffixes both have ranks. This bounds the work for repeats of any length. The sample is
//     sorted when it is needed first, which it is not for random bases.
//   - Buckets and groups that are too large for one thread are divided by samples of them and sorted by all threads.
//   - The suffix before each one that is in its place gets its place by that (induce.go), and the transform is written on the way.
//
// Texts of up to 5 kB are sorted by comparing suffixes instead, since the tables for that are larger than such a text; if they repeat so
// much that this takes long, they are sorted as others are (small.go).
//
// Memory beside the text and its transform: 8 bytes a byte of the text for induction, of which half is first used for sorting the stars;
// less than 2 for the coded text; and for the ranks, where they are needed, 0.6, and as much for sorting the sample.
//
// # Inverse
//
// The text is followed from many starting points at once, 32 at a time, since each step waits for memory, and by two symbols a step
// (inverse.go). Memory: 4 bytes a byte of the text.
package bwt
