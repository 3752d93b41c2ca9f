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
#define COUNT_PIECE (1 << 20)    // bytes whose line ends are counted together
#define COUNT_TILE (1 << 15)     // bytes of text; a part of COUNT_PIECE
#define SCAN_ITEMS 16            // values of a thread
#define SCAN_TILE (THREADS * SCAN_ITEMS)
#define SORT_ROUNDS 16 // keys of a thread
#define SORT_TILE (THREADS * SORT_ROUNDS)

// The radix sort: SORT_PASSES passes by DIGIT_BITS bits each cover all signatures and SIG_NONE.
#define DIGIT_BITS 9
#define DIGITS (1 << DIGIT_BITS)
#define SORT_PASSES 2

// The text hash: the text is summed in chunks of SUM_CHUNK bytes, by SUM_LANES threads each.
#define SUM_CHUNK 16384
#define SUM_LANES 8

// Coded columns: names and qualities are cut into chunks, a chunk of names becomes NAME_STREAMS
// streams, and a stream is encoded in pieces.
#define CHUNK_SHIFT 20
#define CHUNK (1 << CHUNK_SHIFT)
#define METHOD_RAW 0
#define METHOD_SAME 1
#define METHOD_CODED 2
#define NAME_STREAMS 5
#define NAME_HEADER (8 * NAME_STREAMS) // bytes before the streams of a chunk of names
#define PIECE_SYMBOLS 16               // symbols of a thread
#define PIECE (THREADS * PIECE_SYMBOLS)
#define STREAM_PIECES (CHUNK / PIECE) // pieces of a stream at most
#define STREAM_PAD 32                 // bytes of zeros behind a column of symbols: they are loaded in words

// The code of a stream.
#define PARTS 4
#define CODE_BITS 10   // longest code
#define CODE_MIN 64    // fewer symbols are not coded
#define ROWS 64        // largest alphabet of order 1
#define QUAL_FIRST 33  // the symbols that order 1 supports
#define QUAL_SYMBOLS 94
#define PAIRS (QUAL_SYMBOLS * QUAL_SYMBOLS)
#define HEAD_BYTES (32 + 128)          // the set of symbols and the code lengths of order 0
#define ROW_BYTES (ROWS * ROWS / 2)    // the code lengths of order 1

// The form code of a record: the four CR bits, and CODE_NAME if the name follows the '+'.
#define CODE_CR 15
#define CODE_NAME 16

// The index of k-mers: the bits of a hash that select a segment, and the bits after them, which are the key.
#define INDEX_SEGMENT_BITS 8
#define INDEX_KEY_BITS 30
#define INDEX_ITEMS 16 // bases whose k-mers a thread counts

// Joining contigs; package overlap defines what the first five mean (seedLen, maxPartnerGroup, maxPartners, byVotes, linkZero).
#define SEED_LEN 18
#define PARTNER_GROUP 12
#define MOST_PARTNERS 64
#define MOST_VOTES 63
#define LINK_ZERO (1 << 30)
#define KMER_BASES 16 // bases whose k-mers a thread samples
#define KMER_TILE (THREADS * KMER_BASES)
#define PROPOSAL_SLOTS 256 // slots of the table of proposals that a warp has; a power of two
#define PROPOSAL_KMERS 2048 // a contig of more k-mers is left to a thread block
#define PROPOSAL_BYTES 16  // of a slot

// Voting: the first two are minPoorMismatches and maxOverlapped of package overlap.
#define POOR_MISMATCHES 3
#define OVERLAPPED 700

// Sorting suffixes for the Burrows-Wheeler transform.
#define SUFFIX_DIGITS 256 // of a pass of the radix sort
#define SUFFIX_ROUNDS 16  // suffixes of a thread
#define SUFFIX_TILE (THREADS * SUFFIX_ROUNDS)
#define SUFFIX_SMALL 256       // a group of up to so many is sorted by a thread block
#define SUFFIX_GROUP_TILE 2048 // suffixes of a list of small groups that a thread block takes
#define SUFFIX_PAD 64          // as many as the symbols of a word of 64 bits

