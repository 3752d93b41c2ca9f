package overlap

import (
"fmt"
"strings"
	"cmp"
	"os"
	"slices"
	"strconv"
)

// assembler collects contigs and joins them.
type assembler struct {
	joiner
	limits  assemblerLimits
	singles []single
	packedSingles []byte
	full bool // a contig of two or more reads did not fit within limits
	merged []contig
}

type single struct{ pos uint64; n uint32 }

// assemblerLimits limits the memory of an assembler.
type assemblerLimits struct {
	bases int // of all contigs that remain
	bytes uint64
}

func limitsFor(bytes uint64, bases int) assemblerLimits { return assemblerLimits{bases, bytes} }

func newAssembler(limits assemblerLimits, threads int) *assembler {
	return &assembler{limits: limits, joiner: joiner{threads: threads}}
}

var envN = func(name string, def int) int {
	if v, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return v
	}
	return def
}

func (a *assembler) addContigs(c *contigs, progress func(done, total int)) {
	slices.SortFunc(c.merged, func(a, b contig) int {
		if a.reads != b.reads {
			return cmp.Compare(b.reads, a.reads)
		}
		return cmp.Compare(a.order, b.order)
	})
	var buf []byte
	for i := range c.merged {
		buf = packBases(buf[:0], c.merged[i].seq)
		a.set.add(buf, 0, len(c.merged[i].seq), uint64(c.merged[i].reads))
	}
	println("contigs", a.set.count(), a.set.bases, "singles", len(c.singles))
	a.plan(os.Getenv("JA"))
	for _, i := range c.singles {
		x, y := c.reads.longestACGT(int(i))
		a.set.add(c.reads.bases(int(i)), x, y-x, 1)
	}
	a.plan(os.Getenv("JB"))
}

func (a *assembler) plan(plan string) {
	for _, p := range strings.Fields(plan) {
		var k, rate, n, stop int
		fmt.Sscanf(p, "%d,%d,%d,%d", &k, &rate, &n, &stop)
		a.rounds(k, rate, n, stop)
	}
}

func (a *assembler) rounds(k, rate, n, stop int) {
	for range n {
		count := a.set.count()
		s := every(k, rate, max(1<<12, int(a.set.bases)*2/rate))
		joined := a.round(s)
		println("k", k, "rate", rate, "contigs", count, "bases", a.set.bases, "joined", joined)
		if joined <= count/stop {
			break
		}
	}
}

func packBases(dst, bases []byte) []byte {
	s := sequence{packed: dst}
	s.append(bases)
	return s.packed
}

// appendScaffolds appends to seq the scaffolds for which keep returns true, given their number of reads and of bases.
func (a *assembler) appendScaffolds(seq *sequence, keep func(reads, length int) bool) {
	var buf []byte
	for c, n := range a.set.length {
		if keep(int(a.set.reads[c]), int(n)) {
			buf = unpack(buf[:0], a.set.of(uint32(c)), 0, int(n))
			seq.append(buf)
		}
	}
}
