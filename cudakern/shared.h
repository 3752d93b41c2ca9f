// The numbers and structures that the kernels and their launchers share. nvcc compiles this file
// with the kernels and cgo with the launchers (shared_cuda.go), so they are the same in both.
// Those that package minimizer defines are compared there at compile time.
#ifndef ORCOMGO_CUDAKERN_SHARED_H
#define ORCOMGO_CUDAKERN_SHARED_H

// Signatures: the same as minimizer.K, Skip and None.
#define SIG_K 8
#define SIG_SKIP 12
#define SIG_NONE (1u << 2 * SIG_K)

// A thread block, and the items that one takes.
#define THREADS 256
#define WARPS (THREADS / 32)
#define LINE_TILE (THREADS * 64) // bytes of text
#define SCAN_ITEMS 16            // values of a thread
#define SCAN_TILE (THREADS * SCAN_ITEMS)
#define SORT_ROUNDS 16 // keys of a thread
#define SORT_TILE (THREADS * SORT_ROUNDS)

// The radix sort: SORT_PASSES passes by DIGIT_BITS bits each cover all signatures and SIG_NONE.
#define DIGIT_BITS 9
#define DIGITS (1 << DIGIT_BITS)
#define SORT_PASSES 2

// The form code of a record: the four CR bits, and CODE_NAME if the name follows the '+'.
#define CODE_CR 15
#define CODE_NAME 16

// The number that a kernel writes to host memory when it begins.
enum Step {
  STEP_NONE,
  STEP_LINES,
  STEP_RECORDS,
  STEP_SIGNATURE,
  STEP_SORT_COUNT,
  STEP_SCAN,
  STEP_SORT_SCATTER,
  STEP_ARRANGE,
  STEP_BIN_STARTS,
  STEP_PACK,
  STEP_EXCEPTIONS,
  STEP_COLUMNS,
  STEP_MAP_QUALS,
  STEP_INFLATE,
  STEPS
};

// The words of the array in which the kernels report about a block.
enum Info {
  INFO_LINES,      // line ends found
  INFO_BAD,        // smallest ordinal of a record that the kernels don't support, or 0xffffffff
  INFO_MIN_LEN,    // shortest read
  INFO_MAX_LEN,    // longest read
  INFO_CODE_AND,   // AND and OR of the records' form codes: equal when all are alike
  INFO_CODE_OR,
  INFO_PACKED,     // bytes of packed bases
  INFO_BASES,      // bases
  INFO_BINS,       // bins that occur
  INFO_EXCEPTIONS, // runs of letters that two bits can't express
  INFO_NAMES,      // bytes of names with their line ends
  INFO_SCRATCH = 15, // a total that nobody needs
  INFO_SLOTS
};

struct BinStart {
  unsigned int signature, first, bases; // the stored reads and bases before it
};

struct Exception {
  unsigned int read, start, len, byte; // the byte in the lowest 8 bits
};

// A deflate stream, and the text that it should give.
struct Member {
  unsigned int from, size; // in the compressed bytes
  unsigned int to, length; // in the text
  unsigned int crc;
};

// The most bytes of a member's stream, and of its text.
#define INFLATE_MOST (1 << 16)

// What inflating a member has come to.
enum Inflated {
  INFLATE_RIGHT,
  INFLATE_CORRUPT, // no valid stream
  INFLATE_CUT,     // the stream goes on behind the data
  INFLATE_REST,    // the stream ends before the data
  INFLATE_LONGER,  // there is more text
  INFLATE_SHORTER, // there is less text
  INFLATE_CRC,     // the text is another
  INFLATE_KINDS
};

#endif
