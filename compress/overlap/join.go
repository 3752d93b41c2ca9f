package overlap

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"unsafe"
)

// seedLen is the length in bases of the exact matches from which joins start; contigs that
// overlap by fewer bases are not joined.
const seedLen = 18

const seedMask = 1<<(2*seedLen) - 1

// Of the k-mers one in joinSample is indexed and looked up, by its hash, so that equal sequences are sampled alike.
const joinSampling = 3

func isJoinSampled(h uint64) bool { return h%joinSampling == 0 }

// assembler joins contigs: it holds growing sequences (supers) and an index of their k-mers. A contig
// that matches one super extends it; one that matches two joins them. Both strands throughout.
type assembler struct {
	scaffolds  [][]scaffold // in lists of superList, so that no list is copied to grow
	parents    []int32      // what each super was joined into, -1 if into none: apart, as they are looked up most often
	slots      []uint64     // places of k-mers; see slotCoordBits
	hashes     []uint32     // their hashes, by which slots are found and which let the table grow in one sweep
	shift      uint
	used       int
	sampleMask uint32 // a k-mer is in the index only if these bits of its hash are 0
	limits     assemblerLimits
	// refused: contigs of several reads found no room.
	full            bool
	compared        int // places of contigs that were compared
	comparisonsLeft int // how many more may be; see joinReserve

	totalBases       int
	scaffoldMem      uint64 // bytes of supers
	forward, reverse []byte
	kmers            []kmer      // sampled ones of the contig at hand
	candidates       []alignment // of one of these
	failed           failedAlignments
}

// kmer is one of a contig: the hash of it and its reverse complement, the smaller of the two, where it begins, and
// whether the smaller is the reverse complement.
type kmer struct {
	hash   uint32
	at     int32
	strand uint8
}

// super is one growing sequence. Coordinate 0 is where its first base stood; it may grow
// to both sides. Once joined into another it forwards there.
type scaffold struct {
	buf      []byte
	origin   int // index in buf of coordinate 0
	lo, hi   int // coordinates covered
	reads    int
	reversed bool // in the parent, base b stands at shift-b; else at shift+b
	shift    int
}

// A slot holds a k-mer's place: super 26 bits | strand 1 | coordinate + 2^28 in 29 | 1 to tell it from an empty one.
const (
	slotUsed         = 1
	slotCoordBits    = 29
	slotCoordZero    = 1 << 28
	maxScaffolds     = 1 << 26
	maxScaffoldBases = 1 << 27
)

// assemblerBounds are what an assembler may hold. Once no super is begun, those that are there still grow:
// supers that end are where pieces of a pseudogenome are not joined.
type assemblerLimits struct {
	bases       int    // in all
	startBytes  uint64 // bytes of supers after which no new one is begun
	extendBytes uint64 // bytes of supers after which none is extended
	slots       int    // of the index, 0 for no bound: after that, it keeps a smaller sample
}

// slotBytes is what a slot of the index takes, with its hash.
const slotBytes = 12

// boundsFor returns the bounds of an assembler that may hold so many bytes and bases. A quarter to half of the bytes is for the
// index.
func limitsFor(bytes uint64, bases int) assemblerLimits {
	slots := 1 << 8
	for 2*uint64(slots)*slotBytes <= bytes/2 {
		slots *= 2
	}
	grow := (bytes - min(bytes, uint64(slots)*slotBytes)) * 3 / 5 // the rest is for buffers that are being replaced, and the collector
	return assemblerLimits{bases: bases, startBytes: grow / 2, extendBytes: grow, slots: slots}
}

// newAssembler returns an assembler for about so many k-mers in its index.
func newAssembler(expected int, bounds assemblerLimits) *assembler {
	b := 16
	for 1<<b < 2*expected {
		b++
	}
	if bounds.slots > 0 {
		b = min(b, bits.Len(uint(bounds.slots))-1)
	}
	return &assembler{slots: make([]uint64, 1<<b), hashes: make([]uint32, 1<<b), shift: uint(32 - b), limits: bounds, comparisonsLeft: baseComparisons}
}

