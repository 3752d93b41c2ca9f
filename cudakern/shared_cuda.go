//go:build cuda

package cudakern

// #include "shared.h"
// #define NAME(CAPITALS, name) #name,
// static const char *const kernel_names[] = {"none", KERNELS(NAME)};
// static const char *kernel_name(unsigned int k) { return kernel_names[k]; }
import "C"

import (
	"fmt"
	"unsafe"

	"orcomgo/minimizer"
)

// kernel numbers the kernels, by constants of shared.h. A kernel that begins writes its number to the step word of its queue.
type kernel uint32

// kernels is how many numbers there are.
const kernels kernel = C.STEPS

// String returns the kernel's name in the PTX.
func (k kernel) String() string {
	if k < kernels {
		return C.GoString(C.kernel_name(C.uint(k)))
	}
	return fmt.Sprintf("kernel %d", uint32(k))
}

// The threads of a thread block, and its warps.
const (
	threads = C.THREADS
	warps   = C.WARPS
)

// What package overlap defines, and kernels use: how many upper bits of a k-mer's hash select the segment of the index of a Placer, and how
// many bits after them are the key; seedLen, maxPartnerGroup, maxPartners, the votes that byVotes tells apart, linkZero, minPoorMismatches
// and maxOverlapped.
const (
	IndexSegmentBits = C.INDEX_SEGMENT_BITS
	IndexKeyBits     = C.INDEX_KEY_BITS
	SeedLen          = C.SEED_LEN
	PartnerGroup     = C.PARTNER_GROUP
	MostPartners     = C.MOST_PARTNERS
	MostVotes        = C.MOST_VOTES
	LinkZero         = C.LINK_ZERO
	PoorMismatches   = C.POOR_MISMATCHES
	Overlapped       = C.OVERLAPPED
)

// CountPiece is how many bytes of text Lane.CountLines has a number for.
const CountPiece = C.COUNT_PIECE

// What the kernels share with code that is built without them. An index other than 0 does not compile.
var (
	_ = [1]int{}[C.SIG_K-minimizer.K]
	_ = [1]int{}[C.SIG_SKIP-minimizer.Skip]
	_ = [1]int{}[C.SIG_NONE-minimizer.None]
	_ = [1]int{}[C.SORT_PASSES-2] // an even number, see sort
	_ = [1]int{}[C.INFLATE_MOST-MaxMember]
	_ = [1]int{}[C.INFLATE_CORRUPT-InflateCorrupt]
	_ = [1]int{}[C.INFLATE_CRC-InflateCRC]
	_ = [1]int{}[C.INFLATE_KINDS-inflateKinds]
)

// The structures that the kernels write are read as these. Arrays of different sizes are of
// different types, and do not compile.
var (
	_ [unsafe.Sizeof(BinStart{})]byte  = [unsafe.Sizeof(C.struct_BinStart{})]byte{}
	_ [unsafe.Sizeof(Exception{})]byte = [unsafe.Sizeof(C.struct_Exception{})]byte{}
	_ [unsafe.Sizeof(Member{})]byte    = [unsafe.Sizeof(C.struct_Member{})]byte{}
	_ [unsafe.Sizeof(Run{})]byte       = [unsafe.Sizeof(C.struct_Run{})]byte{}
)
