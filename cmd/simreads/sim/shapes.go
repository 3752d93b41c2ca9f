package sim

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
)

// hardReads are a kind of reads that are hard to lay out: unlike reads of a genome they overlap in
// part, or by chance, or are all equal.
type hardReads struct {
	name string
	make func(r *random, reads, length int) func() []byte
}

const anyBase = "ACGT"

// letters draws n of some letters.
func letters(r *random, n int, of string) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = of[r.below(uint64(len(of)))]
	}
	return b
}

// glued makes reads of pieces of a sequence, of either strand; cut returns the start and the length
// of the next piece.
func glued(r *random, length int, genome []byte, cut func() (at, n int)) func() []byte {
	return func() []byte {
		var b []byte
		for len(b) < length {
			at, n := cut()
			piece := genome[at : at+n]
			if r.below(2) == 0 {
				turned := make([]byte, n)
				reverseComplement(turned, piece)
				piece = turned
			}
			b = append(b, piece...)
		}
		return b[:length]
	}
}

// always makes equal reads.
func always(b []byte) func() []byte { return func() []byte { return b } }

var hard = []hardReads{
	{"random", func(r *random, _, length int) func() []byte {
		return func() []byte { return letters(r, length, anyBase) }
	}},
	// barcode and guide libraries: 24 bases in the middle are those of all reads
	{"shared24", func(r *random, _, length int) func() []byte {
		return func() []byte {
			b := letters(r, length, "CGT")
			copy(b[(length-24)/2:], "AACAACAACAGGTACGATTACGCC")
			return b
		}
	}},
	{"prefix50", func(r *random, _, length int) func() []byte {
		p := letters(r, min(50, length), anyBase)
		return func() []byte { return append(slices.Clone(p), letters(r, length-len(p), anyBase)...) }
	}},
	{"suffix50", func(r *random, _, length int) func() []byte {
		s := letters(r, min(50, length), anyBase)
		return func() []byte { return append(letters(r, length-len(s), anyBase), s...) }
	}},
	// random bases, each repeated 1 to 8 times
	{"stutter", func(r *random, _, length int) func() []byte {
		return func() []byte {
			b := make([]byte, 0, length+8)
			for len(b) < length {
				c := anyBase[r.below(4)]
				for range 1 + r.below(8) {
					b = append(b, c)
				}
			}
			return b[:length]
		}
	}},
	// two halves, each from anywhere in a genome of two bases a read
	{"chimera", func(r *random, reads, length int) func() []byte {
		half := (length + 1) / 2
		g := letters(r, max(2*reads, 2*length), anyBase)
		return glued(r, length, g, func() (int, int) { return int(r.below(uint64(len(g) - half))), half })
	}},
	// pieces of 20 to 80 bases of fifty repeats of 300
	{"repeats", func(r *random, _, length int) func() []byte {
		g := letters(r, 50*300, anyBase)
		return glued(r, length, g, func() (int, int) {
			n := 20 + int(r.below(61))
			return 300*int(r.below(50)) + int(r.below(uint64(301-n))), n
		})
	}},
	// a unit of 1 to 12 bases, again and again
	{"tandem", func(r *random, _, length int) func() []byte {
		return func() []byte {
			unit := letters(r, 1+int(r.below(12)), anyBase)
			b := make([]byte, 0, length+12)
			for len(b) < length {
				b = append(b, unit...)
			}
			return b[:length]
		}
	}},
	// units of 1 to 6 bases, 10 to 59 times each, one after another
	{"microsatellites", func(r *random, _, length int) func() []byte {
		return func() []byte {
			b := make([]byte, 0, length+360)
			for len(b) < length {
				unit := letters(r, 1+int(r.below(6)), anyBase)
				for range 10 + r.below(50) {
					b = append(b, unit...)
				}
			}
			return b[:length]
		}
	}},
	{"identical", func(r *random, _, length int) func() []byte { return always(letters(r, length, anyBase)) }},
	{"polyA", func(r *random, _, length int) func() []byte { return always(letters(r, length, "A")) }},
	{"allN", func(r *random, _, length int) func() []byte { return always(letters(r, length, "N")) }},
	// two reads in turns
	{"alternating", func(r *random, _, length int) func() []byte {
		x, y := letters(r, length, anyBase), letters(r, length, anyBase)
		return func() []byte {
			x, y = y, x
			return x
		}
	}},
	// every third base is N
	{"thirdN", func(r *random, _, length int) func() []byte {
		return func() []byte {
			b := letters(r, length, anyBase)
			for i := 0; i < length; i += 3 {
				b[i] = 'N'
			}
			return b
		}
	}},
}

// Shapes returns the names of the kinds of reads that Shape makes.
func Shapes() []string {
	var names []string
	for _, s := range hard {
		names = append(names, s.name)
	}
	return names
}

// Shape returns a function that makes one read after another, at most `reads` of them, of `length`
// bases each, of a kind that is hard to lay out. A read must not be changed, and may change when
// the next is made. Shape panics if there is no such kind.
func Shape(name string, reads, length int, seed uint64) func() []byte {
	for i, s := range hard {
		if s.name == name {
			r := stream(seed, 1<<32, uint64(i))
			return s.make(&r, reads, length)
		}
	}
	panic("sim: no shape " + name)
}

// WriteShape writes reads of a kind as FASTQ, with the same quality for all bases.
func WriteShape(w io.Writer, name string, reads, length int, seed uint64) error {
	quals := bytes.Repeat([]byte{'F'}, length)
	next := Shape(name, reads, length, seed)
	b := bufio.NewWriterSize(w, 1<<18)
	for i := range reads {
		if _, err := fmt.Fprintf(b, "@S.%d\n%s\n+\n%s\n", i, next(), quals); err != nil {
			return err
		}
	}
	return b.Flush()
}
