package overlap

import "unsafe"

// seedLen is the length in bases of the k-mers by which contigs are found to overlap. Contigs that overlap by fewer bases are
// not joined.
const seedLen = 18

const seedMask = 1<<(2*seedLen) - 1

// joinSampling: one k-mer in so many is indexed and looked up. It is selected by its hash, so that the same k-mers are
// selected in equal sequences.
const joinSampling = 3

func isJoinSampled(h uint64) bool { return h%joinSampling == 0 }

// kmer is a k-mer of a contig: the hash of the smaller of it and its reverse complement, its offset in the contig, and
// strand, which is 1 if the reverse complement is smaller.
type kmer struct {
	hash   uint32
	at     int32
	strand uint8
}

// A slot holds the place of a k-mer: scaffold (26 bits), strand (1 bit), coordinate + 2^28 (29 bits), and a 1 bit, as an
// empty slot is 0.
const (
	slotUsed         = 1
	slotCoordBits    = 29
	slotCoordZero    = 1 << 28
	maxScaffolds     = 1 << 26
	maxScaffoldBases = 1 << 27
)

// slotBytes is the memory of a slot of the index and its hash.
const slotBytes = 12

// expectedKmers estimates the number of k-mers of contigs that an index will hold.
func expectedKmers(c *contigs) int {
	total := 0
	for i := range c.merged {
		total += len(c.merged[i].seq)
	}
	return total / 4 / joinSampling
}

// stillSampled removes, in place, the k-mers that the index does not sample any more, and returns the others.
func (a *assembler) stillSampled(kmers []kmer) []kmer {
	if a.sampleMask == 0 {
		return kmers
	}
	kept := kmers[:0]
	for _, k := range kmers {
		if k.hash&a.sampleMask == 0 {
			kept = append(kept, k)
		}
	}
	return kept
}

// kmerBatch holds some contigs and their sampled k-mers.
type kmerBatch struct {
	contigs []contig
	kmers   []kmer
	ends    []int // end in kmers of those of each contig
}

func (b *kmerBatch) kmersOf(i int) []kmer {
	from := 0
	if i > 0 {
		from = b.ends[i-1]
	}
	return b.kmers[from:b.ends[i]]
}

// A kmerBatch ends after batchContigs contigs or batchBases bases.
const batchContigs, batchBases = 4096, 1 << 19

// sampleContigs samples the k-mers of contigs in another goroutine, and returns them in the order of the contigs.
func sampleContigs(c *contigs) <-chan *kmerBatch {
	out := make(chan *kmerBatch, 4)
	go func() {
		defer close(out)
		b, bases := &kmerBatch{}, 0
		add := func(c contig) {
			b.contigs = append(b.contigs, c)
			b.kmers = sampleKmers(b.kmers, c.seq)
			b.ends = append(b.ends, len(b.kmers))
			if bases += len(c.seq); len(b.contigs) == batchContigs || bases >= batchBases {
				out <- b
				b, bases = &kmerBatch{}, 0
			}
		}
		for _, s := range c.merged {
			add(s)
		}
		var arena []byte
		for _, i := range c.singles {
			x, y := c.reads.longestACGT(int(i))
			if cap(arena)-len(arena) < y-x+chunkBases {
				arena = make([]byte, 0, 1<<16)
			}
			at := len(arena)
			arena = unpack(arena, c.reads.bases(int(i)), x, y-x)
			add(contig{seq: arena[at:len(arena):len(arena)], reads: 1})
		}
		if len(b.contigs) > 0 {
			out <- b
		}
	}()
	return out
}

// prefetchSlots prefetches the slots of k-mers.
func (a *assembler) prefetchSlots(kmers []kmer) {
	for _, k := range kmers {
		i := k.hash >> a.shift
		prefetch(unsafe.Pointer(&a.slots[i]), unsafe.Pointer(&a.hashes[i]))
	}
}

// sampleKmers appends the sampled k-mers of seq to dst.
func sampleKmers(dst []kmer, seq []byte) []kmer {
	var x, y uint64 // the k-mer, its first base in the lowest bits, and its reverse complement
	for i, c := range seq {
		x = x>>2 | uint64(c)<<(2*(seedLen-1))
		y = y<<2&seedMask | uint64(3-c)
		if i < seedLen-1 {
			continue
		}
		if h := mix64(min(x, y)); isJoinSampled(h) {
			k := kmer{hash: uint32(h >> 32), at: int32(i - seedLen + 1)}
			if y < x {
				k.strand = 1
			}
			dst = append(dst, k)
		}
	}
	return dst
}

// maxProbes is the number of slots (of equal or colliding k-mers) that a search examines at most. An insertion examines one
// more; what it stores there is found after the index has grown. (With the same limit for both, archives differ by less than
// 0.1 %, and most are larger.)
const maxProbes = 12

// insertKmer adds a k-mer at coordinate coord of scaffold id to the index. It makes the index larger first, or samples fewer
// k-mers, if the index is two thirds full.
func (a *assembler) insertKmer(k kmer, id int32, coord int) {
	if a.used*3 > len(a.slots)*2 && a.shift > 1 {
		if a.limits.slots == 0 || 2*len(a.slots) <= a.limits.slots {
			a.growIndex()
		} else {
			a.thinIndex()
			if k.hash&a.sampleMask != 0 {
				return
			}
		}
	}
	a.insertSlot(k.hash, (uint64(id)<<1|uint64(k.strand))<<(slotUsed+slotCoordBits)|uint64(coord+slotCoordZero)<<slotUsed|1)
}

// insertSlot stores a slot, unless maxProbes+1 slots from its hash on are used.
func (a *assembler) insertSlot(h uint32, slot uint64) {
	mask := uint32(len(a.slots) - 1)
	i := h >> a.shift
	for k := 0; a.slots[i] != 0; k++ {
		if k == maxProbes {
			return // a k-mer as frequent as this is found at its other positions
		}
		i = (i + 1) & mask
	}
	a.slots[i], a.hashes[i] = slot, h
	a.used++
}

// growIndex doubles the index. Slots are in the order of their hashes, so one pass over them is enough.
func (a *assembler) growIndex() {
	slots, hashes := a.slots, a.hashes
	a.slots, a.hashes = make([]uint64, 2*len(slots)), make([]uint32, 2*len(slots))
	a.shift--
	a.used = 0
	for i, s := range slots {
		if s != 0 {
			a.insertSlot(hashes[i], s)
		}
	}
}

// thinIndex removes half of the sampled k-mers from the index. Slots are in the order of their hashes, so none of the others
// moves to a later slot.
func (a *assembler) thinIndex() {
	a.sampleMask = a.sampleMask<<1 | 1
	a.used = 0
	for i, s := range a.slots {
		if s != 0 {
			h := a.hashes[i]
			a.slots[i] = 0
			if h&a.sampleMask == 0 {
				a.insertSlot(h, s)
			}
		}
	}
}
