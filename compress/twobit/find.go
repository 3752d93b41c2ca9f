package twobit

import (
	"math/bits"

	"orcomgo/bases"
	"orcomgo/internal/largepages"
)

// How repeats are found.
const (
	k          = 24 // bases of a k-mer of the index
	sampleBits = 3  // one of 2^sampleBits k-mers is in the index
	leastCopy  = 36 // bases of a copy

	kmerMask   = 1<<(2*k) - 1
	searchStep = 8 << 10 // bases
)

// finder finds repeats in the n bases of p, which has bases.Pad bytes more.
type finder struct {
	p       []byte
	ops     []op
	done    int // bases described by ops
	index   []uint32
	shift   uint     // of a hash, to be an index of index
	samples []sample // memory
	touched uint32   // keeps the compiler from leaving out reads
}

// span is a range of bases.
type span struct{ start, end int }

// find returns the copies of the n bases of p. fills are ranges of As that are kindFill.
func find(p []byte, n int, fills []span) []op {
	size := bits.Len(uint(max(n>>sampleBits, 1<<8)))
	f := &finder{p: p, samples: make([]sample, 0, searchStep), index: largepages.Make[uint32](1 << size), shift: uint(64 - sampleBits - size)}
	from := 0
	for _, fill := range fills {
		f.search(from, fill.start)
		f.add(fill.start, op{kind: kindFill, length: fill.end - fill.start})
		from = fill.end
	}
	f.search(from, n)
	return f.ops
}

// add adds a copy to base `at`.
func (f *finder) add(at int, o op) {
	o.literals = at - f.done
	f.ops = append(f.ops, o)
	f.done = at + o.length
}

// sample is a k-mer that is looked up in the index.
type sample struct {
	forward, reverse uint64
	at               int // where it begins
	slot             uint64
}

// search finds the copies to bases from..to-1. Memory of the index is slow, so it is read for many k-mers at once.
func (f *finder) search(from, to int) {
	var forward, reverse uint64
	ready := from + k - 1
	for from < to {
		samples := f.samples[:0]
		stop := min(from+searchStep, to)
		for ; from < stop; from++ {
			b := uint64(f.p[from>>2]>>(from&3*2)) & 3
			forward = forward>>2 | b<<(2*(k-1))
			reverse = (reverse<<2 | 3 - b) & kmerMask
			h := min(forward, reverse) * 0x9e3779b97f4a7c15
			if h>>(64-sampleBits) == 0 && from >= ready {
				samples = append(samples, sample{forward, reverse, from - (k - 1), h >> f.shift})
			}
		}
		touched := uint32(0)
		for i := range samples {
			touched += f.index[samples[i].slot]
		}
		f.touched += touched
		for i := range samples {
			f.look(&samples[i], to)
		}
	}
}

// look adds the copy to a sample, if there is one, and notes it.
func (f *finder) look(x *sample, to int) {
	entry := &f.index[x.slot]
	if before := int(*entry) - 1; before >= 0 {
		w := bases.Word(f.p, before) & kmerMask
		if w == x.forward && x.at-before < leastDistance {
			return // the older place, of which a copy can be made, is kept
		}
		if x.at >= f.done {
			switch {
			case w == x.forward:
				f.forward(x.at, before, to)
			case w == x.reverse && before+k <= x.at:
				f.reverse(x.at, before+k, to)
			}
		}
	}
	if uint64(x.at) < 1<<32-1 {
		*entry = uint32(x.at + 1)
	}
}

// forward adds the copy of what is alike around base `at` and base `from`, which is before, if it is long enough.
func (f *finder) forward(at, from, to int) {
	back := f.backward(at, from, min(at-f.done, from))
	n := back + f.alike(at, from, to-at)
	if n < leastCopy {
		return
	}
	f.add(at-back, op{kind: kindForward, length: n, shift: at - from})
}

// reverse adds the copy of what is alike around base `at` and, on the other strand, the bases that end at `end`.
func (f *finder) reverse(at, end, to int) {
	back := 0 // bases before `at` that are alike those from `end` on
	for most := min(at-f.done, (at-end)/2); back < most && bases.At(f.p, at-back-1) == 3-bases.At(f.p, end+back); {
		back++
	}
	at, end = at-back, end+back
	n := f.alikeReverse(at, end, min(to-at, end))
	if n < leastCopy {
		return
	}
	f.add(at, op{kind: kindReverse, length: n, shift: at - end})
}

// alike returns how many bases are alike from bases a and b on, limit at most.
func (f *finder) alike(a, b, limit int) int {
	for n := 0; n < limit; n += bases.PerWord {
		if x := bases.Word(f.p, a+n) ^ bases.Word(f.p, b+n); x != 0 {
			return min(n+bits.TrailingZeros64(x)/2, limit)
		}
	}
	return limit
}

// backward returns how many bases before a and b are alike, limit at most.
func (f *finder) backward(a, b, limit int) (n int) {
	for ; n+bases.PerWord <= limit; n += bases.PerWord {
		if x := bases.Word(f.p, a-n-bases.PerWord) ^ bases.Word(f.p, b-n-bases.PerWord); x != 0 {
			return n + bits.LeadingZeros64(x)/2
		}
	}
	for n < limit && bases.At(f.p, a-n-1) == bases.At(f.p, b-n-1) {
		n++
	}
	return n
}

// alikeReverse returns how many bases from a on are alike those before b on the other strand, limit at most.
func (f *finder) alikeReverse(a, b, limit int) (n int) {
	for ; n+bases.PerWord <= limit; n += bases.PerWord {
		if x := bases.Word(f.p, a+n) ^ bases.ReverseComplement(bases.Word(f.p, b-n-bases.PerWord), bases.PerWord); x != 0 {
			return n + bits.TrailingZeros64(x)/2
		}
	}
	for n < limit && bases.At(f.p, a+n) == 3-bases.At(f.p, b-n-1) {
		n++
	}
	return n
}
