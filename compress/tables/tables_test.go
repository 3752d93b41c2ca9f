package tables

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orcomgo/internal/codectest"
	"orcomgo/internal/tasks"
	"orcomgo/internal/testrun"
	"orcomgo/internal/testvector"
)

// abundances returns a table as programs that count reads write it.
func abundances(rows int) []byte {
	r := rand.New(rand.NewSource(2))
	var b bytes.Buffer
	b.WriteString("Name\tLength\tEffectiveLength\tTPM\tNumReads\n")
	for i := range rows {
		length, reads := 200+r.Intn(3000), r.Intn(500)
		fmt.Fprintf(&b, "AT%dG%05d.1\t%d\t%.3f\t%.6f\t%d.000\n", 1+i/1000, 10*i, length, float64(length)-194.557,
			float64(reads)/(float64(length)-194.557)*1234.567, reads)
	}
	return b.Bytes()
}

// coverages returns a table of depths of coverage: bases divided by the length of the contig.
func coverages(rows, samples int) []byte {
	r := rand.New(rand.NewSource(3))
	var b bytes.Buffer
	for i := range rows {
		fmt.Fprintf(&b, "contig-%d", i)
		length := 500 + r.Intn(4000)
		for range samples {
			if bases := r.Intn(40) * 100; bases == 0 {
				b.WriteString("\t0")
			} else {
				fmt.Fprintf(&b, "\t%.6f", float64(bases)/float64(length))
			}
		}
		b.WriteString("\n")
	}
	return b.Bytes()
}

// sums returns a table of float64s as Python prints them, after an addition.
func sums(rows int) []byte {
	r := rand.New(rand.NewSource(4))
	var b bytes.Buffer
	for i := range rows {
		x, y := float64(r.Intn(100000))/1000, float64(r.Intn(100000))/1000
		fmt.Fprintf(&b, "%v,%v,%v,%s\n", x, y, x+y, []string{"True", "False", "", "nan"}[i%4])
	}
	return b.Bytes()
}

func texts() map[string]string {
	lines := func(line string, n int) string { return strings.Repeat(line, n) }
	return map[string]string{
		"empty": "", "a byte": "a", "a line": "a\tb\tc\n", "line ends": lines("\n", 40), "no table": lines("all of this is text\n", 10),
		"abundances": string(abundances(300)), "coverages": string(coverages(100, 5)), "sums": string(sums(200)),
		"no line end": string(abundances(50)[:2000]),
		"CRLF":        strings.ReplaceAll(string(abundances(50)), "\n", "\r\n"),
		"mixed ends":  strings.ReplaceAll(string(abundances(50)), "0.000\n", "0.000\r\n"),
		"CR":          lines("1,2\r,3\n", 20),
		"quotes":      lines("\"a, b\",1,\"say \"\"x\"\"\"\n", 10) + lines("\"a,2,\"b\"c\n", 9) + lines("\"open,1,2\n", 9),
		"ragged":      lines("1\t2\t3\n4\t5\t6\n7\t8\n", 20) + lines("1\t2\n", 30) + lines("#\n1\t2\t3\n", 12),
		"numbers": lines("007,-0,+1,1e5,1.,.5,-.5,--1,1.2.3,99999999999999999999,0x1f, 12,12 \n", 9) +
			lines("1,0,1,100000,1.0,0.5,-0.5,1,1.25,9,1,12,12\n", 9),
		"long numbers": lines("123456789012345678,0.12345678901234567,-99999999999999999,0.000000000000000001\n", 12),
		"decimals":     lines("1.50,0\n2,0.25\n-3.125,10\n0,0.00\n", 12),
		"negative":     lines("-0.5,-7,-0.000\n-0.25,-8,0.000\n", 12),
		"bytes":        lines("\x00\xff\t\x80\n", 12),
		"new words":    strings.Join(strings.Fields(fmt.Sprint(rand.New(rand.NewSource(1)).Perm(300))), "x y\n"),
	}
}

func TestRoundTrip(t *testing.T) {
	for name, text := range texts() {
		stream := Encode([]byte(text), nil)
		if !bytes.Equal(Encode([]byte(text), tasks.NewPool(2)), stream) {
			t.Errorf("%s: the stream depends on threads", name)
		}
		got, err := Decode(stream, len(text))
		if err != nil || string(got) != text {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(text), err)
		}
		if _, err := Decode(stream, len(text)-1); err != ErrCorrupt {
			t.Errorf("%s: longer than allowed: %v", name, err)
		}
	}
}

