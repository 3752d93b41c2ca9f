package report

import (
	"orcomgo/compress"
)

// Letters of reads, as they are counted.
const (
	letterA = iota
	letterC
	letterG
	letterT
	letterN
	letterOther // another letter of IUPAC, or none
	letters
)

// letterOf is the count of each byte; lower case counts as upper case, and U as T.
var letterOf = func() (t [256]uint8) {
	for i := range t {
		t[i] = letterOther
	}
	for letter, list := range []string{"Aa", "Cc", "Gg", "TtUu", "Nn"} {
		for _, c := range list {
			t[c] = uint8(letter)
		}
	}
	return t
}()

// qualities is how many bytes of qualities are told apart. Those of FASTQ are at most 126.
const qualities = 128

// qualityCounts counts bytes of qualities.
type qualityCounts [qualities]uint64

// row returns row i of counts that are in rows of n, one after another.
func row(counts []uint64, i, n int) []uint64 { return counts[i*n : (i+1)*n] }

// sumRows adds up the rows of counts in dst.
func sumRows(dst, counts []uint64) {
	for ; len(counts) > 0; counts = counts[len(dst):] {
		sum(dst, counts[:len(dst)])
	}
}

// sum adds counts to those of dst, which may become longer.
func sum(dst, counts []uint64) []uint64 {
	dst = grow(dst, len(counts))
	for i, n := range counts {
		dst[i] += n
	}
	return dst
}

// gcCounts are reads that have A, C, G or T, by the percent of G and C among these, in units of 1/gcUnit of a read.
type gcCounts [101]uint64

const gcUnit = 1 << 20

// add counts a read of n bases, gc of which are G or C. There are n+1 such reads, and 101 percents: the reads are laid over the percents,
// so that each takes 101/(n+1) of them, and the read is divided among those that it lies over. If it were counted at the rounded
// percent, reads of 101 bases would have a peak at 50 %, where two of the 102 are rounded to the same.
func (c *gcCounts) add(gc, n uint64) {
	const percents = uint64(len(c))
	// part returns how much of the read is below percent k.
	part := func(k uint64) uint64 {
		if k*(n+1) <= percents*gc {
			return 0
		}
		return min((k*(n+1)-percents*gc)*gcUnit/percents, gcUnit)
	}
	for k, before := percents*gc/(n+1), uint64(0); before < gcUnit; k++ {
		to := part(k + 1)
		c[k] += to - before
		before = to
	}
}

// readCounts are the counts of reads of one number in the fragment.
type readCounts struct {
	records   uint64
	withQuals uint64
	letters   []uint64 // a row of counts of letters, by their numbers, for each group of cycles, counted from 0
	quals     []uint64 // a row of qualityCounts likewise
	lengths   []uint64 // reads, by group of lengths
	gc        gcCounts
	means     qualityCounts // reads that have qualities, by the mean byte of them, rounded
	names     nameCounts
	sample    sequenceSample
}

// grow makes counts up to n-1.
func grow(counts []uint64, n int) []uint64 {
	return append(counts, make([]uint64, max(n-len(counts), 0))...)
}

// add counts a read.
func (c *readCounts) add(r *compress.Record) {
	c.records++
	n := max(len(r.Bases), len(r.Quals))
	group := groupOf(n)
	c.lengths = grow(c.lengths, group+1)
	c.lengths[group]++
	if r.Bases != nil {
		c.letters = grow(c.letters, letters*min(group+1, n))
		c.addBases(r.Bases)
		c.sample.add(hashRead(r.Bases), 1)
	}
	if r.Quals != nil {
		c.withQuals++
		c.quals = grow(c.quals, qualities*min(group+1, n))
		c.addQuals(r.Quals)
	}
	if r.Name != nil {
		c.names.add(r.Name)
	}
}

func (c *readCounts) addBases(bases []byte) {
	var counts [letters]uint64
	exact := bases[:min(len(bases), exactGroups)]
	for i, b := range exact {
		letter := letterOf[b]
		counts[letter]++
		c.letters[letters*i+int(letter)]++
	}
	for i, b := range bases[len(exact):] {
		letter := letterOf[b]
		counts[letter]++
		c.letters[letters*groupOf(exactGroups+i)+int(letter)]++
	}
	own := lettersOf(counts[:])
	if n := own.acgt(); n > 0 {
		c.gc.add(own.gc(), n)
	}
}

func (c *readCounts) addQuals(quals []byte) {
	sum := 0
	exact := quals[:min(len(quals), exactGroups)]
	for i, q := range exact {
		q = min(q, qualities-1)
		sum += int(q)
		c.quals[qualities*i+int(q)]++
	}
	for i, q := range quals[len(exact):] {
		q = min(q, qualities-1)
		sum += int(q)
		c.quals[qualities*groupOf(exactGroups+i)+int(q)]++
	}
	if n := len(quals); n > 0 {
		c.means[(2*sum+n)/(2*n)]++
	}
}

// merge adds the counts of d, which is not used any more.
func (c *readCounts) merge(d *readCounts) {
	c.records += d.records
	c.withQuals += d.withQuals
	c.letters, c.quals, c.lengths = sum(c.letters, d.letters), sum(c.quals, d.quals), sum(c.lengths, d.lengths)
	sum(c.gc[:], d.gc[:])
	sum(c.means[:], d.means[:])
	c.names.merge(&d.names)
	c.sample.merge(&d.sample)
}
