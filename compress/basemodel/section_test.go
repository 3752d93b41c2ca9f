package basemodel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand"
	"sync/atomic"
	"testing"

	"orcomgo/bases"
	"orcomgo/compress/rangecoder"
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

// decoded returns the bases of a section.
func decoded(t testing.TB, section []byte, threads int) []byte {
	t.Helper()
	s, err := Decode(section, Options{Threads: threads})
	if err == nil {
		err = s.Wait(s.Len())
	}
	if err == nil {
		_, err = s.Model()
	}
	if err != nil {
		t.Fatal(err)
	}
	return s.Append(nil, 0, s.Len())
}

// TestRoundTrip: bases come back, by one thread, by two and decoded while they are coded, and the bytes do not depend on that.
func TestRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 4, 5, 30, 1000, 300000, TwoCoders + 5} {
		b := repetitive(int64(n), n)
		var done atomic.Int64
		section := Encode(n, sourceOf(b), Options{Threads: 2, Progress: func(k int) { done.Add(int64(k)) }})
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
		if _, err := follower.Model(); err != nil || !bytes.Equal(follower.Append(nil, 0, n), b) {
			t.Fatalf("n=%d: decoded while it was coded: %v", n, err)
		}
		for threads := range 3 {
			if !bytes.Equal(decoded(t, section, threads+1), b) {
				t.Fatalf("n=%d: %d threads decode other bases", n, threads+1)
			}
		}
		if k, _, err := parseLen(section); k != n || err != nil {
			t.Errorf("n=%d: the section has %d bases, %v", n, k, err)
		}
		if n == 300000 && len(section)*8 > n*13/10 {
			t.Errorf("n=%d: %d bytes: repeats were not found", n, len(section))
		}
	}
}

