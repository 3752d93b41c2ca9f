package quals

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/internal/testrun"
)

// column is a named test input.
type column struct {
	name string
	in   Input
}

// randomWalk makes a column of reads whose values wander over the given alphabet as
// instruments' do: runs, slow decline, sudden drops.
func randomWalk(seed int64, values []byte, lengths []uint32) Input {
	r := rand.New(rand.NewSource(seed))
	var q []byte
	for _, l := range lengths {
		at := len(values) - 1
		for i := uint32(0); i < l; i++ {
			switch x := r.Intn(100); {
			case x < 8 && at > 0:
				at--
			case x < 14 && at < len(values)-1:
				at++
			case x < 16:
				at = r.Intn(len(values))
			case x < 20:
				at = len(values) - 1
			}
			q = append(q, values[at])
		}
	}
	return Input{Quals: q, Lengths: record.Lengths{Each: lengths}, Records: len(lengths)}
}

func span(lo, hi int) (v []byte) {
	for ; lo <= hi; lo++ {
		v = append(v, byte(lo))
	}
	return v
}

func repeated(l uint32, n int) []uint32 {
	v := make([]uint32, n)
	for i := range v {
		v[i] = l
	}
	return v
}

func mixedLengths(seed int64, most, n int) []uint32 {
	r := rand.New(rand.NewSource(seed))
	v := make([]uint32, n)
	for i := range v {
		if r.Intn(10) > 0 {
			v[i] = uint32(r.Intn(most + 1))
		}
	}
	return v
}

func fixed(in Input) Input {
	in.Lengths.Fixed, in.Lengths.Each = in.Lengths.Each[0], nil
	return in
}

func columns() []column {
	cs := []column{
		{"no reads", Input{}},
		{"only empty reads", Input{Records: 5}},
		{"only empty reads, listed", Input{Records: 3, Lengths: record.Lengths{Each: []uint32{0, 0, 0}}}},
		{"one byte", Input{Records: 1, Lengths: record.Lengths{Fixed: 1}, Quals: []byte("I")}},
		{"constant", Input{Records: 300, Lengths: record.Lengths{Fixed: 101}, Quals: bytes.Repeat([]byte("F"), 30300)}},
		{"two levels", fixed(randomWalk(1, []byte("#F"), repeated(151, 400)))},
		{"four levels", fixed(randomWalk(2, []byte("#-5F"), repeated(151, 400)))},
		{"eight levels", fixed(randomWalk(3, []byte("!\"'07<BF"), repeated(100, 400)))},
		{"41 levels", fixed(randomWalk(4, span('#', 'J'), repeated(76, 500)))},
		{"41 levels, mixed lengths", randomWalk(5, span('#', 'J'), mixedLengths(5, 300, 300))},
		{"0 to 93", randomWalk(6, span(33, 126), mixedLengths(6, 3000, 20))},
		{"12 levels, long enough for a sample", fixed(randomWalk(10, span('#', '.'), repeated(150, testrun.Pick(1000, 1000, 4000))))},
		{"12 levels, sampled, mixed lengths", randomWalk(11, span('#', '.'), mixedLengths(11, testrun.Pick(500, 500, 2000), 700))},
		// Vector instructions change 64 values, and not 65, to symbols.
		{"64 values", fixed(randomWalk(12, span('!', '`'), repeated(77, 100)))},
		{"64 values, mixed lengths", randomWalk(13, span(191, 254), mixedLengths(13, 400, 90))},
		{"65 values", fixed(randomWalk(14, span('!', 'a'), repeated(77, 100)))},
		{"one value after another", Input{Quals: bytes.Repeat([]byte("AB"), 5000), Lengths: record.Lengths{Fixed: 100}, Records: 100}},
		{"one long read", randomWalk(7, span(33, 126), []uint32{testrun.Pick[uint32](150_000, 150_000, 1_000_000)})},
		{"every byte", randomWalk(8, span(0, 255), mixedLengths(8, 500, 60))},
	}
	noise := make([]byte, 10000)
	rand.New(rand.NewSource(9)).Read(noise)
	cs = append(cs, column{"noise", Input{Quals: noise, Records: 100, Lengths: record.Lengths{Fixed: 100}}})
	for _, n := range []int{2, 3, 5, 10, 33} {
		cs = append(cs, column{fmt.Sprintf("short, %d bytes", n), Input{Quals: noise[:n], Records: 1, Lengths: record.Lengths{Fixed: uint32(n)}}})
	}
	return cs
}

