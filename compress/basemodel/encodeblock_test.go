package basemodel

import (
	"bytes"
	"math/rand"
	"testing"

	"orcomgo/compress/rangecoder"
)

// TestBlocksEqualSingleBases: bases encoded in blocks give the stream, and leave the model, that they give one after another, however they
// are divided, with and without qualities, also after bases of another coder.
func TestBlocksEqualSingleBases(t *testing.T) {
	bases, peer := repetitive(30, 9000), repetitive(31, 2001)
	quals := make([]byte, len(bases))
	single := newModel(20000).Clone(20000)
	blocks := newModel(20000).Clone(20000)
	one, all := rangecoder.NewEncoder(nil), rangecoder.NewEncoder(nil)
	r := rand.New(rand.NewSource(32))
	for i := range quals {
		quals[i] = byte(33 + r.Intn(42))
	}
	for at := 0; at < len(bases); {
		n := min(r.Intn(3*blockBases), len(bases)-at)
		q := quals[at : at+n]
		if r.Intn(2) == 0 {
			q = nil
		}
		for i, b := range bases[at : at+n] {
			if q != nil {
				single.SetQuality(q[i])
			}
			single.encode(one, b)
		}
		blocks.Encode(all, bases[at:at+n], q)
		if !blocks.Equal(single) {
			t.Fatalf("after bases %d to %d the models differ", at, at+n-1)
		}
		if at < 4000 && at+n >= 4000 {
			for _, m := range []*Model{single, blocks} {
				m.appendPeer(m.at, peer)
				m.moveTo(m.at, at%2 == 0)
			}
		}
		at += n
	}
	if !bytes.Equal(one.Finish(), all.Finish()) {
		t.Fatal("the streams differ")
	}
}

// TestBlocksAfterGrowth: so do bases after those of a model whose table has grown. Until new k-mers are looked up, a match may then begin
// at a place to come, and most likely does so in runs of A, whose k-mer has the first slot.
func TestBlocksAfterGrowth(t *testing.T) {
	for seed := range int64(60) {
		r := rand.New(rand.NewSource(seed))
		first, next := repetitive(seed, 200+r.Intn(2000)), repetitive(seed+100, 600)
		clear(first[len(first)-r.Intn(60):])
		clear(next[:r.Intn(60)])
		m := newModel(len(first))
		m.Encode(rangecoder.NewEncoder(nil), first, nil)
		single, blocks := m.Clone(20000), m.Clone(20000)
		one, all := rangecoder.NewEncoder(nil), rangecoder.NewEncoder(nil)
		for _, b := range next {
			single.encode(one, b)
		}
		blocks.Encode(all, next, nil)
		if !bytes.Equal(one.Finish(), all.Finish()) || !blocks.Equal(single) {
			t.Errorf("seed %d: the streams or models differ", seed)
		}
	}
}

// TestStepsEqualPlain: the vector instructions for many steps predict and learn bit for bit as plain Go does.
func TestStepsEqualPlain(t *testing.T) {
	var fast, plain mixer
	fast.init()
	plain.init()
	fast.predict(5, 6, 7)
	plain.predictPlain(5, 6, 7)
	r := rand.New(rand.NewSource(33))
	var x block
	var p [blockBases][4]uint32
	for range 300 {
		for i := range x.steps {
			x.steps[i] = blockStep{
				h: r.Uint32() & (1<<(8+2*uint(r.Intn(8))) - 1), match: uint32(r.Intn(matchNodes)), joint: uint32(r.Intn(jointNodes)),
				set: uint32(r.Intn(weightSets)), last: uint32(r.Intn(4)),
				strand: strandUpdate{
					node: [2]uint32{uint32(r.Intn(nodesMatch)), uint32(r.Intn(nodesMatch))},
					base: [2]uint8{uint8(r.Intn(4)), uint8(r.Intn(4))},
				},
			}
		}
		n := 1 + r.Intn(blockBases)
		fast.advanceAll(x.steps[:], n, x.p[:])
		plain.advanceAllPlain(x.steps[:n], p[:])
		if x.p != p || fast.prediction != plain.prediction || fast.set != plain.set {
			t.Fatalf("%d steps give other predictions than plain Go", n)
		}
	}
	for i := range fast.nodes {
		if fast.nodes[i] != plain.nodes[i] {
			t.Fatalf("node %d is %v, plain Go %v", i, fast.nodes[i], plain.nodes[i])
		}
	}
	for i := range fast.weights {
		if fast.weights[i] != plain.weights[i] {
			t.Fatalf("weights %d differ", i)
		}
	}
}
