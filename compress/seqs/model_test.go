package seqs

import (
	"bytes"
	"math/rand"
	"testing"
)

// repetitive returns n bases of which about half repeat earlier ones, on either strand, with
// a difference now and then.
func repetitive(seed int64, n int) []byte {
	r := rand.New(rand.NewSource(seed))
	b := make([]byte, 0, n)
	for len(b) < n {
		k := min(20+r.Intn(300), n-len(b))
		if len(b) > 1000 && r.Intn(2) == 0 {
			at := r.Intn(len(b) - k + 1)
			s := bytes.Clone(b[at : at+k])
			if r.Intn(2) == 0 {
				reverse(s)
			}
			for i := range s {
				if r.Intn(50) == 0 {
					s[i] = byte(r.Intn(4))
				}
			}
			b = append(b, s...)
			continue
		}
		for range k {
			b = append(b, byte(r.Intn(4)))
		}
	}
	return b
}

func stretchOf(b []byte) func([]byte, int, int) []byte {
	return func(dst []byte, pos, n int) []byte { return append(dst, b[pos:pos+n]...) }
}

func TestPseudogenomeRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 2, 30, 1000, 300000, segmentBases/16 + 5} {
		b := repetitive(int64(n), n)
		data, _ := encodePseudogenome(n, 2, stretchOf(b), func(int) {}, nil)
		if one, _ := encodePseudogenome(n, 1, stretchOf(b), func(int) {}, nil); !bytes.Equal(one, data) {
			t.Fatalf("n=%d: one thread codes differently from two", n)
		}
		beside, follow := followed(n)
		if again, _ := encodePseudogenome(n, 1, stretchOf(b), func(int) {}, follow); !bytes.Equal(again, data) {
			t.Fatalf("n=%d: coded differently when followed", n)
		}
		if _, err := beside.all(); err != nil || !bytes.Equal(beside.stretch(nil, 0, beside.n), b) {
			t.Fatalf("n=%d: decoded beside its coding: %v", n, err)
		}
		got, err := decodePseudogenome(data, 2)
		if err == nil {
			_, err = got.all()
		}
		if err != nil || !bytes.Equal(got.stretch(nil, 0, n), b) {
			t.Fatalf("n=%d: %v", n, err)
		}
		if n == 300000 && len(data)*8 > n*13/10 {
			t.Errorf("n=%d: %d bytes: repeats were not found", n, len(data))
		}
	}
}

// TestModelKnowsItsBases: what a model has seen costs little to code again, either strand.
func TestModelKnowsItsBases(t *testing.T) {
	pg := make([]byte, 50000)
	r := rand.New(rand.NewSource(5))
	for i := range pg {
		pg[i] = byte(r.Intn(4))
	}
	again := bytes.Clone(pg[20000:22000])
	reverse(again)
	again = append(again, pg[3000:5000]...)
	section, known := encodePseudogenome(len(pg), 1, stretchOf(pg), func(int) {}, nil)
	c := encodeTo(nil)
	b := baseCoder{c: c, m: known.clone(len(again))}
	for _, v := range again {
		b.base(v)
	}
	data := c.e.Finish()
	if len(data)*8 > len(again)/4 {
		t.Fatalf("%d bytes for %d bases seen before", len(data), len(again))
	}
	decoded, err := decodePseudogenome(section, 1)
	if err == nil {
		known, err = decoded.all()
	}
	if err != nil {
		t.Fatal(err)
	}
	d := baseCoder{c: decodeFrom(data), m: known.clone(len(again))}
	for i, v := range again {
		if got := d.base(0); got != v {
			t.Fatalf("base %d is %d, want %d", i, got, v)
		}
	}
}

func BenchmarkEncodeBases(b *testing.B) {
	pg := repetitive(1, 1<<20)
	b.SetBytes(int64(len(pg)))
	for range b.N {
		encodePseudogenome(len(pg), 1, stretchOf(pg), func(int) {}, nil)
	}
}

func BenchmarkDecodeBases(b *testing.B) {
	pg := repetitive(1, 1<<20)
	data, _ := encodePseudogenome(len(pg), 1, stretchOf(pg), func(int) {}, nil)
	b.SetBytes(int64(len(pg)))
	for range b.N {
		p, err := decodePseudogenome(data, 1)
		if err == nil {
			_, err = p.all()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// TestVectorsEqualPlain: the vector instructions predict and learn bit for bit as plain Go does.
func TestVectorsEqualPlain(t *testing.T) {
	var fast, plain mixer
	fast.reset()
	plain.reset()
	r := rand.New(rand.NewSource(3))
	b, q, slot, word := uint32(0), otherStrand{node: [2]uint32{nodesAll, nodesAll + 1}}, uint32(0), uint64(0)
	for i := range 200000 {
		h := r.Uint32() & (1<<(8+2*uint(r.Intn(4))) - 1)
		match, both := uint32(r.Intn(matchNodes)), uint32(r.Intn(bothNodes))
		set, before := uint32(r.Intn(weightSets)), fast.set
		if i == 0 {
			fast.set, plain.set = set, set
			fast.predict(h, match, both)
			plain.predictPlain(h, match, both)
		} else {
			index := fast.index
			fast.advance(b, &q, set, h, match, both, &fast.nodes[0], &fast.nodes[1], &slot, &word)
			plain.learnPlain(b, &q)
			plain.set = set
			plain.predictPlain(h, match, both)
			if fast.weights[before] != plain.weights[before] {
				t.Fatalf("base %d: weights differ", i)
			}
			for _, n := range append(q.node[:], index[:]...) {
				if fast.nodes[n] != plain.nodes[n] {
					t.Fatalf("base %d: node %d is %v, plain Go %v", i, n, fast.nodes[n], plain.nodes[n])
				}
			}
		}
		if fast.p != plain.p || fast.x != plain.x || fast.index != plain.index {
			t.Fatalf("base %d: predicted %v, plain Go %v", i, fast.p, plain.p)
		}
		b = uint32(r.Intn(4)) & h >> 1
		q = otherStrand{node: [2]uint32{uint32(r.Intn(nodesMatch)), uint32(r.Intn(nodesMatch))}, base: [2]uint8{uint8(r.Intn(4)), uint8(r.Intn(4))}}
	}
}