// decodesFirst compares what comes back if only some records are asked for.
func decodesFirst(t *testing.T, name string, data []byte, in Input, quals []byte) {
	t.Helper()
	if in.Records < 2 {
		return
	}
	in.First = in.Records / 2
	n := in.Lengths.Sum(0, in.First)
	if got, err := Decode(data, in); err != nil || !bytes.Equal(got, quals[:n]) {
		t.Errorf("%s: %d qualities of the first %d of %d records, want %d: %v", name, len(got), in.First, in.Records, n, err)
	}
}

func TestRoundTrip(t *testing.T) {
	for _, c := range columns() {
		data := Encode(c.in)
		if !bytes.Equal(data, Encode(c.in)) {
			t.Fatalf("%s: two runs differ", c.name)
		}
		in := c.in
		in.Quals = nil
		got, err := Decode(data, in)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if !bytes.Equal(got, c.in.Quals) {
			t.Fatalf("%s: %d bytes come back changed", c.name, len(got))
		}
		decodesFirst(t, c.name, data, in, c.in.Quals)
	}
}

// withBases gives a column letters: runs of bases, N and others.
func withBases(in Input) Input {
	r := rand.New(rand.NewSource(12))
	in.Bases = make([]byte, len(in.Quals))
	for i := range in.Bases {
		if in.Bases[i] = "ACGTACGTACGTNacgtR"[r.Intn(18)]; i > 0 && r.Intn(2) == 0 {
			in.Bases[i] = in.Bases[i-1]
		}
	}
	return in
}

func TestRoundTripWithBases(t *testing.T) {
	for _, c := range columns() {
		in := withBases(c.in)
		data := Encode(in)
		want := in.Quals
		in.Quals = nil
		got, err := Decode(data, in)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s: %d bytes come back, want %d: %v", c.name, len(got), len(want), err)
		}
		decodesFirst(t, c.name, data, in, want)
		if data[0] <= strategyConstant {
			continue // of one value at most
		}
		if in.Bases = nil; in.Records > 0 {
			if _, err := Decode(data, in); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: decoded without bases: %v", c.name, err)
			}
		}
	}
}

// TestBasesPay: qualities that are low at the ends of runs take much less given the bases, and others are not given them.
func TestBasesPay(t *testing.T) {
	in := withBases(randomWalk(13, span('#', '5'), mixedLengths(13, 6000, 60)))
	if WorthBases(in) {
		t.Error("qualities that the bases say nothing of are given them")
	}
	for i := 1; i < len(in.Bases); i++ {
		if in.Bases[i] != in.Bases[i-1] {
			in.Quals[i-1] = '#' + in.Quals[i-1]&3
		}
	}
	if !WorthBases(in) {
		t.Error("qualities that follow runs are not given the bases")
	}
	without := len(Encode(Input{Quals: in.Quals, Lengths: in.Lengths, Records: in.Records}))
	if with := len(Encode(in)); with > without*85/100 {
		t.Errorf("given the bases, they take %d bytes, without %d", with, without)
	}
}

func FuzzDecode(f *testing.F) {
	for _, c := range columns() {
		if len(c.in.Quals) < 2000 && c.in.Lengths.Each == nil {
			f.Add(Encode(c.in), uint16(c.in.Records), c.in.Lengths.Fixed)
			f.Add(Encode(withBases(c.in)), uint16(c.in.Records), c.in.Lengths.Fixed)
		}
	}
	in := randomWalk(31, span('#', 'J'), repeated(50, 40))
	in.Lengths = record.Lengths{Fixed: 50}
	var primer *Primer
	f.Add(EncodeLeading(in, 500, func(p *Primer) { primer = p }), uint16(40), uint32(50))
	in.Primer = primer
	f.Add(Encode(in), uint16(40), uint32(50))
	f.Fuzz(func(t *testing.T, data []byte, n uint16, l uint32) {
		l %= 1 << 20
		if int(n)*int(l) > 1<<22 {
			return
		}
		in := Input{Records: int(n), Lengths: record.Lengths{Fixed: l}}
		if NeedsPrimer(data) {
			in.Primer = primer
		} else if len(data) > 0 && data[0] == strategyAlone+byte(given) {
			in.Bases = bytes.Repeat([]byte("AACGGGT"), int(n)*int(l)/7+1)[:int(n)*int(l)]
		}
		got, err := Decode(data, in)
		if err == nil && len(got) != int(n)*int(l) {
			t.Fatalf("%d bytes, want %d", len(got), int(n)*int(l))
		}
	})
}

