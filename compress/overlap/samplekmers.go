package overlap

import (
	"math"

	"orcomgo/bases"
)

// seedLen is the length in bases of the k-mers by which contigs are found to overlap. Contigs that overlap by fewer bases are
// not joined.
const seedLen = 18

// kmer is a sampled k-mer of a contig.
type kmer struct {
	hash   uint32 // of the smaller of the k-mer and its reverse complement
	contig uint32
	at     uint32 // its offset in the contig << 1 | 1 if its reverse complement is the smaller
}

// kmerBytes is the memory of a sampled k-mer while contigs are joined: in the order of contigs, in that of hashes, as a member of a group,
// and room for more.
const kmerBytes = 12 + 8 + 8 + 8

// sampleRate is how many k-mers there are for each that is selected. They are selected by their hash, so that the same are selected in
// equal sequences.
type sampleRate int

// sampler samples the k-mers of contigs.
type sampler struct {
	rate sampleRate
	ends int // the first and the last k-mers of a contig, so many of each, are sampled in any case
	// If memory is short, only one of several parts of these k-mers is selected, by their hash.
	part, parts uint32
	// distinct leaves out a k-mer whose hash is that of one of the last recentKmers that were selected of the same contig. Runs of one
	// base have the same k-mer at each base, and short repeats have few.
	distinct bool
	wanted   *wantedKmers // others are left out
}

// recentKmers is how many k-mers before it a k-mer differs from with sampler.distinct.
const recentKmers = 4

// recurs reports whether one of the last k-mers is of the same contig and hash.
func (k *kmer) recurs(before []kmer) bool {
	for _, x := range before[max(len(before)-recentKmers, 0):] {
		if x.hash == k.hash && x.contig == k.contig {
			return true
		}
	}
	return false
}

// count returns how many k-mers are selected of every so many-th contig of a set, and how many are expected of these.
func (s sampler) count(set *contigSet, every, threads int) (selected, expected uint64) {
	s.parts = 1
	n := (set.count() + every - 1) / every
	const size = 64
	all, usual := make([]uint64, (n+size-1)/size), make([]uint64, (n+size-1)/size)
	inParallel(threads, n, size, func(_, from, to int) {
		var kmers []kmer
		for i := from; i < to; i++ {
			c := uint32(i * every)
			bases := int(set.length[c])
			kmers = s.kmers(kmers[:0], c, set.of(c), bases)
			all[from/size] += uint64(len(kmers))
			usual[from/size] += uint64(min(bases, bases/int(s.rate)+2*s.ends))
		}
	})
	for i := range all {
		selected += all[i]
		expected += usual[i]
	}
	return selected, expected
}

// kmers appends to dst the selected k-mers of a contig, which are n bases of p.
func (s sampler) kmers(dst []kmer, contig uint32, p []byte, n int) []kmer {
	if n < seedLen {
		return dst
	}
	var found sampledBlock
	rate := (1<<32 - 1) / uint64(s.rate) << 32
	kmers := n - seedLen + 1
	last := max(kmers-s.ends, 0) // from here on all k-mers of the contig are selected, and the first s.ends
	for from, to := 0, 0; from < kmers; from = to {
		threshold := uint64(math.MaxUint64)
		switch {
		case from >= last:
			to = kmers
		case from < s.ends:
			to = s.ends
		default:
			to, threshold = last, rate
		}
		to = min(to, from+kmerBlock)
		hashes, places := found.sample(p, from, to-from, seedLen, 32, threshold)
		for i, h := range hashes {
			if s.parts > 1 && uint32(h>>20)%s.parts != s.part || !s.wanted.has(h) {
				continue
			}
			k := kmer{hash: uint32(h >> 32), contig: contig, at: uint32(places[i])}
			if !s.distinct || !k.recurs(dst) {
				dst = append(dst, k)
			}
		}
	}
	return dst
}

// kmerBlock is how many k-mers sampledBlock.sample samples at most.
const kmerBlock = 64

// sampledBlock is memory for the hashes and places of sampled k-mers. Vectors may write to the last eight elements.
type sampledBlock struct{ hashes, places [kmerBlock + 8]uint64 }

// sample returns the selected ones of the n k-mers of k bases that begin at base `from` of p and after it; n is at least 1, k at most 28. A
// k-mer is selected if its hash << shift is less than threshold. Of each there are the hash and the place: the base at which the k-mer
// begins << 1 | 1 if its reverse complement is the smaller.
func (b *sampledBlock) sample(p []byte, from, n, k int, shift, threshold uint64) (hashes, places []uint64) {
	count := 0
	if hasAVX512 && from&3+7+k <= bases.PerWord {
		count = sampleVector(&b.hashes[0], &b.places[0], &p[0], from, n, k, shift, threshold)
		return b.hashes[:count], b.places[:count]
	}
	next := bases.Chunk(p, from) & bases.First(k)
	nextReversed := bases.ReverseComplement(next, k)
	for at := from; at < from+n; at++ {
		w, r, c := next, nextReversed, uint64(bases.At(p, at+k))
		next, nextReversed = w>>2|c<<(2*uint(k-1)&63), r<<2&bases.First(k)|(3-c)
		h := mix64(min(w, r))
		if h<<shift >= threshold {
			continue
		}
		b.hashes[count], b.places[count] = h, uint64(at)<<1
		if r < w {
			b.places[count]++
		}
		count++
	}
	return b.hashes[:count], b.places[:count]
}
