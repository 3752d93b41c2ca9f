//go:build cuda

package cudakern

// #include "shared.h"
import "C"

import (
	"fmt"
	"unsafe"

	"orcomgo/minimizer"
)

// kernel numbers the kernels. A kernel that begins writes its number to the lane's step word.
type kernel uint32

const (
	kernelNone         kernel = C.STEP_NONE
	kernelLines        kernel = C.STEP_LINES
	kernelRecords      kernel = C.STEP_RECORDS
	kernelSignature    kernel = C.STEP_SIGNATURE
	kernelSortCount    kernel = C.STEP_SORT_COUNT
	kernelScan         kernel = C.STEP_SCAN
	kernelSortScatter  kernel = C.STEP_SORT_SCATTER
	kernelArrange      kernel = C.STEP_ARRANGE
	kernelBinStarts    kernel = C.STEP_BIN_STARTS
	kernelPack         kernel = C.STEP_PACK
	kernelExceptions   kernel = C.STEP_EXCEPTIONS
	kernelColumns      kernel = C.STEP_COLUMNS
	kernelMapQuals     kernel = C.STEP_MAP_QUALS
	kernelTextSums     kernel = C.STEP_TEXT_SUMS
	kernelNameChunks   kernel = C.STEP_NAME_CHUNKS
	kernelNameSizes    kernel = C.STEP_NAME_SIZES
	kernelNameStreams  kernel = C.STEP_NAME_STREAMS
	kernelStreams      kernel = C.STEP_STREAMS
	kernelCountSymbols kernel = C.STEP_COUNT_SYMBOLS
	kernelCodeTables   kernel = C.STEP_CODE_TABLES
	kernelMeasure      kernel = C.STEP_MEASURE
	kernelChoose       kernel = C.STEP_CHOOSE
	kernelPlaceChunks  kernel = C.STEP_PLACE_CHUNKS
	kernelWritePlain   kernel = C.STEP_WRITE_PLAIN
	kernelWriteCodes   kernel = C.STEP_WRITE_CODES
	kernelInflate      kernel = C.STEP_INFLATE
	kernelCountLines   kernel = C.STEP_COUNT_LINES
	kernelIndexCount   kernel = C.STEP_INDEX_COUNT
	kernelIndexInsert  kernel = C.STEP_INDEX_INSERT
	kernelPlaceSelect  kernel = C.STEP_PLACE_SELECT
	kernelPlace        kernel = C.STEP_PLACE

	kernelKmerCount     kernel = C.STEP_KMER_COUNT
	kernelKmerWrite     kernel = C.STEP_KMER_WRITE
	kernelKmerGroups    kernel = C.STEP_KMER_GROUPS
	kernelKmerFirst     kernel = C.STEP_KMER_FIRST
	kernelPartners      kernel = C.STEP_PARTNERS
	kernelPartnersLarge kernel = C.STEP_PARTNERS_LARGE
	kernelVoteCount     kernel = C.STEP_VOTE_COUNT
	kernelVote          kernel = C.STEP_VOTE
	kernelVotePoor      kernel = C.STEP_VOTE_POOR

	kernelSuffixSymbols     kernel = C.STEP_SUFFIX_SYMBOLS
	kernelSuffixKeys        kernel = C.STEP_SUFFIX_KEYS
	kernelSuffixCount       kernel = C.STEP_SUFFIX_COUNT
	kernelSuffixScatter     kernel = C.STEP_SUFFIX_SCATTER
	kernelSuffixHeads       kernel = C.STEP_SUFFIX_HEADS
	kernelSuffixCarry       kernel = C.STEP_SUFFIX_CARRY
	kernelSuffixGroups      kernel = C.STEP_SUFFIX_GROUPS
	kernelSuffixDivideCount kernel = C.STEP_SUFFIX_DIVIDE_COUNT
	kernelSuffixDivide      kernel = C.STEP_SUFFIX_DIVIDE
	kernelSuffixSmall       kernel = C.STEP_SUFFIX_SMALL
	kernelSuffixLargeKeys   kernel = C.STEP_SUFFIX_LARGE_KEYS
	kernelSuffixStarts      kernel = C.STEP_SUFFIX_STARTS
	kernelSuffixSamples     kernel = C.STEP_SUFFIX_SAMPLES

	kernelFloatResiduals kernel = C.STEP_FLOAT_RESIDUALS
	kernelFloatCompact   kernel = C.STEP_FLOAT_COMPACT

	kernels kernel = C.STEPS
)

