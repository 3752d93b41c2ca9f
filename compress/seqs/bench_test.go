package seqs

import (
	"math/rand"
	"slices"
	"testing"

	"orcomgo/bins/record"
	rc "orcomgo/compress/rangecoder"
)

// benchReads returns a pseudogenome of 12,000,000 bases, packed, and the reads of a slice of 8,000 over it, with qualities that drift and
// the errors that these tell.
func benchReads() (packed []byte, reads []*overlay, words [][]uint64) {
	r := rand.New(rand.NewSource(150))
	pg := randomBases(r, 12_000_000)
	for range 8000 {
		const n = 100
		o := over(pg, r.Intn(len(pg)-n), n, r.Intn(2) == 1, 0)
		q := 38
		for i := range n {
			if r.Intn(3) == 0 {
				q = min(max(q+r.Intn(7)-3, 2), 40)
			}
			o.quals = append(o.quals, byte(33+q))
			if r.Uint32()>>12 < errorWeight[33+q] {
				o.read[i] = (o.read[i] + byte(1+r.Intn(3))) & 3
			}
		}
		reads, words = append(reads, o), append(words, o.words())
	}
	return packedBases(pg), reads, words
}

// BenchmarkMismatches codes and decodes the mismatches of a small slice, given qualities.
func BenchmarkMismatches(b *testing.B) {
	packed, reads, words := benchReads()
	text := make([]byte, 100)
	code := func(data []byte) []byte {
		c, m := encodeTo(nil), newMismatches(true, uint64(4*len(packed)))
		if data != nil {
			c = decodeFrom(data)
		}
		for i, o := range reads {
			ref := stretch{packed, int(o.w.pos)}
			if data != nil {
				m.code(c, o.w, ref, nil, text, nil, o.quals)
			} else {
				m.code(c, o.w, ref, words[i], nil, nil, o.quals)
			}
		}
		if data != nil {
			return nil
		}
		return c.Enc.Finish()
	}
	data := code(nil)
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			code(nil)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(reads)), "ns/read")
		b.ReportMetric(float64(len(data)), "bytes")
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			code(data)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(reads)), "ns/read")
	})
}

// BenchmarkPositions codes and decodes positions of reads that cover 12,000,000 bases evenly, in no order.
func BenchmarkPositions(b *testing.B) {
	r := rand.New(rand.NewSource(151))
	const n = 12_000_000
	pos := make([]uint32, n*11/12)
	for i := range pos {
		pos[i] = uint32(r.Intn(n))
	}
	tree, _ := treeOf(pos, n)
	rev := make([]bool, len(pos))
	for i := range rev {
		rev[i] = r.Intn(2) == 1
	}
	const count = 8000
	var data [100]streams
	encode := func(k int) {
		p := &places{pos[k*count:][:count], rev[k*count:][:count]}
		data[k].encodePlaces(newPlaceModel(tree, false), p, nil, record.Lengths{}, n, 0)
	}
	for k := range data {
		encode(k)
	}
	b.Run("encode", func(b *testing.B) {
		for k := 0; b.Loop(); k = (k + 1) % len(data) {
			encode(k)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*count), "ns/read")
	})
	b.Run("decode", func(b *testing.B) {
		p := newPlaces(count)
		for k := 0; b.Loop(); k = (k + 1) % len(data) {
			data[k].decodePlaces(newPlaceModel(tree, false), p, nil, record.Lengths{}, n)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*count), "ns/read")
	})
}

// BenchmarkSorted codes and decodes the places and mismatches of a slice that is sorted by place and has no qualities: 30x coverage with
// two errors in a thousand bases.
func BenchmarkSorted(b *testing.B) {
	const n, length, bases = 90_000, 100, 300_000
	r := rand.New(rand.NewSource(152))
	pg := randomBases(r, bases)
	packed := packedBases(pg)
	all := newPlaces(n)
	for i := range all.pos {
		all.pos[i] = uint32(r.Intn(bases - length))
		all.rev[i] = r.Intn(2) == 1
	}
	slices.Sort(all.pos)
	var words [][]uint64
	for i, pos := range all.pos {
		o := over(pg, int(pos), length, false, 0)
		for k := range o.read {
			if r.Intn(500) == 0 {
				o.read[k] = (o.read[k] + byte(1+r.Intn(3))) & 3
			}
		}
		words = append(words, o.words())
		all.rev[i] = all.rev[i] || i > 0 && all.pos[i-1] == pos && all.rev[i-1]
	}
	text := make([]byte, length)
	mismatches := func(c *rc.Coder) {
		m := newMismatches(false, bases)
		for i, pos := range all.pos {
			w, ref := alignment{uint64(pos), all.rev[i], length}, stretch{packed, int(pos)}
			if c.Decoding() {
				m.code(c, w, ref, nil, text, nil, nil)
			} else {
				m.code(c, w, ref, words[i], nil, nil, nil)
			}
		}
	}
	places := func(c *rc.Coder) { newPlaceModel(nil, true).code([]*rc.Coder{c}, all, nil, record.Lengths{}, bases) }
	for _, of := range []struct {
		name string
		code func(c *rc.Coder)
	}{{"places", places}, {"mismatches", mismatches}} {
		c := encodeTo(nil)
		of.code(c)
		data := c.Enc.Finish()
		b.Run(of.name+"/encode", func(b *testing.B) {
			for b.Loop() {
				of.code(encodeTo(nil))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/read")
			b.ReportMetric(float64(len(data)), "bytes")
		})
		b.Run(of.name+"/decode", func(b *testing.B) {
			for b.Loop() {
				of.code(decodeFrom(data))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/read")
		})
	}
}
