package basemodel

import (
	"bytes"
	"math/rand"
	"testing"

	"orcomgo/compress/rangecoder"
)

// TestEncodeInParts: bases give the stream, and leave the model, that they give one after another, however they are divided, with and
// without qualities, also after bases of another coder. Decoding them leaves the model, too.
func TestEncodeInParts(t *testing.T) {
	bases, peer := repetitive(30, 9000), repetitive(31, 2001)
	quals := make([]byte, len(bases))
	single, parts, decoder := newModel(20000).Clone(20000), newModel(20000).Clone(20000), newModel(20000).Clone(20000)
	one, all := rangecoder.NewEncoder(nil), rangecoder.NewEncoder(nil)
	r := rand.New(rand.NewSource(32))
	for i := range quals {
		quals[i] = byte(33 + r.Intn(42))
	}
	var sizes []int
	qualsOf := func(at, n, part int) []byte {
		if part%2 == 0 {
			return nil
		}
		return quals[at:][:n]
	}
	move := func(m *Model, at, n int) {
		if at < 4000 && at+n >= 4000 {
			m.appendPeer(m.at, peer)
			m.moveTo(m.at+len(peer), at%2 == 0)
		}
	}
	for at := 0; at < len(bases); {
		n := min(r.Intn(3*blockBases), len(bases)-at)
		q := qualsOf(at, n, len(sizes))
		for i := range n {
			if q == nil {
				single.Encode(one, bases[at+i:][:1], nil)
			} else {
				single.Encode(one, bases[at+i:][:1], q[i:][:1])
			}
		}
		parts.Encode(all, bases[at:at+n], q)
		if !parts.Equal(single) {
			t.Fatalf("after bases %d to %d the models differ", at, at+n-1)
		}
		move(single, at, n)
		move(parts, at, n)
		at, sizes = at+n, append(sizes, n)
	}
	stream := one.Finish()
	if !bytes.Equal(stream, all.Finish()) {
		t.Fatal("the streams differ")
	}
	d, at := rangecoder.NewDecoder(stream), 0
	for part, n := range sizes {
		got := make([]byte, n)
		if decoder.Decode(d, got, qualsOf(at, n, part)); !bytes.Equal(got, bases[at:at+n]) {
			t.Fatalf("other bases are decoded of %d to %d", at, at+n-1)
		}
		move(decoder, at, n)
		at += n
	}
	if !decoder.Equal(single) {
		t.Error("decoding leaves another model")
	}
}

// TestEncodeAfterGrowth: so do bases after those of a model whose table has grown. Until new k-mers are looked up, a match may then begin
// at a place to come, and most likely does so in runs of A, whose k-mer has the first slot.
func TestEncodeAfterGrowth(t *testing.T) {
	for seed := range int64(60) {
		r := rand.New(rand.NewSource(seed))
		first, next := repetitive(seed, 200+r.Intn(2000)), repetitive(seed+100, 600)
		clear(first[len(first)-r.Intn(60):])
		clear(next[:r.Intn(60)])
		m := newModel(len(first))
		codeAll(m, first)
		single, parts := m.Clone(20000), m.Clone(20000)
		one := rangecoder.NewEncoder(nil)
		for i := range next {
			single.Encode(one, next[i:][:1], nil)
		}
		stream := one.Finish()
		if !bytes.Equal(stream, codeAll(parts, next)) || !parts.Equal(single) {
			t.Errorf("seed %d: the streams or models differ", seed)
		}
		if !bytes.Equal(decodeAll(t, m.Clone(20000), stream, len(next)), next) {
			t.Errorf("seed %d: other bases are decoded", seed)
		}
	}
}