// TestModelsAgree: the models of coding, of coding with verification, and of decoding code other bases alike, whether one coder or two
// coded the segment.
func TestModelsAgree(t *testing.T) {
	for _, n := range []int{0, 5000, TwoCoders + 77} {
		b := repetitive(int64(n+1), n)
		again := append(randomBases(rand.New(rand.NewSource(18)), 300), b[n/2:min(n/2+1000, n)]...)
		var follower *Sequence
		section, model := encoded(b, Options{Threads: 2, Follow: func(s *Sequence) { follower = s }})
		want := codeAll(model.Clone(len(again)), again)
		s, err := Decode(section, Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range []*Sequence{follower, s} {
			m, err := s.Model()
			if err != nil {
				t.Fatal(err)
			}
			if got := codeAll(m.Clone(len(again)), again); !bytes.Equal(got, want) {
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
		bases.Pack(clearOf(packed), b)
		if !bases.Equal(packed, 0, s.Packed(), 0, s.Len()) {
			t.Errorf("the sequence is said to be another one")
		}
		if _, m := encoded(other, Options{Threads: 1}); m.Equal(model) {
			t.Errorf("base %d differs, and the models are said to be equal", at)
		}
	}
	for name, change := range map[string]func(m *Model){
		"a weight":            func(m *Model) { m.mix.weights[1][0][0]++ },
		"the last base":       func(m *Model) { m.h ^= 1 },
		"a place of a k-mer":  func(m *Model) { m.match.slots[77] ^= 2 },
		"where the match is":  func(m *Model) { m.match.at++ },
		"a k-mer not read":    func(m *Model) { m.match.pending[1].slot++ },
		"an earlier base":     func(m *Model) { m.hist.words[3] ^= 1 },
		"a counter of a node": func(m *Model) { m.mix.nodes[nodes9+5][1] ^= 1 },
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

// clearOf returns b, cleared.
func clearOf(b []byte) []byte {
	clear(b)
	return b
}

// TestSegments: segments and chunks hold each base once, in order, and are not longer than they may be.
func TestSegments(t *testing.T) {
	coders := func(n, segments int) int {
		switch {
		case n < TwoCoders:
			return 1
		case n < 2*TwoCoders || segments > 1:
			return 2
		}
		return 4
	}
	for _, n := range []int{0, 1, segmentBases - 1, segmentBases, segmentBases + 1, 2 * segmentBases, 5*segmentBases + 3, MaxBases} {
		at, all := 0, cutSegments(n, (&Options{}).mostCoders(n), 0)
		for k, s := range all {
			if s.from != at || s.from%4 != 0 || s.n > segmentBases || s.n < n/len(all)-4*len(all) || s.coders != coders(s.n, len(all)) {
				t.Fatalf("n=%d: segment %d of %d is %+v, after %d bases", n, k, len(all), s, at)
			}
			at += s.n
		}
		if at != n {
			t.Fatalf("n=%d: segments end at %d", n, at)
		}
	}
	for _, n := range []int{0, 1, chunkBases, chunkBases + 1, TwoCoders - 1, TwoCoders, TwoCoders + 1,
		TwoCoders + chunkBases + 3, 2 * TwoCoders, 2*TwoCoders + 1, 2*TwoCoders + chunkBases + 3} {
		s := cutSegments(n, 4, 0)[0]
		for at := 0; at < n; {
			r := s.next(at)
			if r.from != at || at%4 != 0 || r.to > n {
				t.Fatalf("n=%d: round %+v of %d coders after %d", n, r, s.coders, at)
			}
			for coder := range s.coders {
				from, to := r.chunk(coder)
				if from != at || to < from || to-from > chunkBases {
					t.Fatalf("n=%d: coder %d of %d has bases %d to %d of %+v, after %d", n, coder, s.coders, from, to, r, at)
				}
				at = to
			}
			if at != r.to || at == r.from {
				t.Fatalf("n=%d: round %+v of %d coders ends at %d", n, r, s.coders, at)
			}
		}
	}
}

// TestSegmentsAreCodedApart codes two segments: bases come back over the boundary, whatever waits for how many of them, decoded from the
// section or while it is coded.
func TestSegmentsAreCodedApart(t *testing.T) {
	testrun.OnlyLong(t)
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
	again, err := Decode(section, Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	boundary := cutSegments(n, 2, 0)[0].n
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
	// A length that reaches beyond the streams is found however the section is damaged.
	if _, err := Decode(section[:20], Options{Threads: 2}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a section of 20 bytes: %v", err)
	}
}

// TestEqualBases: however often one base follows, a section is not too short for what it says that it holds.
func TestEqualBases(t *testing.T) {
	for _, n := range []int{100, 10_000, 30_000, 1_000_000} {
		for v := range byte(4) {
			b := bytes.Repeat([]byte{v}, n)
			if got := decoded(t, Encode(n, sourceOf(b), Options{Threads: 1}), 1); !bytes.Equal(got, b) {
				t.Errorf("%d bases %d: others are decoded", n, v)
			}
		}
	}
}

// TestDamagedSections: lengths that cannot be right are refused at once, bytes that are left over at the end; each error has its class and
// its cause.
func TestDamagedSections(t *testing.T) {
	b := repetitive(21, TwoCoders+10)
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
		{"no number of coders", long[:3]},
		{"three coders", append(append(bytes.Clone(long[:3]), 3), long[4:]...)},
		{"no length of the first stream", long[:4]},
		{"a first stream longer than the section", long[:len(long)/4]},
	} {
		if _, err := Decode(c.section, Options{Threads: 2}); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, c := range []struct {
		name    string
		section []byte
	}{
		{"bytes are left", append(bytes.Clone(short), make([]byte, 30)...)},
		{"bytes of the second stream are left", append(bytes.Clone(long), make([]byte, 30)...)},
	} {
		for _, threads := range []int{1, 2} {
			s, err := Decode(c.section, Options{Threads: threads})
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if _, err := s.Model(); !errors.Is(err, ErrCorrupt) || !errors.Is(err, rangecoder.ErrCorrupt) {
				t.Errorf("%s: %v", c.name, err)
			}
			if err := s.Wait(s.Len()); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: Wait returns %v", c.name, err)
			}
		}
	}
	if _, _, err := parseLen([]byte{0x80}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("the length of half a number: %v", err)
	}
}

// TestFollow: a sequence is decoded from whatever part of its stream is there, byte by byte as well.
func TestFollow(t *testing.T) {
	for _, n := range []int{0, 3, 3000} {
		b := repetitive(22, n)
		section := Encode(n, sourceOf(b), Options{Threads: 1})
		_, size := binary.Uvarint(section)
		data := section[size+1:]
		c := make(chan []byte, 1)
		s := newSequence(n, cutSegments(n, 4, 0))
		go s.decode([]*stream{{written: c}}, 1)
		for k := range data {
			c <- data[:k:k]
		}
		c <- data
		close(c)
		if _, err := s.Model(); err != nil || !bytes.Equal(s.Append(nil, 0, n), b) {
			t.Errorf("n=%d: decoded byte by byte: %v", n, err)
		}
	}
}

// FuzzDecode: whatever a section is, decoding it ends, with an error or the number of bases it says.
func FuzzDecode(f *testing.F) {
	b := repetitive(23, 400)
	section := Encode(len(b), sourceOf(b), Options{Threads: 1})
	f.Add(section)
	f.Add(section[:len(section)/2])
	f.Add([]byte{0})
	f.Add([]byte{0xff, 0x03, 0x00})
	f.Fuzz(func(t *testing.T, section []byte) {
		n, _, err := parseLen(section)
		if err == nil && n > 1<<16 {
			return
		}
		s, lenErr := Decode(section, Options{Threads: 1})
		if err != nil && lenErr == nil {
			t.Fatal("a section without a length is decoded")
		}
		if lenErr != nil {
			return
		}
		if _, err := s.Model(); err == nil && len(s.Append(nil, 0, n)) != n {
			t.Fatal("wrong number of bases")
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

// TestFewerCoders: a segment has as many coders as it is encoded with, up to those that it is long enough for.
func TestFewerCoders(t *testing.T) {
	b := repetitive(6, 4000)
	for _, coders := range []int{1, 2, 4} {
		s, err := Decode(Encode(len(b), sourceOf(b), Options{Threads: 4, Coders: coders, twoCoders: 1000}), Options{Threads: 4, twoCoders: 1000})
		if err == nil {
			err = s.Wait(len(b))
		}
		if err != nil || s.Coders() != coders || !bytes.Equal(s.Append(nil, 0, len(b)), b) {
			t.Errorf("%d coders: %d decode, error %v", coders, s.Coders(), err)
		}
	}
}

// TestTwoCoders: segments have two coders from the given length on, and are decoded with the same length only.
func TestTwoCoders(t *testing.T) {
	const n = 20000
	b := repetitive(5, n)
	sections := make(map[int][]byte)
	for _, least := range []int{n, n + 1} {
		sections[least] = Encode(n, sourceOf(b), Options{twoCoders: least, Threads: 2})
		if got, want := codersOf(cutSegments(n, 4, least)), 2-(least-n); got != want {
			t.Errorf("two coders from %d on: %d coders of %d bases", least, got, n)
		}
	}
	if bytes.Equal(sections[n], sections[n+1]) {
		t.Error("one coder and two coders wrote the same")
	}
	for least, section := range sections {
		s, err := Decode(section, Options{Threads: 2, twoCoders: least})
		if err == nil {
			err = s.Wait(n)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Append(nil, 0, n); !bytes.Equal(got, b) {
			t.Errorf("two coders from %d on: other bases", least)
		}
	}
}
