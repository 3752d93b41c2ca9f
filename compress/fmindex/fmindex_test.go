package fmindex

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// draw returns n bases.
func draw(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.IntN(4))
	}
	return b
}

// texts are texts of several shapes, by name.
func texts(r *rand.Rand) map[string][]byte {
	repeat := func(unit []byte, n int) []byte { return bytes.Repeat(unit, n/len(unit)+1)[:n] }
	fibonacci := []byte{0}
	for a := []byte{1}; len(fibonacci) < 3000; {
		a, fibonacci = fibonacci, append(append([]byte{}, fibonacci...), a...)
	}
	genome := draw(r, 4000)
	all := map[string][]byte{
		"none": {}, "one": {2}, "two": {3, 0}, "A": make([]byte, 2000), "T": repeat([]byte{3}, 193), "tandem": repeat(draw(r, 7), 5000),
		"Fibonacci": fibonacci, "twice": append(slices.Clone(genome), genome...), "random": draw(r, 70001),
		"chunks": append(draw(r, 100000), repeat(genome, 100000)...),
	}
	for _, n := range []int{63, 64, 65, 127, 191, 192, 193, 383, 384, 385} {
		all[fmt.Sprint(n)] = draw(r, n)
	}
	return all
}

// fileOf returns the index of a text, whose last bases are literals, as a file. A read of one base begins at each 5th place.
func fileOf(t testing.TB, text []byte, literals *Literals, threads int) []byte {
	t.Helper()
	if literals == nil {
		literals = new(Literals)
	}
	c := Content{Text: append(slices.Clone(text), literals.Bases...), Coverage: NewCoverage(len(text), Window), Literals: literals,
		Begins: NewBegins(len(text))}
	for range len(literals.ends) / 2 {
		var begins []uint32
		for at := 0; at < len(text); at += 5 {
			begins = append(begins, uint32(at))
		}
		c.Begins.AddSlice(begins, uint32(min(1, len(text))))
	}
	copy(c.Archive[:], "the archive's ID")
	built, err := Build(c, threads)
	if err != nil {
		t.Fatal(err)
	}
	return built.Bytes()
}

// indexOf is fileOf, read back.
func indexOf(t testing.TB, text []byte, literals *Literals, threads int) *Index {
	t.Helper()
	x, err := openFile(fileOf(t, text, literals, threads))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// openFile returns the index of a file, all of which is checked.
func openFile(file []byte) (*Index, error) {
	x, err := Open(file, bytes.NewReader(file), int64(len(file)))
	if err == nil {
		err = x.Check()
	}
	return x, err
}

// occurrences returns the places where a sequence occurs in a text with at most so many differences.
func occurrences(text, sequence []byte, most int) (places []int) {
	for at := 0; at+len(sequence) <= len(text); at++ {
		d := 0
		for i := 0; i < len(sequence) && d <= most; i++ {
			if text[at+i] != sequence[i] {
				d++
			}
		}
		if d <= most {
			places = append(places, at)
		}
	}
	return places
}

func locateAll(t testing.TB, x *Index, r Rows) (places []int) {
	t.Helper()
	all := r.Append(nil, r.Count())
	if err := x.Locate(all); err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		places = append(places, int(p))
	}
	slices.Sort(places)
	return places
}

// TestTransformElsewhere: the index does not depend on what computes the transform.
func TestTransformElsewhere(t *testing.T) {
	for name, text := range texts(rand.New(rand.NewPCG(0, 7))) {
		text = text[:min(len(text), 20000)]
		c := Content{Text: text, Coverage: NewCoverage(len(text), Window), Literals: new(Literals), Begins: NewBegins(len(text))}
		want, err := Build(c, 2)
		if err != nil {
			t.Fatal(err)
		}
		order := make([]int, len(text))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return bytes.Compare(text[a:], text[b:]) })
		for _, done := range []bool{true, false} {
			calls := 0
			c.Begins = NewBegins(len(text))
			c.Transform = func(dst, text []byte, step int, starts []uint32, every int, samples []uint32) bool {
				calls++
				for rank, p := range order {
					dst[rank] = text[(p+len(text)-1)%len(text)]
					if done && p%step == 0 {
						starts[p/step] = uint32(rank)
					}
					if done && rank%every == every-1 {
						samples[rank/every] = uint32(p)
					}
				}
				return done
			}
			got, err := Build(c, 2)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want.Bytes()) || calls != min(len(text), 1) {
				t.Errorf("%s, transformed elsewhere: %v: another index, after %d calls", name, done, calls)
			}
		}
	}
}

