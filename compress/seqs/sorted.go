package seqs

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	rc "orcomgo/compress/rangecoder"
)

// sortedRun is the number of placed records between two groups of records without a place in the order of Sorted. The latter are
// spread because they take longest to decode: each slice has its share of them.
const sortedRun = 1 << 15

// Sorted returns the order in which records from..to-1 of an input are stored: the i-th is record
// from + result[i]. The placed reads are sorted by position, strand and ordinal and cut into equal shares. After each share
// follows an equal share of the other reads, by ordinal.
func (e *Encoder) Sorted(ctx context.Context, input int, from, to uint64) ([]uint32, error) {
	k, err := e.partOf(input, from, to)
	if err != nil {
		return nil, err
	}
	base, _ := e.parts[k].record(input, from)
	var place func(record uint32) (uint32, bool)
	if e.window > 0 {
		e.mu.Lock() // only places are needed, no reads
		err := e.build(ctx)
		e.mu.Unlock()
		if err != nil {
			return nil, err
		}
		place = e.genome.Place
	} else {
		p, err := e.acquire(ctx, loaded{part: k}, nil)
		if err != nil {
			return nil, err
		}
		defer e.release()
		place = p.layout.Place
	}
	placed := make([]uint32, 0, to-from)
	var others []uint32
	for i := range uint32(to - from) {
		if pos, _ := place(base + i); pos == unplaced {
			others = append(others, i)
		} else {
			placed = append(placed, i)
		}
	}
	placed = sortByPlace(placed, e.genome.Len, func(i uint32) uint64 {
		pos, rev := place(base + i)
		return uint64(pos)<<1 | uint64(rc.BitOf(rev))
	})
	perm := make([]uint32, 0, to-from)
	runs := max(1, len(placed)/sortedRun)
	for r := range runs {
		perm = append(perm, placed[len(placed)*r/runs:len(placed)*(r+1)/runs]...)
		perm = append(perm, others[len(others)*r/runs:len(others)*(r+1)/runs]...)
	}
	return perm, nil
}

// sortByPlace returns reads, which ascend, sorted by their keys, position << 1 | strand; equal ones keep their order. There are
// n positions. It distributes the reads to short ranges of positions first, which takes less memory than storing a key for each
// read.
func sortByPlace(a []uint32, n int, key func(read uint32) uint64) []uint32 {
	shift := max(bits.Len(uint(n))-18, 0) + 1
	next := make([]int, uint64(n)<<1>>shift+2)
	for _, i := range a {
		next[key(i)>>shift+1]++
	}
	for b := range len(next) - 1 {
		next[b+1] += next[b]
	}
	out := make([]uint32, len(a))
	for _, i := range a {
		b := &next[key(i)>>shift]
		out[*b] = i
		*b++
	}
	from := 0
	var keyed []placedRead
	for _, to := range next[:len(next)-1] {
		keyed = keyed[:0]
		for _, i := range out[from:to] {
			keyed = append(keyed, placedRead{key(i), i})
		}
		slices.SortFunc(keyed, func(x, y placedRead) int {
			if x.key != y.key {
				return cmp.Compare(x.key, y.key)
			}
			return cmp.Compare(x.read, y.read)
		})
		for k, x := range keyed {
			out[from+k] = x.read
		}
		from = to
	}
	return out
}

type placedRead struct {
	key  uint64
	read uint32
}
