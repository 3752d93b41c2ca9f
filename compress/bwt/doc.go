// Package bwt is the Burrows-Wheeler transform (Burrows and Wheeler, "A block-sorting lossless data compression algorithm", 1994) of
// texts of up to 2^32-2 bytes, by many threads inside one text. docs/FORMAT.md, "Burrows-Wheeler
// transform", says what the result is; it does not depend on the number of threads.
//
// # Method
//
// The text is packed in symbols of as many bits as its alphabet needs (sorter.go), so that suffixes are compared by many symbols at a time.
// They are distributed to buckets by their first bits, and each bucket is sorted by the bits after these (radix.go), several times 32.
// Suffixes that are still equal are sorted by the ranks of those that follow their common symbols, in rounds that double how many
// symbols they have in common. Buckets, and groups of equal suffixes, do not depend on one another, so all threads work on them.
//
// Memory beside the text and its transform: 4 bytes a byte of the text, the packed text, and 16 bytes a suffix of the largest buckets;
// 4 more where suffixes agree so far that ranks are needed.
package bwt