// queries are stretches of a text, some of them changed, and others.
func queries(r *rand.Rand, text []byte) (all [][]byte) {
	for range 40 {
		n := 1 + r.IntN(40)
		q := draw(r, n)
		if n < len(text) && r.IntN(5) > 0 {
			at := r.IntN(len(text) - n + 1)
			q = slices.Clone(text[at : at+n])
			for range r.IntN(3) {
				q[r.IntN(n)] = byte(r.IntN(4))
			}
		}
		all = append(all, q)
	}
	return all
}

// TestFind compares searches with going through the text.
func TestFind(t *testing.T) {
	r := rand.New(rand.NewPCG(0, 1))
	for name, text := range texts(r) {
		t.Run(name, func(t *testing.T) {
			x := indexOf(t, text, nil, 3)
			all := queries(r, text)
			rows := make([]Rows, len(all))
			x.FindAll(all, rows)
			for i, q := range all {
				want := occurrences(text, q, 0)
				if got := rows[i].Count(); got != len(want) {
					t.Fatalf("%v: %d places, want %d", q, got, len(want))
				}
				if len(want) < 500 && !slices.Equal(locateAll(t, x, rows[i]), want) {
					t.Fatalf("%v: places %v, want %v", q, locateAll(t, x, rows[i]), want)
				}
			}
		})
	}
}

// TestNear compares searches with differences with going through the text.
func TestNear(t *testing.T) {
	r := rand.New(rand.NewPCG(0, 2))
	for name, text := range texts(r) {
		text = text[:min(len(text), 6000)]
		t.Run(name, func(t *testing.T) {
			x := indexOf(t, text, nil, 2)
			for i, q := range queries(r, text)[:20] {
				most := i % 5
				got := []int{}
				x.Near(q, most, func(rows Rows) bool {
					got = append(got, locateAll(t, x, rows)...)
					return true
				})
				slices.Sort(got)
				if want := occurrences(text, q, most); !slices.Equal(got, want) {
					t.Fatalf("%v, %d differences: %v, want %v", q, most, got, want)
				}
			}
		})
	}
}

// TestNearEnds: the search ends when it is told to.
func TestNearEnds(t *testing.T) {
	x := indexOf(t, draw(rand.New(rand.NewPCG(0, 3)), 1000), nil, 1)
	calls := 0
	if x.Near([]byte{0, 1}, 1, func(Rows) bool { calls++; return calls < 2 }); calls != 2 {
		t.Errorf("%d calls", calls)
	}
}

func TestText(t *testing.T) {
	r := rand.New(rand.NewPCG(0, 4))
	for name, text := range texts(r) {
		x := indexOf(t, text, nil, 1)
		got, err := x.AppendText(nil, 0, x.Chunks())
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s: another text, %v", name, err)
		}
		// The last bases are literals, which are no bases of the pseudogenome.
		literals := new(Literals)
		literals.Add(text[len(text)-len(text)/5:])
		literals.Bases = text[len(text)-len(text)/5:]
		literals.EndSlice()
		genome := text[:len(text)-len(text)/5]
		packed, err := indexOf(t, genome, literals, 2).Packed(3)
		if err != nil || len(packed) != (len(genome)+3)/4+16 {
			t.Fatalf("%s: %d packed bytes of %d bases, %v", name, len(packed), len(genome), err)
		}
		for i, b := range genome {
			if packed[i/4]>>(2*(i%4))&3 != b {
				t.Fatalf("%s: packed base %d differs", name, i)
			}
		}
		if other := indexOf(t, text, nil, 5); !bytes.Equal(other.Bytes(), x.Bytes()) {
			t.Errorf("%s: the index depends on the number of threads", name)
		}
		for i := range x.Chunks() {
			from, to := x.Chunk(i)
			if got, err := x.AppendText([]byte{9}, i, i+1); err != nil || !bytes.Equal(got[1:], text[from:to]) {
				t.Errorf("%s: chunk %d differs, %v", name, i, err)
			}
		}
	}
}