// The kernels. X gets the name of each in capitals and as it is.
#define KERNELS(X) \
  X(LINES, lines) X(RECORDS, records) X(SIGNATURE, signature) X(SORT_COUNT, sort_count) X(SCAN, scan) \
  X(SORT_SCATTER, sort_scatter) X(ARRANGE, arrange) X(BIN_STARTS, bin_starts) X(PACK, pack) X(EXCEPTIONS, exceptions) \
  X(COLUMNS, columns) X(MAP_QUALS, map_quals) X(TEXT_SUMS, text_sums) X(NAME_CHUNKS, name_chunks) X(NAME_SIZES, name_sizes) \
  X(NAME_STREAMS, name_streams) X(STREAMS, streams) X(COUNT_SYMBOLS, count_symbols) X(CODE_TABLES, code_tables) \
  X(MEASURE, measure) X(CHOOSE, choose) X(PLACE_CHUNKS, place_chunks) X(WRITE_PLAIN, write_plain) X(WRITE_CODES, write_codes) \
  X(INFLATE, inflate) X(COUNT_LINES, count_lines) X(INDEX_COUNT, index_count) X(INDEX_INSERT, index_insert) \
  X(PLACE_SELECT, place_select) X(PLACE, place) X(KMER_COUNT, kmer_count) X(KMER_WRITE, kmer_write) X(KMER_GROUPS, kmer_groups) \
  X(KMER_FIRST, kmer_first) X(PARTNERS, partners) X(PARTNERS_LARGE, partners_large) X(VOTE_COUNT, vote_count) X(VOTE, vote) \
  X(VOTE_POOR, vote_poor) X(SUFFIX_SYMBOLS, suffix_symbols) \
  X(SUFFIX_KEYS, suffix_keys) X(SUFFIX_COUNT, suffix_count) X(SUFFIX_SCATTER, suffix_scatter) X(SUFFIX_HEADS, suffix_heads) \
  X(SUFFIX_CARRY, suffix_carry) X(SUFFIX_GROUPS, suffix_groups) X(SUFFIX_DIVIDE_COUNT, suffix_divide_count) \
  X(SUFFIX_DIVIDE, suffix_divide) X(SUFFIX_SMALL, suffix_small) X(SUFFIX_LARGE_KEYS, suffix_large_keys) \
  X(SUFFIX_STARTS, suffix_starts) X(SUFFIX_SAMPLES, suffix_samples) X(QUALS_DECODE, quals_decode) X(QUALS_ENCODE, quals_encode)

// The number that a kernel writes to host memory when it begins.
#define STEP(CAPITALS, name) STEP_##CAPITALS,
enum Step { STEP_NONE, KERNELS(STEP) STEPS };

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
  INFO_CODED_NAMES, // bytes of coded names
  INFO_CODED_QUALS, // bytes of coded qualities
  INFO_SCRATCH = 15, // a total that nobody needs
  INFO_SLOTS
};

struct BinStart {
  unsigned int signature, first, bases; // the stored reads and bases before it
};

struct Exception {
  unsigned int read, start, len, byte; // the byte in the lowest 8 bits
};

// NameChunk is where the lines of a chunk of names begin.
struct NameChunk {
  unsigned int record; // the first record whose name begins in the chunk or after it
  unsigned int line;   // lines of the chunks before
  unsigned int split;  // 1 if the chunk begins inside a name, which makes one more line
};

// Stream is a sequence of symbols that is coded by itself.
struct Stream {
  unsigned long long source;      // address of the symbols
  unsigned int symbols;           // how many
  unsigned int first_piece;       // pieces of the streams before
  unsigned int order1;            // 1 if codes may depend on the symbol before
  unsigned int alphabet;          // different symbols
  unsigned int kind;              // 0 raw, 1 same, 2 order 0, 3 order 1
  unsigned int bytes;             // of the coded stream, kind byte included
  unsigned int to;                // offset in the coded columns; 0xffffffff if the chunk is stored raw
  unsigned int bare;              // 1 if the kind byte is left out
  unsigned int part_bytes[PARTS];
};

