package minimizer

import "github.com/klauspost/cpuid/v2"

// hasAVX2 reports whether the processor has the vector instructions that are used.
var hasAVX2 = cpuid.CPU.Supports(cpuid.AVX2)

const (
	group     = 64 // positions that scanVector takes at a time
	maxGroups = 4  // it takes in one call, so that their k-mers fit in its frame
	maxVector = maxGroups * group
	origin    = 1024 // more than maxVector
)

// below and from have a row for each bound of 0..group. Position 4i+j of a group is entry i of column j: all bits are set where the
// position is below the bound, or not.
//
//lint:ignore U1000 the assembler reads them
var below, from = func() (below, from [group + 1][4][group / 4]uint16) {
	for bound := range below {
		for at := range group {
			if at < bound {
				below[bound][at%4][at/4] = 0xffff
			} else {
				from[bound][at%4][at/4] = 0xffff
			}
		}
	}
	return below, from
}()

// places numbers the positions, of each strand in the order in which the one with the largest number counts: origin minus the position
// on the forward strand, the position plus one on the reverse strand. Position 4i+j is entry i of column j; step is added for each group.
//
//lint:ignore U1000 the assembler reads it
var places = func() (places [2]struct{ numbers, step [4][group / 4]uint16 }) {
	for at := range group {
		places[0].numbers[at%4][at/4], places[1].numbers[at%4][at/4] = uint16(origin-at), uint16(at+1)
		places[0].step[at%4][at/4], places[1].step[at%4][at/4] = 1<<16-group, group
	}
	return places
}()

// scanVector finds the smallest admissible k-mer of both strands that begins in one of 1..maxGroups groups of positions. Position 0 is
// that of the first base of packed, of which 16 bytes a group are read and 16 more. Those of the forward strand are at fwdStart..fwdEnd-1,
// those of the reverse strand at revStart..revEnd-1. The key is None-1 if there is none. Of equal k-mers that of the forward strand
// counts, the first one, else the last one of the reverse strand.
//
//go:noescape
func scanVector(packed *byte, groups, fwdStart, fwdEnd, revStart, revEnd int) (key, pos, reverse uint32)

// findPacked is FindPacked.
func findPacked(packed []byte, n int, gaps []Gap) (sig, pos uint32, reverse bool) {
	if !hasAVX2 {
		return findPlain(packed, n, gaps)
	}
	if hasWide && len(gaps) == 0 && n-K < wideGroup {
		return findWide(packed, n)
	}
	return findVector(packed, n, gaps)
}

// findVector is findPlain by vector instructions.
func findVector(packed []byte, n int, gaps []Gap) (sig, pos uint32, reverse bool) {
	_ = packed[(n+3)/4+Pad-1]
	if positions := n - K + 1; len(gaps) == 0 && positions <= maxVector {
		key, pos, reverse := scanVector(&packed[0], (positions+group-1)/group, 0, positions-Skip, Skip, positions)
		if key == None-1 {
			return None, 0, false
		}
		// No branch here: it would be predicted wrongly half of the time.
		if other := uint32(n-K) - pos; reverse != 0 {
			pos = other
		}
		return key, pos, reverse != 0
	}
	b := best{none, none}
	start := 0
	for _, g := range gaps {
		b.scanVector(packed, start, g.Start, n)
		start = g.End
	}
	b.scanVector(packed, start, n, n)
	return b.result(n)
}

// stretch is scan, or scanVector.
func (b *best) stretch(packed []byte, start, end, n int, onlyAA bool) {
	if hasAVX2 {
		b.scanVector(packed, start, end, n)
	} else {
		b.scan(packed, start, end, n, onlyAA)
	}
}

// scanVector is scan of all k-mers.
func (b *best) scanVector(packed []byte, start, end, n int) {
	fwdEnd := min(end, n-Skip) - K + 1
	revEnd := end - K + 1
	revStart := max(start, Skip)
	for at := start &^ 3; at < revEnd; at += maxVector {
		groups := min((revEnd-at+group-1)/group, maxGroups)
		key, pos, reverse := scanVector(&packed[at>>2], groups, start-at, fwdEnd-at, revStart-at, revEnd-at)
		if key == None-1 {
			continue
		}
		pos += uint32(at)
		if reverse == 0 {
			b.fwd = min(b.fwd, uint64(key)<<32|uint64(pos))
		} else {
			b.rev = min(b.rev, uint64(key)<<32|uint64(^pos))
		}
	}
}
