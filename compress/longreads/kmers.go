package longreads

import (
	"math/bits"

	"orcomgo/bases"
	"orcomgo/internal/tasks"
)

// K-mers of k bases are sampled by their hash: those with hash < sampleLimit. So the same ones are sampled in all sequences, on
// both strands.
const (
	k           = 16
	sampleEvery = 16
	sampleLimit = 1 << 32 / sampleEvery
)

// kmer is a sampled k-mer of a sequence.
type kmer struct {
	hash     uint32 // below sampleLimit
	pos      uint32 // its first base
	reversed bool   // the canonical form is its reverse complement
}

// mix32 is a bijection of 32-bit numbers (the finaliser of MurmurHash3; Appleby 2011).
func mix32(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x85ebca6b
	x ^= x >> 13
	x *= 0xc2b2ae35
	return x ^ x>>16
}

// longestPeriod is the longest unit, in bases, of tandem repeats whose k-mers are not sampled: they are at too many places.
const longestPeriod = 7

// periodic reports whether the bases of a k-mer are those of a tandem repeat.
func periodic(x uint32) bool {
	for p := uint(2); p <= 2*longestPeriod; p += 2 {
		if (x^x>>p)<<p == 0 {
			return true
		}
	}
	return false
}

// appendKmers appends the sampled k-mers of bases from..to-1 of b. K-mers that are their own reverse complement, and
// those of tandem repeats, are never sampled.
func appendKmers(dst []kmer, b bases.Words, from, to int) []kmer {
	if to-from < k {
		return dst
	}
	// The first base of a k-mer is in the highest bits of f, and the complement of the last one in those of r.
	var f, r uint32
	w := b.Load(from)
	for i := from; i < to; i++ {
		if (i-from)&31 == 0 {
			w = b.Load(i)
		}
		v := uint32(w) & 3
		w >>= 2
		f = f<<2 | v
		r = r>>2 | (3-v)<<30
		if i-from < k-1 {
			continue
		}
		h := mix32(min(f, r))
		if h < sampleLimit && f != r && !periodic(f) {
			dst = append(dst, kmer{h, uint32(i - k + 1), r < f})
		}
	}
	return dst
}

// parts is into how many tables an index is divided, by hash, so that several goroutines can fill them.
const (
	partBits = 6
	parts    = 1 << partBits
	// maxCopies is how many places of a k-mer are entered; further ones are left out.
	maxCopies = 24
)

// index gives the places of k-mers in a sequence. Lookups may run side by side, but not beside insertions.
type index struct {
	tables [parts]table
}

// table is a hash table with linear probing. An entry is place << 33 | reversed << 32 | (hash + 1); 0 is empty.
type table struct {
	slots []uint64
	n     int
	shift uint
}

// slotOf returns where hash's entries begin.
func (t *table) slotOf(hash uint32) int { return int(hash * 0x9e3779b1 >> t.shift) }

func (t *table) grow(n int) {
	size := 64
	for size < 2*n {
		size *= 2
	}
	if size <= len(t.slots) {
		return
	}
	old := t.slots
	t.slots, t.shift = make([]uint64, size), uint(32-bits.TrailingZeros(uint(size)))
	// Entries of a hash keep their order: they follow each other in probing order, which begins after an empty slot.
	start := 0
	for start < len(old) && old[start] != 0 {
		start++
	}
	for i := range old {
		if e := old[(start+i)%len(old)]; e != 0 {
			t.put(e)
		}
	}
}

func (t *table) put(e uint64) {
	mask := len(t.slots) - 1
	i := t.slotOf(uint32(e) - 1)
	for t.slots[i] != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = e
}

// insert enters a k-mer at place pos, which is less than 2^31, unless it has maxCopies already.
func (t *table) insert(hash, pos uint32, reversed bool) {
	if 2*(t.n+1) > len(t.slots) {
		t.grow(2 * (t.n + 1))
	}
	e := uint64(pos)<<33 | uint64(hash+1)
	if reversed {
		e |= 1 << 32
	}
	mask := len(t.slots) - 1
	copies := 0
	i := t.slotOf(hash)
	for ; t.slots[i] != 0; i = (i + 1) & mask {
		if uint32(t.slots[i]) == hash+1 {
			if copies++; copies == maxCopies {
				return
			}
		}
	}
	t.slots[i] = e
	t.n++
}

func partOf(hash uint32) int { return int(hash>>(32-4-partBits)) & (parts - 1) }

// insert enters a k-mer.
func (x *index) insert(m kmer) { x.tables[partOf(m.hash)].insert(m.hash, m.pos, m.reversed) }

// hit is a k-mer that a read and the sequence share.
type hit struct {
	read, place uint32 // its first base in the read and in the sequence
	reversed    bool   // the read is the reverse complement there
}

// appendHits appends the places of a read's k-mer.
func (x *index) appendHits(dst []hit, m kmer) []hit {
	t := &x.tables[partOf(m.hash)]
	if len(t.slots) == 0 {
		return dst
	}
	mask := len(t.slots) - 1
	for i := t.slotOf(m.hash); ; i = (i + 1) & mask {
		e := t.slots[i]
		if e == 0 {
			return dst
		}
		if uint32(e) == m.hash+1 {
			dst = append(dst, hit{m.pos, uint32(e >> 33), m.reversed != (e>>32&1 != 0)})
		}
	}
}

// indexChunk is how many bases a goroutine samples at a time.
const indexChunk = 1 << 18

// newIndex indexes n bases on so many threads.
func newIndex(b bases.Words, n, threads int) *index {
	x := &index{}
	chunks := (n + indexChunk - 1) / indexChunk
	found := make([][parts][]kmer, chunks)
	tasks.EachWorker(chunks, threads, func(int) func(int) {
		var buf []kmer
		return func(c int) {
			from := c * indexChunk
			buf = appendKmers(buf[:0], b, from, min(from+indexChunk+k-1, n))
			for _, m := range buf {
				p := partOf(m.hash)
				found[c][p] = append(found[c][p], m)
			}
		}
	})
	tasks.Each(parts, threads, func(_, p int) {
		t := &x.tables[p]
		n := 0
		for c := range found {
			n += len(found[c][p])
		}
		t.grow(n)
		for c := range found {
			for _, m := range found[c][p] {
				t.insert(m.hash, m.pos, m.reversed)
			}
		}
	})
	return x
}