var kernelNames = [kernels]string{
	kernelNone: "none", kernelLines: "lines", kernelRecords: "records", kernelSignature: "signature", kernelSortCount: "sort_count",
	kernelScan: "scan", kernelSortScatter: "sort_scatter", kernelArrange: "arrange", kernelBinStarts: "bin_starts", kernelPack: "pack",
	kernelExceptions: "exceptions", kernelColumns: "columns", kernelMapQuals: "map_quals", kernelTextSums: "text_sums",
	kernelNameChunks: "name_chunks", kernelNameSizes: "name_sizes", kernelNameStreams: "name_streams", kernelStreams: "streams",
	kernelCountSymbols: "count_symbols", kernelCodeTables: "code_tables", kernelMeasure: "measure", kernelChoose: "choose",
	kernelPlaceChunks: "place_chunks", kernelWritePlain: "write_plain", kernelWriteCodes: "write_codes",
	kernelInflate: "inflate", kernelCountLines: "count_lines", kernelIndexCount: "index_count",
	kernelIndexInsert: "index_insert", kernelPlaceSelect: "place_select", kernelPlace: "place",
	kernelKmerCount: "kmer_count", kernelKmerWrite: "kmer_write", kernelKmerGroups: "kmer_groups", kernelKmerFirst: "kmer_first",
	kernelPartners: "partners", kernelPartnersLarge: "partners_large",
	kernelVoteCount: "vote_count", kernelVote: "vote", kernelVotePoor: "vote_poor",
	kernelSuffixSymbols: "suffix_symbols", kernelSuffixKeys: "suffix_keys", kernelSuffixCount: "suffix_count",
	kernelSuffixScatter: "suffix_scatter", kernelSuffixHeads: "suffix_heads", kernelSuffixCarry: "suffix_carry",
	kernelSuffixGroups: "suffix_groups", kernelSuffixDivideCount: "suffix_divide_count",
	kernelSuffixDivide: "suffix_divide", kernelSuffixSmall: "suffix_small",
	kernelSuffixLargeKeys: "suffix_large_keys", kernelSuffixStarts: "suffix_starts", kernelSuffixSamples: "suffix_samples",
	kernelFloatResiduals: "float_residuals", kernelFloatCompact: "float_compact",
}

// String returns the kernel's name in the PTX.
func (k kernel) String() string {
	if k < kernels {
		return kernelNames[k]
	}
	return fmt.Sprintf("kernel %d", uint32(k))
}

// Sizes that the kernels are written for.
const (
	threads    = C.THREADS
	warps      = C.WARPS
	lineTile   = C.LINE_TILE
	countTile  = C.COUNT_TILE
	scanTile   = C.SCAN_TILE
	sortTile   = C.SORT_TILE
	digitBits  = C.DIGIT_BITS
	digits     = C.DIGITS
	sortPasses = C.SORT_PASSES
	kmerTile   = C.KMER_TILE

	sumChunk     = C.SUM_CHUNK
	sumLanes     = C.SUM_LANES
	codedChunk   = C.CHUNK
	nameStreams  = C.NAME_STREAMS
	parts        = C.PARTS
	piece        = C.PIECE
	streamPieces = C.STREAM_PIECES
	streamPad    = C.STREAM_PAD
	pairCount    = C.PAIRS
	headBytes    = C.HEAD_BYTES
	rowBytes     = C.ROW_BYTES

	nameChunkSize = C.sizeof_struct_NameChunk
	streamSize    = C.sizeof_struct_Stream
)