// TestRandom codes text of the characters that tables consist of.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewSource(6))
	for range 60 {
		letters := []string{"0123456789.,\n", "01.-\t\t\n", "a\"\",\r\n\n", "12\t\n"}[r.Intn(4)]
		text := make([]byte, r.Intn(400))
		for i := range text {
			text[i] = letters[r.Intn(len(letters))]
		}
		got, err := Decode(Encode(text, nil), len(text))
		if err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%q comes back as %q, %v", text, got, err)
		}
	}
}

// TestSizes: what tables of numbers that follow from each other take.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		name string
		text []byte
		most int
	}{{"abundances", abundances(2000), 10000}, {"coverages", coverages(600, 6), 9800}, {"sums", sums(1000), 6600}} {
		if got := len(Encode(c.text, tasks.NewPool(1))); got > c.most {
			t.Errorf("%s: %d bytes of %d, at most %d expected", c.name, got, len(c.text), c.most)
		}
	}
}

// TestRealTables compares sizes of tables of real runs with 0.85 of what xz -9e takes.
func TestRealTables(t *testing.T) {
	testrun.OnlyLong(t)
	dir := testrun.Data(t)
	for name, xz := range map[string]int{
		"salmon/quant.sf": 375628, "nanopore/sequencing_summary_barcode09.txt": 548948, "binning/coverage_table.tsv": 113248,
	} {
		text, err := os.ReadFile(filepath.Join(dir, "runfolder", name))
		if err != nil {
			t.Skip(err)
		}
		stream := Encode(text, tasks.NewPool(1))
		got, err := Decode(stream, len(text))
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s: differs, %v", name, err)
		}
		t.Logf("%s: %d bytes of %d, %.3f of xz -9e", name, len(stream), len(text), float64(len(stream))/float64(xz))
		if len(stream) > xz*17/20 {
			t.Errorf("%s: %d bytes, at most %d expected", name, len(stream), xz*17/20)
		}
	}
}

func TestDamage(t *testing.T) {
	text := coverages(40, 3)
	stream := Encode(text, nil)
	codectest.Damage(t, text, stream, Decode)
}

func FuzzDecode(f *testing.F) {
	all := texts()
	for _, name := range []string{"a line", "quotes", "ragged", "decimals", "negative", "numbers"} {
		f.Add(Encode([]byte(all[name]), nil))
	}
	f.Add(Encode(coverages(20, 3), nil))
	f.Fuzz(func(t *testing.T, stream []byte) {
		_, _ = Decode(stream, 1<<16)
	})
}

// FuzzRoundTrip codes text and decodes it.
func FuzzRoundTrip(f *testing.F) {
	for _, text := range texts() {
		f.Add([]byte(text[:min(len(text), 500)]))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<14 {
			return
		}
		got, err := Decode(Encode(text, nil), len(text))
		if err != nil || !bytes.Equal(got, text) {
			t.Fatalf("differs: %v", err)
		}
	})
}

// TestVectors codes the texts of testdata/vectors/tables.txt and decodes them.
func TestVectors(t *testing.T) {
	testvector.Run(t, "../../testdata/vectors/tables.txt", func(t *testing.T, v *testvector.Vector) {
		text := []byte(strings.Join(v.Strings(t, "text"), "\n") + "\n")
		got, err := Decode(v.Bytes(t, "bytes", Encode(text, nil)), len(text))
		if err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%q, %v", got, err)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	text := abundances(10000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Encode(text, nil)
	}
}

func BenchmarkDecode(b *testing.B) {
	text := abundances(10000)
	stream := Encode(text, nil)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Decode(stream, len(text)); err != nil {
			b.Fatal(err)
		}
	}
}

// TestHeadersOfParts: where a table is of several files, each with the same header, the columns have the numbers alone.
func TestHeadersOfParts(t *testing.T) {
	var text []byte
	for part := range 5 {
		text = append(text, "name\tcount\tshare\n"...)
		for i := range 20 {
			text = fmt.Appendf(text, "n%d\t%d\t%.2f\n", i, part*100+i, float64(i)/7)
		}
	}
	l := cut(text)
	if n := bytes.Count(l.loose, []byte("\n")); n != 5 || len(l.segments) != 1 || len(l.segments[0].rows) != 100 {
		t.Errorf("%d loose lines, %d tables, the first one of %d rows", n, len(l.segments), len(l.segments[0].rows))
	}
	if got, err := Decode(Encode(text, nil), len(text)); err != nil || !bytes.Equal(got, text) {
		t.Errorf("another text comes back: %v", err)
	}
	one, ok := Kind(text)
	other, _ := Kind(text[:1+bytes.Index(text, []byte("\nname"))])
	if wider, _ := Kind([]byte(strings.Repeat("n\t1\t2\t3\n", 20))); !ok || one != other || one == wider || one != "\x00\x01\x01\t" {
		t.Errorf("kinds are %q, %q, %q", one, other, wider)
	}
}