// TestSize: an index has at most 3.6 bits a base, literals of reads of 100 bases included.
func TestSize(t *testing.T) {
	r := rand.New(rand.NewPCG(0, 5))
	for _, share := range []int{0, 5, 20, 80} { // of literals, in percent
		const n = 1 << 20
		l := new(Literals)
		for len(l.Bases) < n/100*share {
			l.Add(draw(r, 100))
		}
		l.EndSlice()
		x := indexOf(t, draw(r, n-len(l.Bases)), l, 2)
		if b := 8 * float64(len(x.Bytes())) / n; b > 3.6 {
			t.Errorf("%d %% literals: %.3f bits a base", share, b)
		}
	}
}

func TestCoverage(t *testing.T) {
	for sum := uint64(0); sum < 1<<42; sum += sum/3 + 1 {
		if got := coverSum(coverCode(sum)); got > sum || sum-got > sum>>10 {
			t.Fatalf("%d comes back as %d", sum, got)
		}
	}
	c := NewCoverage(200, Window)
	c.Add(0, 64)
	c.Add(60, 68)
	c.Add(190, 300)
	l := &Literals{ends: []uint32{30, 1}, lengths: []byte{30}}
	x, err := Build(Content{Text: make([]byte, 230), Coverage: c, Begins: NewBegins(200), Literals: l}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []struct {
		from, to int
		depth    float64
	}{{0, 1, 68. / 64}, {63, 64, 68. / 64}, {63, 65, 72. / 128}, {130, 150, 2. / 64}, {192, 230, 8. / 8}, {200, 210, 1}} {
		if got := x.Depth(w.from, w.to); got != w.depth {
			t.Errorf("%d to %d: %g, want %g", w.from, w.to, got, w.depth)
		}
	}
}

func TestLiterals(t *testing.T) {
	r := rand.New(rand.NewPCG(0, 6))
	l := new(Literals)
	type stretch struct{ slice, at, n int }
	var all []stretch
	var slicesAt []int
	for s := range 20 {
		slicesAt = append(slicesAt, len(l.Bases))
		for range r.IntN(40) {
			n := 1 + r.IntN(200)
			all = append(all, stretch{s, len(l.Bases) - slicesAt[s], n})
			l.Add(draw(r, n))
		}
		l.EndSlice()
	}
	const genome = 1000
	x := indexOf(t, draw(r, genome), l, 1)
	if x.Slices() != 20 || x.Genome() != genome || x.Len() != genome+len(l.Bases) {
		t.Fatal(x.Slices(), x.Genome(), x.Len())
	}
	for _, s := range all {
		at := genome + slicesAt[s.slice] + s.at
		for i := range s.n {
			if got, ok := x.Literal(at+i, s.n-i); !ok || got != (Literal{s.slice, s.at + i}) {
				t.Fatalf("%+v: base %d is %+v, %v", s, i, got, ok)
			}
			if x.Whole(at+i, s.n-i+1) {
				t.Fatalf("%+v: base %d: beyond its end", s, i)
			}
		}
	}
	if x.Whole(genome-1, 2) || !x.Whole(genome-2, 2) {
		t.Error("the end of the pseudogenome is not seen")
	}
}