// A deflate stream, and the text that it should give.
struct Member {
  unsigned int from, size; // in the compressed bytes
  unsigned int to, length; // in the text
  unsigned int crc;
};

// The most bytes of a member's stream, and of its text.
#define INFLATE_MOST (1 << 16)

// Reads are packed reads, and runs of letters other than A, C, G and T in them: device addresses, and numbers. Read i begins at byte
// offsets[i] (i * stride if offsets is 0) of packed, and has lengths[i] bases (length if lengths is 0).
struct Reads {
  unsigned long long packed, offsets, stride, lengths, length;
  unsigned long long count;
  unsigned long long masked;          // a bit for each read: it has runs
  unsigned long long runs, run_count; // Run
};

// Run is a run of letters other than A, C, G and T of a read, in stored orientation. Runs ascend by read.
struct Run {
  unsigned int read, start, length;
};

// Places says where reads are: device addresses. A read is known there by its record.
struct Places {
  unsigned long long records;                         // of the reads
  unsigned long long stored_reversed;                 // a bit for each read: it is stored reversed
  unsigned long long positions, reversed, mismatches; // by record: 32 bits, 1 bit, 8 bits
  unsigned long long poor;                            // by record: 1 bit
  unsigned long long sequence, shared;                // by position: 2 bits, 4 bits
};

// Which reads that have a place are to be placed again.
enum Retry {
  RETRY_NONE,
  RETRY_MISMATCHED, // those with more than PlaceMode.good mismatches
  RETRY_POOR        // those whose bit of poor is set
};

// JoinRound is what a round of joining contigs works on: device addresses, and numbers.
struct JoinRound {
  unsigned long long packed, start, length; // bases, the byte with which each contig begins, its bases
  unsigned long long reads, read_bases;     // of each contig; of a read on average
  unsigned long long settled;               // 0 if no contig is
  unsigned long long contigs, kmers;        // numbers
  unsigned long long first, groups;         // of kmer_first and kmer_groups
  unsigned long long where, sorted;         // contig << 32 | at of each k-mer, in their order and by hash
  unsigned long long left, links, compared; // comparisons that each contig may make; the results
};

// SuffixLists are the lists of suffixes that suffix_divide writes: device addresses.
struct SuffixLists {
  unsigned long long small_at, small_rank, small_depth;
  unsigned long long large_at, large_group;
  unsigned long long bases, depths; // of each large group
};

// The coder of qualities: its lanes, the symbols of a block and of a piece, the features of its model, and the bytes of a line.
#define QUAL_LANES 16
#define QUAL_BLOCK (1 << 20)
#define QUAL_PIECE (1 << 14)
#define QUAL_FEATURES 5
#define QUAL_LINE 16

// What package quals names lastFeature, lessBits and firstFurther.
#define QUAL_LAST 4
#define QUAL_LESS_BITS 2
#define QUAL_FIRST_FURTHER 1

// QualColumn is a column of qualities: device addresses, and numbers.
struct QualColumn {
  unsigned long long slots, first;    // of the model: its own, and what they are at first
  unsigned long long table, values;   // encoding: rank by symbols, symbol by value; decoding: symbol by rank, value by symbol
  unsigned long long lengths;         // of reads; 0 if all have `length`
  unsigned long long quals, coded;    // the column, and its stream
  unsigned long long rows;            // encoding: decisions of a block
  unsigned int length, records;
  unsigned int lines, bits, count, groups, group_rounds, stepped; // of the model: all of its lines
  unsigned int steps, rate, span;
  unsigned int coded_words;           // of 16 bits; encoding: how many there is room for, and then how many there are
  unsigned int failed;                // set to 1 if the stream is corrupt, or has no room
};

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