// expectedKmers returns about how many k-mers of contigs an index will hold.
func expectedKmers(c *contigs) int {
	total := 0
	for i := range c.merged {
		total += len(c.merged[i].seq)
	}
	return total / 4 / joinSampling
}

// addAll joins the contigs to what is there, those of most reads first.
func (a *assembler) addContigs(c *contigs, progress func(done, total int)) {
	slices.SortFunc(c.merged, func(a, b contig) int {
		if a.reads != b.reads {
			return cmp.Compare(b.reads, a.reads)
		}
		return cmp.Compare(a.order, b.order)
	})
	done := 0
	for b := range sampleContigs(c) {
		for i, c := range b.contigs {
			if i+1 < len(b.contigs) {
				a.prefetchSlots(b.kmersOf(i + 1)) // while this one is added
			}
			a.addContig(c.seq, int(c.reads), a.stillSampled(b.kmersOf(i)))
		}
		done += len(b.contigs)
		progress(done, c.count())
	}
}

// indexable keeps, in place, those k-mers that the index still samples.
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

// appendTo appends to seq the supers that keep wants, given their reads and their length.
func (a *assembler) appendScaffolds(seq *sequence, keep func(reads, length int) bool) {
	for i := range a.parents {
		s := a.scaffold(int32(i))
		if a.parents[i] < 0 && keep(s.reads, s.hi-s.lo) {
			seq.append(s.buf[s.origin+s.lo : s.origin+s.hi])
		}
	}
}

// sampledBatch holds the sampled k-mers of some contigs.
type kmerBatch struct {
	contigs []contig
	kmers   []kmer
	ends    []int // in kmers, by contig
}

func (b *kmerBatch) kmersOf(i int) []kmer {
	from := 0
	if i > 0 {
		from = b.ends[i-1]
	}
	return b.kmers[from:b.ends[i]]
}

// sampleBatch is after how many contigs, or bases, a batch ends.
const batchContigs, batchBases = 4096, 1 << 19

// sampled samples contigs beside what takes them in.
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

// fetch asks for the slots of a contig's k-mers ahead of their use.
func (a *assembler) prefetchSlots(kmers []kmer) {
	for _, k := range kmers {
		i := k.hash >> a.shift
		prefetch(unsafe.Pointer(&a.slots[i]), unsafe.Pointer(&a.hashes[i]))
	}
}

