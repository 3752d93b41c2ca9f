package seqs

import (
	"bytes"
	"context"
	"math"
	"math/rand"
	"slices"
	"testing"

	"orcomgo/bases"
	"orcomgo/bins/record"
	"orcomgo/compress/basemodel"
)

// versionsColumn returns long reads of two versions of a sequence, three of each, of both strands, and short reads of another one.
func versionsColumn(seed int64) column {
	r := rand.New(rand.NewSource(seed))
	draw := func(n int) []byte {
		g := make([]byte, n)
		for i := range g {
			g[i] = bases.Letters[r.Intn(4)]
		}
		return g
	}
	var c column
	one := draw(9000)
	other := slices.Clone(one)
	for range 90 {
		other[r.Intn(len(other))] = bases.Letters[r.Intn(4)]
	}
	other = slices.Concat(other[:4000], other[4003:7000], draw(2), other[7000:])
	for i := range 6 {
		s := slices.Clone(one)
		if i%2 == 1 {
			s = slices.Clone(other)
		}
		if i%3 == 1 {
			slices.Reverse(s)
			for k, b := range s {
				s[k] = comp(b)
			}
		}
		c.reads = append(c.reads, string(s))
	}
	short := draw(800)
	for range 200 {
		at := r.Intn(len(short) - 100)
		c.reads = append(c.reads, string(short[at:at+100]))
	}
	r.Shuffle(len(c.reads), func(i, j int) { c.reads[i], c.reads[j] = c.reads[j], c.reads[i] })
	return c
}

// versionsEncoder returns an Encoder that has coded all reads of a column in one slice.
func versionsEncoder(t testing.TB, c column, threads int) (e *Encoder, first *Column, data []byte) {
	n := len(c.reads)
	e, err := Build(context.Background(), archiveOf(t, record.Options{}, n, c), Config{Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	first = sliceColumn(0, c, 0, n, nil, false)
	if data, err = e.EncodeSlice(context.Background(), first, nil); err != nil {
		t.Fatal(err)
	}
	if !e.Repeats() {
		t.Fatal("nothing repeats")
	}
	return e, first, data
}

// TestRepeats: a pseudogenome with blocks that repeat what is before them comes back base for base, also across the beginning of the
// blocks; it is smaller than without them; and another pseudogenome is noticed.
func TestRepeats(t *testing.T) {
	c := versionsColumn(3)
	e, first, data := versionsEncoder(t, c, 2)
	n, begin := e.genome.Len, int(e.sharedFrom)
	if begin == 0 || n-begin < 17000 {
		t.Fatalf("a pseudogenome of %d bases, of which %d are before the blocks", n, begin)
	}
	want := e.genome.Stretch(nil, 0, n)
	packed := slices.Clone(e.genome.Packed)
	shared := e.Shared()
	if most := (n-begin)/2/4 + 500; len(shared[0])+len(shared[1]) > most {
		t.Errorf("%d and %d bytes for %d bases, want at most %d", len(shared[0]), len(shared[1]), n, most)
	}
	d := NewDecoder(shared, Config{Threads: 2, Repeats: true})
	got, err := d.DecodeSlice(data, &Column{Records: first.Records, Lengths: first.Lengths}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if string(got[0]) != string(bytes.Join(readsAsBytes(c), nil)) {
		t.Fatal("other reads come back")
	}
	if all, err := d.Genome(nil, 0, math.MaxInt); err != nil || !bytes.Equal(all, want) {
		t.Fatalf("another pseudogenome comes back: %v", err)
	}
	r := rand.New(rand.NewSource(1))
	for range 200 {
		from := begin - 60 + r.Intn(120)
		k := r.Intn(200)
		p, at := d.genome.Packed(from, k)
		if s := bases.Unpack(nil, p, at, k); !bytes.Equal(s, want[from:from+k]) {
			t.Fatalf("other bases at %d to %d", from, from+k)
		}
	}
	if same, err := d.genome.Is(packed); !same || err != nil {
		t.Fatal("not the pseudogenome that was coded", err)
	}
	for _, at := range []int{0, begin, n - 1} {
		other := slices.Clone(packed)
		other[at/4] ^= 1 << (2 * (at % 4))
		if same, err := d.genome.Is(other); same || err != nil {
			t.Fatalf("a difference at %d is not noticed: %v", at, err)
		}
	}
}

// TestBlocksAreDecodedAsAsked: no more blocks are decoded than those with the bases that are waited for, and the next ones later on.
func TestBlocksAreDecodedAsAsked(t *testing.T) {
	e, _, _ := versionsEncoder(t, versionsColumn(3), 2)
	n, begin := e.genome.Len, int(e.sharedFrom)
	want := e.genome.Stretch(nil, 0, n)
	d := NewDecoder(e.Shared(), Config{Threads: 2, Repeats: true})
	<-d.started
	block := d.genome.repeats.block
	for _, c := range []struct{ wait, decoded int }{
		{begin, 0}, {begin + 1, begin + block}, {begin + block - padBases, begin + block}, {begin + block, begin + 2*block},
		{begin + 1, begin + 2*block}, {n, n},
	} {
		if err := d.genome.Wait(c.wait); err != nil {
			t.Fatal(err)
		}
		if got := int(d.genome.blocks.bases.Load()); got != c.decoded {
			t.Errorf("of %d bases %d are decoded when %d are waited for, want %d", n, got, c.wait, c.decoded)
		}
		if got := d.genome.Append(nil, 0, c.wait); !bytes.Equal(got, want[:c.wait]) {
			t.Errorf("the first %d bases are other ones", c.wait)
		}
	}
}

func readsAsBytes(c column) [][]byte {
	var all [][]byte
	for _, s := range c.reads {
		all = append(all, []byte(s))
	}
	return all
}

// TestRepeatsThreads: the sections of repeats do not depend on the number of threads.
func TestRepeatsThreads(t *testing.T) {
	c := versionsColumn(4)
	var want [][]byte
	for _, threads := range []int{1, 2, 5} {
		e, _, data := versionsEncoder(t, c, threads)
		got := append(e.Shared(), data)
		if want == nil {
			want = got
		} else if !slices.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("other bytes with %d threads", threads)
		}
	}
}

// FuzzRepeats: a section of repeats of any content is refused, or gives as many bases as it says.
func FuzzRepeats(f *testing.F) {
	e, _, _ := versionsEncoder(f, versionsColumn(5), 2)
	shared := e.Shared()
	section := shared[1]
	modelled, err := basemodel.Decode(shared[0], basemodel.Options{Threads: 2})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(section)
	f.Add(section[:len(section)/2])
	f.Add([]byte{0, 0xff, 0xff, 0xff, 0xff, 7, 12})
	for i := 0; i < len(section); i += len(section)/20 + 1 {
		x := slices.Clone(section)
		x[i] ^= 0x5a
		f.Add(x)
	}
	f.Fuzz(func(t *testing.T, section []byte) {
		g, err := newGenome(modelled, section)
		if err != nil || g.Wait(g.Len()) != nil {
			return
		}
		if n := len(g.Append(nil, 0, g.Len())); n != g.Len() {
			t.Fatalf("%d bases of %d", n, g.Len())
		}
	})
}