// quality returns the quality column of a gzipped FASTQ file of the folder of real runs, ORCOMGO_DATA, of at most limit
// bytes, or skips.
func quality(tb testing.TB, name string, limit int) Input {
	dir := testrun.Data(tb)
	f, err := os.Open(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	var in Input
	var bases []byte
	s := bufio.NewScanner(z)
	s.Buffer(nil, 1<<20)
	for i := 0; s.Scan(); i++ {
		if i%4 == 1 {
			bases = append(bases[:0], s.Bytes()...)
		}
		if i%4 == 3 {
			if len(in.Quals)+len(s.Bytes()) > limit {
				break
			}
			in.Quals = append(in.Quals, s.Bytes()...)
			in.Bases = append(in.Bases, bases...)
			in.Lengths.Each = append(in.Lengths.Each, uint32(len(s.Bytes())))
			in.Records++
		}
	}
	return in
}

func TestRealQualities(t *testing.T) {
	for _, name := range []string{"yeast_rnaseq_A_R1", "yeast_chipseq_SE50", "human_hiseq2500_R1",
		"sarscov2_amplicon_300bp_R1", "arabidopsis_rnaseq_R1", "novaseqx_4level_SE151", "nanopore_long", "hifi_ccs"} {
		t.Run(name, func(t *testing.T) {
			in := quality(t, name+".fastq.gz", 500_000)
			long := name == "nanopore_long" || name == "hifi_ccs"
			for _, given := range [][]byte{nil, in.Bases} {
				in := Input{Quals: in.Quals, Lengths: in.Lengths, Records: in.Records, Bases: given}
				data := Encode(in)
				got, err := Decode(data, Input{Records: in.Records, Lengths: in.Lengths, Bases: given})
				if err != nil || !bytes.Equal(got, in.Quals) {
					t.Fatal(err)
				}
				t.Logf("%d bytes, given bases %v: %d", len(in.Quals), given != nil, len(data))
			}
			if long && !WorthBases(in) {
				t.Error("the qualities are not given the bases")
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, name := range []string{"yeast_rnaseq_A_R1", "arabidopsis_rnaseq_R1", "nanopore_long"} {
		in := quality(b, name+".fastq.gz", 4<<20)
		if name != "nanopore_long" {
			in.Bases = nil
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(in.Quals)))
			for b.Loop() {
				Encode(in)
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, name := range []string{"yeast_rnaseq_A_R1", "arabidopsis_rnaseq_R1", "nanopore_long"} {
		in := quality(b, name+".fastq.gz", 4<<20)
		if name != "nanopore_long" {
			in.Bases = nil
		}
		data := Encode(in)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(in.Quals)))
			for b.Loop() {
				if _, err := Decode(data, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Models are made in the memory of released ones of any size.
func TestReleasedModels(t *testing.T) {
	large, small := fixed(randomWalk(1, span('#', 'J'), repeated(100, 3000))), fixed(randomWalk(2, []byte("#-5F"), repeated(100, 50)))
	for _, in := range []Input{large, small} {
		want := Encode(in)
		for _, before := range []Input{large, small} {
			Encode(before)
			if got := Encode(in); !bytes.Equal(got, want) {
				t.Errorf("%d bytes after a model of %d: differ from those of a new model", len(in.Quals), len(before.Quals))
			}
		}
	}
}

// TestValuesOf: all values are found, in whole words and in what is left of them.
func TestValuesOf(t *testing.T) {
	for n := range 40 {
		for at := range n {
			quals := make([]byte, n)
			quals[at] = 7
			want := []byte{0, 7}
			if n == 1 {
				want = []byte{7}
			}
			if got := valuesOf(quals); !bytes.Equal(got, want) {
				t.Errorf("7 at %d of %d: values %v", at, n, got)
			}
		}
	}
	if got := valuesOf(make([]byte, 16)); !bytes.Equal(got, []byte{0}) {
		t.Errorf("of 16 zeros: values %v", got)
	}
}
