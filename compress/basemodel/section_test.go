package basemodel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"sync/atomic"
	"testing"

	"orcomgo/bases"
	"orcomgo/internal/testrun"
)

func sourceOf(b []byte) Source {
	return func(dst []byte, pos, n int) []byte { return append(dst, b[pos:pos+n]...) }
}

// encoded returns the section of bases, and the model that they leave.
func encoded(b []byte, o Options) (section []byte, model *Model) {
	o.Model = func(m *Model) { model = m }
	return Encode(len(b), sourceOf(b), o), model
}

// tryDecode decodes a section.
func tryDecode(section []byte, threads int) (b []byte, m *Model, err error) {
	s, err := Decode(section, Options{Threads: threads})
	if err != nil {
		return nil, nil, err
	}
	if m, err = s.Model(); err != nil {
		return nil, nil, err
	}
	return s.Append(nil, 0, s.Len()), m, s.Wait(s.Len())
}

// decoded returns the bases of a section.
func decoded(t testing.TB, section []byte, threads int) []byte {
	t.Helper()
	b, _, err := tryDecode(section, threads)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// lengths are those of sequences in one lane and in several, and in blocks.
func lengths() []int {
	all := []int{0, 1, 2, 3, 4, 5, 15, 16, 17, 30, 1000}
	for _, border := range []int{laneBases, 2 * laneBases, 3 * laneBases, 15 * laneBases, blockBases} {
		all = append(all, border-1, border, border+1)
	}
	all = append(all, blockBases+laneBases*5/2, 2*blockBases+1)
	if !testrun.Short() {
		all = append(all, 2*blockBases-1, 2*blockBases, 2*blockBases+7*laneBases)
	}
	return all
}

// TestRoundTrip: bases come back, by one thread, by two and decoded while they are coded, and the bytes do not depend on that. All models
// that they leave are equal.
func TestRoundTrip(t *testing.T) {
	for _, n := range lengths() {
		b := repetitive(int64(n), n)
		var done, decodedBases atomic.Int64
		section, model := encoded(b, Options{Threads: 2, Progress: func(k int) { done.Add(int64(k)) }})
		if got := done.Load(); got != int64(n) {
			t.Errorf("n=%d: the progress is of %d bases", n, got)
		}
		if one := Encode(n, sourceOf(b), Options{Threads: 1}); !bytes.Equal(one, section) {
			t.Fatalf("n=%d: one thread codes differently from two", n)
		}
		var follower *Sequence
		verified := Encode(n, sourceOf(b), Options{Threads: 1, Follow: func(s *Sequence) { follower = s }})
		if !bytes.Equal(verified, section) {
			t.Fatalf("n=%d: coded differently when it is verified", n)
		}
		if m, err := follower.Model(); err != nil || !bytes.Equal(follower.Append(nil, 0, n), b) || !m.Equal(model) {
			t.Fatalf("n=%d: decoded while it was coded: other bases or another model (error %v)", n, err)
		}
		for threads := range 3 {
			got, m, err := tryDecode(section, threads+1)
			if err != nil || !bytes.Equal(got, b) {
				t.Fatalf("n=%d: %d threads decode other bases (error %v)", n, threads+1, err)
			}
			if !m.Equal(model) || !model.Equal(m) {
				t.Fatalf("n=%d: %d threads leave another model", n, threads+1)
			}
		}
		s, err := Decode(section, Options{Threads: 1, Progress: func(k int) { decodedBases.Add(int64(k)) }})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Model(); err != nil || s.Len() != n || s.Segments() != 1 || decodedBases.Load() != int64(n) {
			t.Errorf("n=%d: %d bases, %d segments, a progress of %d bases, error %v", n, s.Len(), s.Segments(), decodedBases.Load(), err)
		}
		if n > blockBases && len(section)*8 > n*13/10 {
			t.Errorf("n=%d: %d bytes: repeats were not found", n, len(section))
		}
	}
}

// TestRandomLengths: bases come back for lengths that are no multiples of anything.
func TestRandomLengths(t *testing.T) {
	r := rand.New(rand.NewSource(45))
	for range testrun.Pick(20, 100, 1000) {
		n := r.Intn(1 << r.Intn(20))
		b := repetitive(int64(n), n)
		if got := decoded(t, Encode(n, sourceOf(b), Options{Threads: 1}), 1); !bytes.Equal(got, b) {
			t.Fatalf("%d bases: others are decoded", n)
		}
	}
}

// TestModelsAgree: the models of coding, of coding with verification, and of decoding code other bases alike.
func TestModelsAgree(t *testing.T) {
	for _, n := range []int{0, 5000, 3*laneBases + 77, blockBases + 77} {
		b := repetitive(int64(n+1), n)
		again := append(randomBases(rand.New(rand.NewSource(18)), 300), b[n/2:min(n/2+1000, n)]...)
		var follower *Sequence
		section, model := encoded(b, Options{Threads: 2, Follow: func(s *Sequence) { follower = s }})
		want := coded(model, again)
		s, err := Decode(section, Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range []*Sequence{follower, s} {
			m, err := s.Model()
			if err != nil {
				t.Fatal(err)
			}
			if got := coded(m, again); !bytes.Equal(got, want) {
				t.Errorf("n=%d, sequence %d: its model codes differently", n, i)
			}
			if !m.Equal(model) || !model.Equal(m) {
				t.Errorf("n=%d, sequence %d: its model is not that of coding", n, i)
			}
		}
	}
}

// TestModelsDiffer: models are not equal if one has learnt another base, and a sequence is not another one.
func TestModelsDiffer(t *testing.T) {
	const n = 3000
	b := repetitive(20, n)
	section, model := encoded(b, Options{Threads: 1})
	for _, at := range []int{0, 1, 27, 28, n - 29, n - 1} {
		other := bytes.Clone(b)
		other[at] ^= 2
		packed := make([]byte, bases.PackedLen(n)+bases.Pad)
		bases.Pack(packed, other)
		s, err := Decode(section, Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Model(); err != nil {
			t.Fatal(err)
		}
		if bases.Equal(packed, 0, s.Packed(), 0, s.Len()) {
			t.Errorf("base %d differs, and the sequence is said to be the same", at)
		}
		clear(packed)
		bases.Pack(packed, b)
		if !bases.Equal(packed, 0, s.Packed(), 0, s.Len()) {
			t.Errorf("the sequence is said to be another one")
		}
		if _, m := encoded(other, Options{Threads: 1}); m.Equal(model) {
			t.Errorf("base %d differs, and the models are said to be equal", at)
		}
	}
	for name, change := range map[string]func(m *Model){
		"a weight":           func(m *Model) { m.weights[1][0][0]++ },
		"a place of a k-mer": func(m *Model) { m.slots[77] ^= 2 },
		"an earlier base":    func(m *Model) { m.hist.words[3] ^= 1 },
		"a logit":            func(m *Model) { m.nodes[nodes8+5][1] ^= 1 },
		"a rate":             func(m *Model) { m.nodes[nodesJoint+5][3] ^= 1 },
		"how many bases":     func(m *Model) { m.learnt++ },
	} {
		_, m := encoded(b, Options{Threads: 1})
		if !m.Equal(model) {
			t.Fatal("two models of the same bases differ")
		}
		if change(m); m.Equal(model) {
			t.Errorf("%s differs, and the models are said to be equal", name)
		}
	}
}

// TestSegments: segments hold each base once, in order, and are not longer than they may be.
func TestSegments(t *testing.T) {
	for _, n := range []int{0, 1, segmentBases - 1, segmentBases, segmentBases + 1, 2 * segmentBases, 5*segmentBases + 3, MaxBases} {
		at, all := 0, cutSegments(n)
		if len(all) != Segments(n) {
			t.Errorf("n=%d: %d segments, and %d are announced", n, len(all), Segments(n))
		}
		for k, s := range all {
			if s.from != at || s.from%4 != 0 || s.n > segmentBases || s.n < n/len(all)-4*len(all) || s.n == 0 && n > 0 {
				t.Fatalf("n=%d: segment %d of %d is %+v, after %d bases", n, k, len(all), s, at)
			}
			at += s.n
		}
		if at != n {
			t.Fatalf("n=%d: segments end at %d", n, at)
		}
	}
}

// TestLanes: a block has a lane for each laneBases of its bases, one if it has fewer, and at most numLanes.
func TestLanes(t *testing.T) {
	for _, c := range []struct{ n, lanes int }{
		{0, 1}, {1, 1}, {laneBases, 1}, {2*laneBases - 1, 1}, {2 * laneBases, 2}, {15*laneBases + 7, 15}, {16 * laneBases, 16}, {blockBases, 16},
	} {
		if got := lanesOf(c.n); got != c.lanes {
			t.Errorf("%d bases have %d lanes, want %d", c.n, got, c.lanes)
		}
	}
}

// TestSegmentsAreCodedApart codes two segments: bases come back over the boundary, whatever waits for how many of them, decoded from the
// section or while it is coded.
func TestSegmentsAreCodedApart(t *testing.T) {
	testrun.NotShort(t)
	const n = segmentBases + 1001
	cycle := randomBases(rand.New(rand.NewSource(19)), 1009)
	source := func(dst []byte, pos, n int) []byte {
		for i := pos; i < pos+n; i++ {
			dst = append(dst, cycle[i%len(cycle)])
		}
		return dst
	}
	var follower *Sequence
	section := Encode(n, source, Options{Threads: 2, Follow: func(s *Sequence) { follower = s }})
	if one := Encode(n, source, Options{Threads: 1}); !bytes.Equal(one, section) {
		t.Error("one thread codes differently from two")
	}
	again, err := Decode(section, Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	boundary := cutSegments(n)[0].n
	for i, s := range []*Sequence{follower, again} {
		for _, at := range []int{0, 5000, boundary - 150, boundary, boundary + 1, n - 300} {
			if err := s.Wait(at + 300); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(s.Append(nil, at, 300), source(nil, at, 300)) {
				t.Fatalf("sequence %d: other bases are decoded from %d on", i, at)
			}
		}
		if _, err := s.Model(); err != nil {
			t.Fatal(err)
		}
	}
	// Sections of which the first stream has another length.
	_, k := binary.Uvarint(section)
	size, ends := binary.Uvarint(section[k:])
	for _, change := range []int{-2, -1, 1, 2} {
		damaged := append(binary.AppendUvarint(bytes.Clone(section[:k]), size+uint64(change)), section[k+ends:]...)
		if _, _, err := tryDecode(damaged, 2); !errors.Is(err, ErrCorrupt) {
			t.Errorf("a first stream that is %d bytes longer: %v", change, err)
		}
	}
	for name, damaged := range map[string][]byte{
		"no length of the first stream":            section[:k],
		"half a length of the first stream":        append(bytes.Clone(section[:k]), 0x80),
		"a first stream longer than the section":   section[:k+ends+int(size)-1],
		"only the streams' first bytes, 20 in all": section[:20],
	} {
		if _, err := Decode(damaged, Options{Threads: 2}); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEqualBases: however often one base follows, a section is not too short for what it says that it holds.
func TestEqualBases(t *testing.T) {
	for _, n := range []int{100, 10_000, 30_000, 1_000_000} {
		for v := range byte(4) {
			b := bytes.Repeat([]byte{v}, n)
			section := Encode(n, sourceOf(b), Options{Threads: 1})
			if got := decoded(t, section, 1); !bytes.Equal(got, b) {
				t.Errorf("%d bases %d: others are decoded", n, v)
			}
			if len(section) > 100+n/100 {
				t.Errorf("%d bases %d take %d bytes", n, v, len(section))
			}
		}
	}
}

// TestDamagedSections: lengths that cannot be right are refused at once, bytes that are left over and states that are too small at the end;
// each error has its class.
func TestDamagedSections(t *testing.T) {
	b := repetitive(21, 3*laneBases+10)
	long := Encode(len(b), sourceOf(b), Options{Threads: 2})
	short := Encode(1000, sourceOf(b), Options{Threads: 1})
	for _, c := range []struct {
		name    string
		section []byte
	}{
		{"nothing", nil},
		{"half a number", []byte{0x80}},
		{"more bases than there may be", append(binary.AppendUvarint(nil, MaxBases+1), make([]byte, 4<<20)...)},
		{"more bases than the bytes can hold", binary.AppendUvarint(nil, 1<<20)},
		{"bytes are left after no bases", []byte{0, 0}},
	} {
		if _, err := Decode(c.section, Options{Threads: 2}); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	_, k := binary.Uvarint(long)
	state := bytes.Clone(long)
	clear(state[k+4+2:][:2]) // the high half of the second one
	for _, c := range []struct {
		name    string
		section []byte
	}{
		{"bytes are left", append(bytes.Clone(short), make([]byte, 30)...)},
		{"a byte is left", append(bytes.Clone(short), 0)},
		{"bytes are left after a block of lanes", append(bytes.Clone(long), make([]byte, 30)...)},
		{"half of the states", long[:k+6]},
		{"no words", long[:k+12]},
		{"half of the words", long[:len(long)/2]},
		{"a state that is too small", state},
	} {
		for _, threads := range []int{1, 2} {
			s, err := Decode(c.section, Options{Threads: threads})
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if _, err := s.Model(); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: %v", c.name, err)
			}
			if err := s.Wait(s.Len()); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: Wait returns %v", c.name, err)
			}
		}
	}
}

// checkDamaged decodes a section that was changed. What is decoded without an error, if anything is, is what other bases are coded as.
func checkDamaged(section, damaged []byte, b []byte) error {
	got, _, err := tryDecode(damaged, 1)
	switch {
	case err != nil && !errors.Is(err, ErrCorrupt):
		return err
	case err == nil && bytes.Equal(got, b) && !bytes.Equal(section, damaged):
		return errors.New("the bases come back")
	case err == nil && !bytes.Equal(Encode(len(got), sourceOf(got), Options{Threads: 1}), damaged):
		return fmt.Errorf("%d bases are decoded, and coded differently", len(got))
	}
	return nil
}

// TestCutSections: a section of which the end is missing gives an error, or other bases.
func TestCutSections(t *testing.T) {
	for _, n := range []int{1, 7, 200, 2*laneBases + 1, 16 * laneBases} {
		b := repetitive(int64(24+n), n)
		section := Encode(n, sourceOf(b), Options{Threads: 1})
		for k := 0; k < len(section); k += 1 + len(section)/testrun.Pick(40, 150, 1000) {
			if err := checkDamaged(section, section[:k], b); err != nil {
				t.Errorf("%d bases, %d of %d bytes: %v", n, k, len(section), err)
			}
		}
	}
}

// TestFlippedBits: a section of which bits are changed gives an error, or other bases.
func TestFlippedBits(t *testing.T) {
	r := rand.New(rand.NewSource(46))
	for _, n := range []int{1, 7, 60, 300, 2*laneBases + 1, 16 * laneBases} {
		b := repetitive(int64(25+n), n)
		section := Encode(n, sourceOf(b), Options{Threads: 1})
		for range testrun.Pick(30, 100, 2000) {
			damaged := bytes.Clone(section)
			for range 1 + r.Intn(3) {
				i := r.Intn(len(damaged))
				if r.Intn(2) == 0 {
					i = r.Intn(min(20, len(damaged)))
				}
				damaged[i] ^= 1 << r.Intn(8)
			}
			if err := checkDamaged(section, damaged, b); err != nil {
				t.Errorf("%d bases, %x instead of %x: %v", n, damaged[:min(20, len(damaged))], section[:min(20, len(section))], err)
			}
		}
	}
}

// TestFollow: a sequence that is decoded while it is coded has the bases of each block when the block is coded.
func TestFollow(t *testing.T) {
	const n = 2*blockBases + 3000
	b := repetitive(22, n)
	var follower *Sequence
	source := func(dst []byte, pos, n int) []byte {
		if pos > 0 {
			if err := follower.Wait(pos - 4*bases.Pad); err != nil {
				t.Error(err)
			}
			if at := pos - 4*bases.Pad - 1000; !bytes.Equal(follower.Append(nil, at, 1000), b[at:][:1000]) {
				t.Errorf("other bases are decoded before base %d", pos)
			}
		}
		return append(dst, b[pos:pos+n]...)
	}
	section := Encode(n, source, Options{Threads: 1, Follow: func(s *Sequence) { follower = s }})
	if _, err := follower.Model(); err != nil || !bytes.Equal(follower.Append(nil, 0, n), b) {
		t.Errorf("other bases are decoded, error %v", err)
	}
	if !bytes.Equal(decoded(t, section, 1), b) {
		t.Error("the section has other bases")
	}
}

// FuzzDecode: whatever a section is, decoding it ends, with an error or the number of bases it says. These are coded as the section then.
func FuzzDecode(f *testing.F) {
	for _, n := range []int{1, 400, 2 * laneBases} {
		b := repetitive(23, n)
		section := Encode(len(b), sourceOf(b), Options{Threads: 1})
		f.Add(section)
		f.Add(section[:len(section)/2])
	}
	f.Add([]byte{0})
	f.Add([]byte{0xff, 0x03, 0x00})
	f.Fuzz(func(t *testing.T, section []byte) {
		n, k := binary.Uvarint(section)
		if n > 1<<17 {
			return
		}
		b, _, err := tryDecode(section, 1)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		if k <= 0 || len(b) != int(n) {
			t.Fatalf("%d bases are decoded, want %d", len(b), n)
		}
		if again := Encode(len(b), sourceOf(b), Options{Threads: 1}); !bytes.HasSuffix(again, section[k:]) {
			t.Fatal("the bases are coded as something else")
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	bases := repetitive(1, 1<<20)
	b.SetBytes(int64(len(bases)))
	for b.Loop() {
		Encode(len(bases), sourceOf(bases), Options{Threads: 1})
	}
}

func BenchmarkDecode(b *testing.B) {
	bases := repetitive(1, 1<<20)
	section := Encode(len(bases), sourceOf(bases), Options{Threads: 1})
	b.SetBytes(int64(len(bases)))
	for b.Loop() {
		decoded(b, section, 1)
	}
}
