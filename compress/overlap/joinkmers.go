package overlap

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"
)

// seedLen is the length in bases of the k-mers by which contigs are found to overlap. Contigs that overlap by fewer bases are
// not joined.
const seedLen = 18

const seedMask = 1<<(2*seedLen) - 1

// kmer is a sampled k-mer of a contig.
type kmer struct {
	slot uint32 // of the table, by the hash of the smaller of the k-mer and its reverse complement
	// at is the offset of the k-mer in the contig << 1 | 1 if its reverse complement is the smaller.
	at uint32
}

// sampling selects k-mers by their hash, so that the same k-mers are selected in equal sequences, and gives them slots.
type sampling struct {
	threshold uint32 // a k-mer is selected if the low half of its hash is less
	slots     uint64
	k int
}

// every returns the sampling that selects one k-mer in n.
func every(k, n int, slots int) sampling {
	return sampling{k: k, threshold: uint32((1<<32 - 1) / uint64(n)), slots: uint64(slots)}
}

// kmers appends to dst the selected k-mers of p that begin at bases from..to-1. p holds n bases.
func (s sampling) kmers(dst []kmer, p []byte, n, from, to int) []kmer {
	seed, mask := s.k, uint64(1)<<(2*s.k)-1
	to = min(to, n-seed+1)
	if from >= to {
		return dst
	}
	var x, y, w uint64 // the k-mer, its first base in the lowest bits; its reverse complement; the next bases
	for i := from; i < to+seed-1; i++ {
		if i&3 == 0 && (i-from&^3)&31 == 0 || i == from {
			w = binary.LittleEndian.Uint64(p[i>>2:]) >> (2 * uint(i&3))
		}
		c := w & 3
		w >>= 2
		x = x>>2 | c<<(2*(seed-1))
		y = y<<2&mask | (3 - c)
		at := i - seed + 1
		if at < from {
			continue
		}
		h := mix64(min(x, y))
		if uint32(h) < s.threshold {
			k := kmer{slot: uint32(h >> 32 * s.slots >> 32), at: uint32(at) << 1}
			if y < x {
				k.at |= 1
			}
			dst = append(dst, k)
		}
	}
	return dst
}

// kmerTable holds, for each slot, the place of one k-mer: that in the contig of the smallest index, there the first one. A word is
// the complement of contig << 32 | kmer.at, so that an empty slot is 0 and the place that is kept has the largest word.
type kmerTable []uint64

// insert enters the k-mers of a contig. Several goroutines may call it: what is kept does not depend on their order.
func (t kmerTable) insert(prev kmerTable, contig uint32, kmers []kmer) {
	for i := range kmers {
		if i+prefetchAhead < len(kmers) {
			p := unsafe.Pointer(&t[kmers[i+prefetchAhead].slot])
			prefetch(p, p)
		}
		word := ^(uint64(contig)<<32 | uint64(kmers[i].at))
		if prev != nil && word >= prev[kmers[i].slot] {continue}
		for slot := &t[kmers[i].slot]; ; {
			old := atomic.LoadUint64(slot)
			if old >= word || atomic.CompareAndSwapUint64(slot, old, word) {
				break
			}
		}
	}
}

// prefetchAhead is how many k-mers ahead of the current one a slot is prefetched.
const prefetchAhead = 12

// lookup returns the place that a slot holds, or contig 2^32-1 if it is empty.
func (t kmerTable) lookup(slot uint32) (contig, at uint32) {
	word := ^t[slot]
	return uint32(word >> 32), uint32(word)
}