// sample appends the sampled k-mers of seq to dst.
func sampleKmers(dst []kmer, seq []byte) []kmer {
	var x, y uint64 // the k-mer, first base lowest, and its reverse complement
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

// superList is how many supers are in one list, a power of two.
const scaffoldsPerList = 1 << 12

// superBytes is what a super takes beside its buffer.
const scaffoldOverheadBytes = uint64(unsafe.Sizeof(scaffold{})) + 5

func (a *assembler) scaffold(i int32) *scaffold {
	return &a.scaffolds[i/scaffoldsPerList][i%scaffoldsPerList]
}

// root follows forwards from super s: base b of s stands at shift ± b of the root.
func (a *assembler) root(s int32) (root int32, reversed bool, shift int) {
	root = s
	for a.parents[root] >= 0 {
		p := a.scaffold(root)
		// b -> (flip ? shift-b : shift+b) -> (p.flip ? p.shift - that : p.shift + that)
		if p.reversed {
			shift = p.shift - shift
		} else {
			shift = p.shift + shift
		}
		reversed = reversed != p.reversed
		root = a.parents[root]
	}
	if root != s && a.parents[s] != root {
		q := a.scaffold(s)
		a.parents[s], q.reversed, q.shift = root, reversed, shift
	}
	return root, reversed, shift
}

// hit is an alignment of the whole contig with a super: its first base (of its reverse
// complement, if reversed) at coordinate start.
type alignment struct {
	scaffold int32
	reversed bool
	start    int
	ok       bool
}

// add places one contig: inside a super, at its end, between two, or as a new one.
func (a *assembler) addContig(seq []byte, reads int, kmers []kmer) {
	n := len(seq)
	if n < seedLen {
		return
	}
	a.forward = seq
	a.failed.reset()
	a.comparisonsLeft += n
	a.reverse = slices.Grow(a.reverse[:0], n)[:n]
	for i, c := range seq {
		a.reverse[n-1-i] = 3 - c
	}
	a.kmers = kmers
	var left, right alignment
	lp := 0
	for lp = range a.kmers {
		if left = a.findAlignment(a.kmers[lp], alignment{}); left.ok {
			break
		}
	}
	if left.ok && !a.contains(left, n) {
		for p := len(a.kmers) - 1; p > lp; p-- {
			if right = a.findAlignment(a.kmers[p], left); right.ok {
				break
			}
		}
	}
	switch {
	case !left.ok:
		a.startScaffold(reads)
	case a.contains(left, n):
		a.scaffold(left.scaffold).reads += reads
	case right.ok && a.contains(right, n):
		a.scaffold(right.scaffold).reads += reads
	default:
		if a.extend(left, reads) && right.ok && right.scaffold != left.scaffold {
			a.merge(left, right, n)
		}
	}
}

func (a *assembler) contains(h alignment, n int) bool {
	s := a.scaffold(h.scaffold)
	return h.start >= s.lo && h.start+n <= s.hi
}

// joinReserve is how many places the contigs together may be compared with beyond one a base. Reads of a genome are compared with far
// fewer. Reads of low complexity, or made of pieces of the same repeats, meet several a base, and more the more there are, most of which fail.
const baseComparisons = 1 << 20

// maxProbes bounds at how many slots, of equal or colliding k-mers, a search looks. An insertion looks at one more: what it enters there
// is found once the index has grown. (One less there changes archives, by less than 0.1 %, most of them for the worse.)
const maxProbes = 12

// find looks for an alignment of the contig through one of its k-mers, other than `not`.
func (a *assembler) findAlignment(x kmer, not alignment) alignment {
	h, strand, p := x.hash, uint64(x.strand), int(x.at)
	mask := uint32(len(a.slots) - 1)
	n := len(a.forward)
	if a.comparisonsLeft <= 0 {
		return alignment{}
	}
	a.candidates = a.candidates[:0]
	for i, k := h>>a.shift, 0; a.slots[i] != 0 && k < maxProbes; i, k = (i+1)&mask, k+1 {
		if a.hashes[i] != h {
			continue
		}
		s := a.slots[i]
		id := int32(s >> (slotUsed + slotCoordBits + 1))
		slotStrand := s >> (slotUsed + slotCoordBits) & 1
		coord := int(s>>slotUsed&(1<<slotCoordBits-1)) - slotCoordZero
		root, reversed, shift := id, false, 0
		if a.parents[id] >= 0 {
			root, reversed, shift = a.root(id)
		}
		if reversed {
			coord = shift - (coord + seedLen - 1)
		} else {
			coord += shift
		}
		candidate := alignment{scaffold: root, reversed: (slotStrand != strand) != reversed, ok: true}
		if candidate.reversed {
			candidate.start = coord - (n - seedLen - p)
		} else {
			candidate.start = coord - p
		}
		if candidate != not && !a.failed.has(candidate) {
			a.candidates = append(a.candidates, candidate)
		}
	}
	a.comparisonsLeft -= len(a.candidates)
	a.compared += len(a.candidates)
	if len(a.candidates) > 1 {
		a.prefetchCandidates()
	}
	var best alignment
	bestLen := 0
	for _, candidate := range a.candidates {
		l := a.compare(candidate)
		if l > bestLen {
			best, bestLen = candidate, l
		}
		if l == 0 {
			a.failed.add(candidate)
		}
	}
	return best
}

// cacheLine is the number of bytes that memory is fetched in.
const cacheLine = 64

// fetchHits asks for what the contig will be compared with at all of hits, which is anywhere in memory.
func (a *assembler) prefetchCandidates() {
	for i := range a.candidates {
		s := a.scaffold(a.candidates[i].scaffold)
		prefetch(unsafe.Pointer(s), unsafe.Pointer(&s.reads))
	}
	for i := range a.candidates {
		h := &a.candidates[i]
		s := a.scaffold(h.scaffold)
		lo, hi := max(h.start, s.lo), min(h.start+len(a.forward), s.hi)
		if lo < hi {
			prefetch(unsafe.Pointer(&s.buf[s.origin+lo]), unsafe.Pointer(&s.buf[s.origin+min(lo+cacheLine, hi-1)]))
		}
	}
}

// failedHits remembers alignments of the contig at hand that differ too much: where sequence is repeated, several of its
// k-mers lead to the same. An entry may push out another, which is then compared once more.
type failedAlignments struct {
	entries [256]uint64 // 0 for none
	any     bool
}

func (f *failedAlignments) entry(h alignment) (e *uint64, key uint64) {
	key = uint64(h.scaffold)<<(slotCoordBits+2) | uint64(h.start+slotCoordZero)<<2 | 1
	if h.reversed {
		key |= 2
	}
	return &f.entries[key*0x9e3779b97f4a7c15>>56], key
}

func (f *failedAlignments) has(h alignment) bool {
	e, key := f.entry(h)
	return *e == key
}

func (f *failedAlignments) add(h alignment) {
	e, key := f.entry(h)
	*e, f.any = key, true
}

func (f *failedAlignments) reset() {
	if f.any {
		clear(f.entries[:])
		f.any = false
	}
}

// verify compares the contig with the super where they overlap and returns the number
// of bases that do, or 0 if they differ too much.
func (a *assembler) compare(h alignment) int {
	s := a.scaffold(h.scaffold)
	seq := a.forward
	if h.reversed {
		seq = a.reverse
	}
	lo, hi := max(h.start, s.lo), min(h.start+len(seq), s.hi)
	if hi-lo < seedLen {
		return 0
	}
	if !withinMismatches(s.buf[s.origin+lo:s.origin+hi], seq[lo-h.start:hi-h.start], (hi-lo)/16+1) {
		return 0
	}
	return hi - lo
}

// alike reports whether x and y, as many bases, one a byte, differ in at most limit of them.
func withinMismatches(x, y []byte, limit int) bool {
	for len(x) >= 8 && len(y) >= 8 {
		d := binary.LittleEndian.Uint64(x) ^ binary.LittleEndian.Uint64(y)
		if limit -= bits.OnesCount64((d | d>>1) & 0x0101010101010101); limit < 0 {
			return false
		}
		x, y = x[8:], y[8:]
	}
	for i, c := range x {
		if y[i] != c {
			limit--
		}
	}
	return limit >= 0
}

// begin starts a new super with the contig.
func (a *assembler) startScaffold(reads int) {
	n := len(a.forward)
	need := uint64(n) + scaffoldOverheadBytes
	if len(a.parents) >= maxScaffolds || a.totalBases+n > a.limits.bases || a.scaffoldMem+need > a.limits.startBytes {
		a.full = a.full || reads > 1
		return
	}
	id := int32(len(a.parents))
	if id%scaffoldsPerList == 0 {
		a.scaffolds = append(a.scaffolds, make([]scaffold, scaffoldsPerList))
	}
	*a.scaffold(id) = scaffold{buf: slices.Clone(a.forward), hi: n, reads: reads}
	a.parents = append(a.parents, -1)
	a.totalBases += n
	a.scaffoldMem += need
	for _, k := range a.kmers {
		a.insertKmer(k, id, int(k.at))
	}
}

// insert enters a k-mer, at coordinate coord of super id.
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

// put enters a slot.
func (a *assembler) insertSlot(h uint32, slot uint64) {
	mask := uint32(len(a.slots) - 1)
	i := h >> a.shift
	for k := 0; a.slots[i] != 0; k++ {
		if k == maxProbes {
			return // a k-mer this frequent finds its other copies
		}
		i = (i + 1) & mask
	}
	a.slots[i], a.hashes[i] = slot, h
	a.used++
}

// grow doubles the index. Slots stand in the order of their hashes, so this is one sweep.
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

// thinOut halves the sample of k-mers that the index holds. As slots are in the order of their hashes, each moves back, if at all.
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

// room makes the buffer of s hold coordinates lo..hi-1.
func (a *assembler) reserve(s *scaffold, lo, hi int) {
	if s.origin+lo >= 0 && s.origin+hi <= len(s.buf) {
		return
	}
	slack := (s.hi - s.lo) / 2
	nlo, nhi := s.lo, s.hi
	if lo < nlo {
		nlo = lo - slack
	}
	if hi > nhi {
		nhi = hi + slack
	}
	buf := make([]byte, nhi-nlo)
	copy(buf[s.lo-nlo:], s.buf[s.origin+s.lo:s.origin+s.hi])
	a.scaffoldMem += uint64(cap(buf) - cap(s.buf))
	s.buf, s.origin = buf, -nlo
}

// extend adds to the super what the contig has beyond its ends, if there is room.
func (a *assembler) extend(h alignment, reads int) bool {
	s := a.scaffold(h.scaffold)
	seq := a.forward
	if h.reversed {
		seq = a.reverse
	}
	s.reads += reads
	end := h.start + len(seq)
	lo, hi := min(s.lo, h.start), max(s.hi, end)
	if hi-lo > maxScaffoldBases || hi > maxScaffoldBases || lo < -maxScaffoldBases {
		return false
	}
	if more := hi - lo - (s.hi - s.lo); a.totalBases+more > a.limits.bases || a.scaffoldMem+uint64(more) > a.limits.extendBytes {
		a.full = a.full || reads > 1
		return false
	}
	a.reserve(s, lo, hi)
	a.totalBases += hi - lo - (s.hi - s.lo)
	oldLo, oldHi := s.lo, s.hi
	if h.start < oldLo {
		copy(s.buf[s.origin+h.start:s.origin+oldLo], seq)
	}
	if end > oldHi {
		copy(s.buf[s.origin+oldHi:s.origin+end], seq[oldHi-h.start:])
	}
	s.lo, s.hi = lo, hi
	for _, k := range a.kmers {
		c := h.start + int(k.at)
		if h.reversed {
			c = end - seedLen - int(k.at)
			k.strand ^= 1
		}
		if c < oldLo || c+seedLen > oldHi {
			a.insertKmer(k, h.scaffold, c)
		}
	}
	return true
}

// merge appends the smaller of two supers that share a contig of n bases to the other.
func (a *assembler) merge(x, y alignment, n int) {
	if s, t := a.scaffold(x.scaffold), a.scaffold(y.scaffold); s.hi-s.lo < t.hi-t.lo {
		x, y = y, x
	}
	s, t := a.scaffold(x.scaffold), a.scaffold(y.scaffold)
	reversed := x.reversed != y.reversed
	shift := x.start - y.start
	lo, hi := t.lo+shift, t.hi+shift
	if reversed {
		shift = x.start + y.start + n - 1
		lo, hi = shift-(t.hi-1), shift-t.lo+1
	}
	// Where both cover, they must agree: only one of them is kept there. Repeats can bring
	// supers together that do not belong on top of each other.
	from, to := max(lo, s.lo), min(hi, s.hi)
	for c, left := from, (to-from)/16+1; c < to; c++ {
		v := byte(0)
		if reversed {
			v = 3 - t.buf[t.origin+shift-c]
		} else {
			v = t.buf[t.origin+c-shift]
		}
		if v != s.buf[s.origin+c] {
			if left--; left < 0 {
				return
			}
		}
	}
	lo, hi = min(lo, s.lo), max(hi, s.hi)
	if hi-lo > maxScaffoldBases || hi > maxScaffoldBases || lo < -maxScaffoldBases {
		return
	}
	a.reserve(s, lo, hi)
	for b := t.lo; b < t.hi; b++ {
		c, v := b+shift, t.buf[t.origin+b]
		if reversed {
			c, v = shift-b, 3-v
		}
		if c < s.lo || c >= s.hi {
			s.buf[s.origin+c] = v
		}
	}
	a.totalBases += hi - lo - (s.hi - s.lo) - (t.hi - t.lo)
	s.lo, s.hi = lo, hi
	s.reads += t.reads
	a.scaffoldMem -= uint64(cap(t.buf))
	t.buf = nil
	a.parents[y.scaffold], t.reversed, t.shift = x.scaffold, reversed, shift
}