// Slots of the info array.
const (
	infoLines      = C.INFO_LINES
	infoBad        = C.INFO_BAD
	infoMinLen     = C.INFO_MIN_LEN
	infoMaxLen     = C.INFO_MAX_LEN
	infoCodeAnd    = C.INFO_CODE_AND
	infoCodeOr     = C.INFO_CODE_OR
	infoPacked     = C.INFO_PACKED
	infoBases      = C.INFO_BASES
	infoBins       = C.INFO_BINS
	infoExceptions = C.INFO_EXCEPTIONS
	infoNames      = C.INFO_NAMES
	infoCodedNames = C.INFO_CODED_NAMES
	infoCodedQuals = C.INFO_CODED_QUALS
	infoScratch    = C.INFO_SCRATCH
	infoSlots      = C.INFO_SLOTS
)

// What the kernels share with code that is built without them. A constant that differs is
// negative in one of its two lines, and does not compile.
const (
	_ = uint(C.SIG_K - minimizer.K)
	_ = uint(minimizer.K - C.SIG_K)
	_ = uint(C.SIG_SKIP - minimizer.Skip)
	_ = uint(minimizer.Skip - C.SIG_SKIP)
	_ = uint(C.SIG_NONE - minimizer.None)
	_ = uint(minimizer.None - C.SIG_NONE)
	_ = uint(C.CODE_CR - CodeCR)
	_ = uint(CodeCR - C.CODE_CR)
	_ = uint(C.CODE_NAME - CodeName)
	_ = uint(CodeName - C.CODE_NAME)
	_ = uint(C.COUNT_PIECE - CountPiece)
	_ = uint(CountPiece - C.COUNT_PIECE)
	_ = uint(C.SUM_CHUNK - SumChunk)
	_ = uint(SumChunk - C.SUM_CHUNK)
	_ = uint(C.CHUNK - CodedChunk)
	_ = uint(CodedChunk - C.CHUNK)
	_ = uint(sortPasses - 2) // what sort does
	_ = uint(2 - sortPasses)
	_ = uint(C.INFLATE_MOST - MaxMember)
	_ = uint(MaxMember - C.INFLATE_MOST)
	_ = uint(C.INFLATE_CORRUPT - InflateCorrupt)
	_ = uint(InflateCorrupt - C.INFLATE_CORRUPT)
	_ = uint(C.INFLATE_CRC - InflateCRC)
	_ = uint(InflateCRC - C.INFLATE_CRC)
	_ = uint(C.INFLATE_KINDS - inflateKinds)
	_ = uint(inflateKinds - C.INFLATE_KINDS)
	_ = uint(C.INDEX_SEGMENT_BITS - IndexSegmentBits)
	_ = uint(IndexSegmentBits - C.INDEX_SEGMENT_BITS)
	_ = uint(C.INDEX_KEY_BITS - IndexKeyBits)
	_ = uint(IndexKeyBits - C.INDEX_KEY_BITS)
	_ = uint(C.SEED_LEN - SeedLen)
	_ = uint(SeedLen - C.SEED_LEN)
	_ = uint(C.PARTNER_GROUP - PartnerGroup)
	_ = uint(PartnerGroup - C.PARTNER_GROUP)
	_ = uint(C.MOST_PARTNERS - MostPartners)
	_ = uint(MostPartners - C.MOST_PARTNERS)
	_ = uint(C.MOST_VOTES - MostVotes)
	_ = uint(MostVotes - C.MOST_VOTES)
	_ = uint(C.LINK_ZERO - LinkZero)
	_ = uint(LinkZero - C.LINK_ZERO)
	_ = uint(C.POOR_MISMATCHES - PoorMismatches)
	_ = uint(PoorMismatches - C.POOR_MISMATCHES)
	_ = uint(C.OVERLAPPED - Overlapped)
	_ = uint(Overlapped - C.OVERLAPPED)
)

// The structures that the kernels write are read as these. Arrays of different sizes are of
// different types, and do not compile.
var (
	_ [unsafe.Sizeof(BinStart{})]byte  = [unsafe.Sizeof(C.struct_BinStart{})]byte{}
	_ [unsafe.Sizeof(Exception{})]byte = [unsafe.Sizeof(C.struct_Exception{})]byte{}
	_ [unsafe.Sizeof(Member{})]byte    = [unsafe.Sizeof(C.struct_Member{})]byte{}
	_ [unsafe.Sizeof(Run{})]byte       = [unsafe.Sizeof(C.struct_Run{})]byte{}
)
