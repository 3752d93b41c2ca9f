package seqs

import (
	"bytes"
	"context"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"orcomgo/bases"
	"orcomgo/bins/record"
	"orcomgo/internal/testrun"
)

// longColumn returns reads of all kinds of a genome: long ones of both strands with substitutions, insertions and deletions, short ones,
// chimeras, tandem repeats, unknown bases, the genome itself.
func longColumn(seed int64) column {
	r := rand.New(rand.NewSource(seed))
	var c column
	add := func(s string) {
		c.reads = append(c.reads, s)
		for range len(s) {
			c.quals = append(c.quals, "#5AI"[r.Intn(4)])
		}
	}
	g := make([]byte, 30_000)
	for i := range g {
		g[i] = bases.Letters[r.Intn(4)]
	}
	copy(g[9000:], bytes.Repeat([]byte("ACCTGAT"), 300))
	stretch := func(n int) []byte {
		at := r.Intn(len(g) - n)
		s := slices.Clone(g[at : at+n])
		if r.Intn(2) == 1 {
			slices.Reverse(s)
			for i, b := range s {
				s[i] = comp(b)
			}
		}
		return s
	}
	noisy := func(s []byte) string {
		var b strings.Builder
		for _, v := range s {
			switch r.Intn(200) {
			case 0:
				b.WriteByte(v)
				b.WriteByte("ACGTNn"[r.Intn(6)])
			case 1:
				b.WriteByte("ACGTNacgt"[r.Intn(9)])
			case 2:
			default:
				b.WriteByte(v)
			}
		}
		return b.String()
	}
	for range testrun.Pick(30, 30, 60) {
		add(noisy(stretch(700 + r.Intn(5000))))
		add(noisy(stretch(30 + r.Intn(300))))
	}
	for range 5 {
		add(noisy(stretch(2000)) + noisy(stretch(2000)))
		s := stretch(4000)
		add(string(s[:1500]) + strings.Repeat("N", r.Intn(900)) + string(s[2000:]))
	}
	add(string(g))
	add(strings.ToLower(string(g[:5000])))
	add(strings.Repeat("ACCTGAT", 500))
	add(strings.Repeat("N", 3000))
	add(strings.Repeat("A", 3000))
	add("")
	add("G")
	r.Shuffle(len(c.reads), func(i, j int) { c.reads[i], c.reads[j] = c.reads[j], c.reads[i] })
	return c
}

// TestLongReads codes long reads, and short ones among them, in all ways.
func TestLongReads(t *testing.T) {
	c := longColumn(1)
	n := len(c.reads)
	for _, x := range []struct {
		name   string
		o      record.Options
		c      Config
		slice  int
		quals  bool
		paired bool
	}{
		{name: "reads", slice: n},
		{name: "qualities", slice: n, quals: true},
		{name: "slices", slice: 11, quals: true},
		{name: "pairs", slice: 40, quals: true, paired: true},
		{name: "any order", o: record.Options{OrderAny: true}, slice: 50},
		{name: "runs", o: record.Options{OrderAny: true, ReadsOnly: true}, c: Config{Runs: true}, slice: 50},
		{name: "little memory", c: Config{Memory: 100_000}, slice: 50},
		{name: "little memory and runs", o: record.Options{OrderAny: true, ReadsOnly: true}, c: Config{Runs: true, Memory: 100_000}, slice: 50},
	} {
		t.Run(x.name, func(t *testing.T) {
			cols := []column{c}
			if x.paired {
				cols = append(cols, longColumn(1))
				slices.Reverse(cols[1].reads)
			}
			var first []byte
			counts := []int{1, 3}
			if x.name == "qualities" {
				counts = []int{1, 2, 16}
			}
			for _, threads := range counts {
				x.c.Threads = threads
				got := roundTrip(t, x.o, x.c, x.slice, x.quals, cols...)
				if first == nil {
					first = got.bytes
				} else if !bytes.Equal(got.bytes, first) {
					t.Fatalf("other bytes with %d threads", threads)
				}
			}
			total := 0
			for _, s := range c.reads {
				total += len(s)
			}
			if most := total/4/2 + 1000; !x.paired && x.c.Memory == 0 && x.slice == n && len(first) > most {
				t.Errorf("%d bytes, want at most %d", len(first), most)
			}
		})
	}
}

// TestLongestReads: two reads of exactly five million bases, of which one is the reverse complement of the other but for some edits,
// share their sequence. ORCOMGO_LONG runs it.
func TestLongestReads(t *testing.T) {
	testrun.OnlyLong(t)
	const genome = 5_000_000
	r := rand.New(rand.NewSource(5))
	one := make([]byte, genome)
	for i := range one {
		one[i] = bases.Letters[r.Intn(4)]
	}
	other := slices.Clone(one)
	slices.Reverse(other)
	for i, b := range other {
		other[i] = comp(b)
	}
	for range 1000 {
		other[r.Intn(genome)] = bases.Letters[r.Intn(4)]
	}
	copy(other[2_000_000:], other[2_000_001:2_500_000]) // a deletion here, an insertion there
	c := column{reads: []string{string(one), string(other), "ACGT"}}
	got := roundTrip(t, record.Options{}, Config{Threads: 2}, 3, false, c)
	if most := genome/4 + 10_000; len(got.bytes) > most {
		t.Errorf("%d bytes, want at most %d", len(got.bytes), most)
	}
}

// FuzzDecodePieces: whatever a slice with pieces says, decoding ends with an error or letters of the right number.
func FuzzDecodePieces(f *testing.F) {
	c := longColumn(2)
	n := len(c.reads)
	e, err := Build(context.Background(), archiveOf(f, record.Options{}, n, c), Config{Threads: 2})
	if err != nil {
		f.Fatal(err)
	}
	defer e.Close()
	first := sliceColumn(0, c, 0, n, nil, true)
	data, err := e.EncodeSlice(context.Background(), first, nil)
	if err != nil {
		f.Fatal(err)
	}
	if data[1]&flagPieces == 0 {
		f.Fatal("there are no pieces")
	}
	d := NewDecoder(e.Shared(), Config{Threads: 1, Repeats: e.Repeats()})
	f.Add(data)
	f.Add(data[:len(data)/2])
	for i := 0; i < len(data); i += len(data) / 40 {
		x := slices.Clone(data)
		x[i] ^= 0x55
		f.Add(x)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := d.DecodeSlice(data, &Column{Records: first.Records, Lengths: first.Lengths, Quals: first.Quals}, nil)
		if err == nil && uint64(len(got[0])) != first.bases() {
			t.Fatal("wrong number of letters")
		}
	})
}
