//go:build cuda

package cudakern

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"orcomgo/bins/entropy"
	"orcomgo/internal/testrun"

	"github.com/zeebo/xxh3"
)

// textSums is Result.TextSums by the reference implementation of XXH3.
func textSums(text []byte) (sums []byte) {
	for ; len(text) > 0; text = text[min(len(text), sumChunk):] {
		chunk := make([]byte, sumChunk)
		copy(chunk, text)
		sums = binary.LittleEndian.AppendUint64(sums, xxh3.Hash(chunk))
	}
	return sums
}

// coded codes a column with package entropy, as package bins does.
func coded(column []byte, names bool) *Coded {
	c := &Coded{Raw: uint64(len(column))}
	var e entropy.Encoder
	for len(column) > 0 {
		chunk := column[:min(len(column), codedChunk)]
		column = column[len(chunk):]
		method, stored := byte(0), chunk
		if names {
			if s := e.AppendNames(nil, chunk); len(s) < len(chunk) {
				method, stored = 2, s
			}
		} else {
			switch s := e.AppendStream(nil, chunk, true); entropy.Kind(s[0]) {
			case entropy.Same:
				method, stored = 1, s[1:]
			case entropy.Order0, entropy.Order1:
				method, stored = 2, s
			}
		}
		c.Methods = append(c.Methods, method)
		c.Data = append(c.Data, stored...)
		c.Ends = append(c.Ends, uint64(len(c.Data)))
	}
	return c
}

// sameCoded says where two coded columns differ.
func sameCoded(got, want *Coded) error {
	if got == nil {
		return fmt.Errorf("it is missing")
	}
	if got.Raw != want.Raw {
		return fmt.Errorf("%d bytes before coding, want %d", got.Raw, want.Raw)
	}
	if !bytes.Equal(got.Methods, want.Methods) {
		return fmt.Errorf("methods %v, want %v", got.Methods, want.Methods)
	}
	if fmt.Sprint(got.Ends) != fmt.Sprint(want.Ends) {
		return fmt.Errorf("ends %v, want %v", got.Ends, want.Ends)
	}
	for i := range want.Data {
		if i >= len(got.Data) || got.Data[i] != want.Data[i] {
			return fmt.Errorf("differs from byte %d of %d on", i, len(want.Data))
		}
	}
	if len(got.Data) != len(want.Data) {
		return fmt.Errorf("%d bytes, want %d", len(got.Data), len(want.Data))
	}
	return nil
}

// recordsOf makes FASTQ text of names (each with its '\n') and qualities, which are divided among the records as they
// come: the first records get reads of that length, the last one what is left.
func recordsOf(names, quals []byte, length int) []byte {
	var b []byte
	for len(names) > 0 {
		end := bytes.IndexByte(names, '\n') + 1
		q := quals[:min(len(quals), length)]
		if end == len(names) {
			q = quals
		}
		b = append(append(b, '@'), names[:end]...)
		b = append(append(b, bytes.Repeat([]byte("A"), len(q))...), "\n+\n"...)
		b = append(append(b, q...), '\n')
		names, quals = names[end:], quals[len(q):]
	}
	return b
}

// checkCoded bins the text with coded columns and compares them with the reference.
func checkCoded(t *testing.T, l *Lane, what string, names, quals []byte, length int, mapped bool) {
	t.Helper()
	text := recordsOf(names, quals, length)
	got, err := bin(l, text, Columns{Names: true, Quals: true, Coded: true, RawNames: true, Map: mapped})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if got.Unsupported {
		t.Fatalf("%s: record %d is not supported", what, got.Record)
	}
	if mapped {
		quals = bytes.Clone(quals)
		for i, q := range quals {
			quals[i] = table[q]
		}
	}
	if !bytes.Equal(got.Names, names) || got.Quals != nil {
		t.Errorf("%s: the plain columns have %d and %d bytes", what, len(got.Names), len(got.Quals))
	}
	if !bytes.Equal(got.TextSums, textSums(text)) {
		t.Errorf("%s: the sums of the text differ", what)
	}
	if err := sameCoded(got.CodedNames, coded(names, true)); err != nil {
		t.Errorf("%s: coded names: %v", what, err)
	}
	if err := sameCoded(got.CodedQuals, coded(quals, false)); err != nil {
		t.Errorf("%s: coded qualities: %v", what, err)
	}
}

// Qualities to code, n of them.
var qualities = map[string]func(n int, rng *rand.Rand) []byte{
	"one symbol": func(n int, rng *rand.Rand) []byte { return bytes.Repeat([]byte("F"), n) },
	"one but the last": func(n int, rng *rand.Rand) []byte {
		b := bytes.Repeat([]byte("F"), n)
		b[n-1] = '#'
		return b
	},
	"two in turn": func(n int, rng *rand.Rand) []byte { return bytes.Repeat([]byte("!~"), n/2+1)[:n] },
	"four":        func(n int, rng *rand.Rand) []byte { return chain(n, 4, .9, rng) },
	"41":          func(n int, rng *rand.Rand) []byte { return chain(n, 41, .3, rng) },
	"64":          func(n int, rng *rand.Rand) []byte { return chain(n, 64, .2, rng) },
	"65":          func(n int, rng *rand.Rand) []byte { return chain(n, 65, .2, rng) },
	"94 alike":    func(n int, rng *rand.Rand) []byte { return chain(n, 94, 0, rng) },
	"a cycle": func(n int, rng *rand.Rand) []byte { // every row of order 1 has one symbol
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('!' + i%50)
		}
		return b
	},
	"deep": func(n int, rng *rand.Rand) []byte { // a code without a limit would be longer than 10 bits
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('!' + min(40, int(rng.ExpFloat64()*1.2)))
		}
		return b
	},
	"deep rows": func(n int, rng *rand.Rand) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('!' + min(40, int(rng.ExpFloat64()*1.2)))
			if i%3 == 2 {
				b[i] = b[i-1] + byte(i/3%23)
			}
		}
		return b
	},
}

// chain returns n symbols of k, each near the one before with the chance same.
func chain(n, k int, same float64, rng *rand.Rand) []byte {
	b := make([]byte, n)
	for i := range b {
		if i > 0 && rng.Float64() < same {
			b[i] = byte('!' + (int(b[i-1]-'!')+rng.IntN(2))%k)
		} else {
			b[i] = byte('!' + rng.IntN(k))
		}
	}
	return b
}

// Names to code, each with its '\n'.
var someNames = map[string]func(n int, rng *rand.Rand) []byte{
	"illumina": func(n int, rng *rand.Rand) (b []byte) {
		x := 1000
		for i := range n {
			x += rng.IntN(40)
			b = fmt.Appendf(b, "A00123:45:HXYZ:%d:%d:%d:%d 1:N:0:ACGT+TTGA\n", 1+i/9000, 1101+i/3000, rng.IntN(32000), x)
		}
		return b
	},
	"SRR": func(n int, rng *rand.Rand) (b []byte) {
		for i := range n {
			b = fmt.Appendf(b, "SRR001.%d %d length=100\n", i+1, i+1)
		}
		return b
	},
	"padded": func(n int, rng *rand.Rand) (b []byte) {
		x := 0
		for range n {
			x += rng.IntN(130)
			b = fmt.Appendf(b, "%0*d_%03d_%d\n", 1+x%7, x, x%1100, x*1000003)
		}
		return b
	},
	"large numbers": func(n int, rng *rand.Rand) (b []byte) {
		for range n {
			base := []uint64{0, 9, 90, 99, 999999990, 4294967290, 99999999990}[rng.IntN(7)]
			b = fmt.Appendf(b, "%d:%d\n", base+rng.Uint64N(130), base+rng.Uint64N(30))
		}
		return b
	},
	"few symbols": func(n int, rng *rand.Rand) (b []byte) {
		for range n {
			for range rng.IntN(12) {
				b = append(b, "00123456789ab:"[rng.IntN(14)])
			}
			b = append(b, '\n')
		}
		return b
	},
	"many tokens": func(n int, rng *rand.Rand) (b []byte) {
		for range n {
			for range rng.IntN(22) {
				b = append(b, 'x', byte('0'+rng.IntN(10)))
			}
			b = append(b, '\n')
		}
		return b
	},
	"long literals": func(n int, rng *rand.Rand) (b []byte) {
		for range n {
			b = append(append(b, strings.Repeat("y", 120+rng.IntN(12))...), byte('a'+rng.IntN(26)), '7')
			b = append(append(b, strings.Repeat("z", rng.IntN(300))...), '\n')
		}
		return b
	},
	"empty": func(n int, rng *rand.Rand) []byte { return bytes.Repeat([]byte{'\n'}, n) },
	"random bytes": func(n int, rng *rand.Rand) (b []byte) {
		for range n {
			for range 50 {
				c := byte(rng.IntN(256))
				if c == '\n' || c == '\r' {
					c = 'x'
				}
				b = append(b, c)
			}
			b = append(b, '\n')
		}
		return b
	},
}

// TestCoded compares coded columns with package entropy, on one lane that grows as it must.
func TestCoded(t *testing.T) {
	l := lane(t, open(t), 1<<12)
	rng := rand.New(rand.NewPCG(31, 1))
	short := someNames["SRR"](3, rng)
	sizes, counts := []int{1, 2, 63, 64, 65, 67, 130, 1000, 16385, 70001}, []int{1, 2, 3, 64, 255, 257, 2500}
	if underSanitizer() {
		sizes, counts = []int{1, 65, 1000, 16385}, []int{1, 3, 257}
	}
	if underRacecheck() {
		sizes, counts = []int{1000}, []int{65}
	}
	for what, quals := range qualities {
		for _, n := range sizes {
			for _, mapped := range []bool{false, true} {
				if underSanitizer() && mapped && n != 1000 {
					continue
				}
				checkCoded(t, l, fmt.Sprintf("%d qualities, %s, mapped %v", n, what, mapped), short, quals(n, rng), 1+n/3, mapped)
			}
		}
	}
	for what, names := range someNames {
		for _, n := range counts {
			checkCoded(t, l, fmt.Sprintf("%d names, %s", n, what), names(n, rng), []byte("IIII"), 1, false)
		}
	}
	if got, err := bin(l, nil, Columns{Names: true, Quals: true, Coded: true}); err != nil || len(got.TextSums) != 0 {
		t.Errorf("no text: %+v, %v", got, err)
	}
}

// TestCodedChunks takes columns of several chunks, and names that chunks begin inside of.
func TestCodedChunks(t *testing.T) {
	l := lane(t, open(t), 1<<20)
	rng := rand.New(rand.NewPCG(32, 1))
	kinds := map[byte]bool{}
	for _, c := range []struct {
		quals string
		n     int
		names string
		count int
	}{
		{"41", codedChunk, "illumina", 30000},
		{"four", codedChunk + 1, "padded", 20000},
		{"94 alike", 2*codedChunk + 63, "random bytes", 25000},
		{"one symbol", 2*codedChunk - 1, "SRR", 50000},
		{"deep rows", codedChunk + 100003, "empty", codedChunk + 5},
	} {
		names, quals := someNames[c.names](c.count, rng), qualities[c.quals](c.n, rng)
		checkCoded(t, l, fmt.Sprintf("%+v", c), names, quals, 1+c.n/c.count, false)
		for _, m := range append(coded(names, true).Methods, coded(quals, false).Methods...) {
			kinds[m] = true
		}
	}
	if len(kinds) != 3 {
		t.Errorf("methods %v occur", kinds)
	}
	// names that end around the end of a chunk, and one that is longer than a chunk
	for end := codedChunk - 2; end <= codedChunk+3; end++ {
		names := append(bytes.Repeat([]byte("ab12\n"), codedChunk/5-7), '7')
		names = append(append(names, strings.Repeat("q", end-len(names)-1)...), "\nab13\nab15\n"...)
		checkCoded(t, l, fmt.Sprintf("a name ends at %d", end), names, []byte("I"), 1, false)
	}
	long := append([]byte("a1\n"), bytes.Repeat([]byte("x1234567"), (2*codedChunk+500)/8)...)
	checkCoded(t, l, "a long name", append(long, "\nx2\nx3\n"...), []byte("I"), 1, false)
}

// TestCodedRandom takes many small blocks of random shapes.
func TestCodedRandom(t *testing.T) {
	l := lane(t, open(t), 1<<16)
	rng := rand.New(rand.NewPCG(33, 1))
	rounds := 300
	if testrun.Short() || underSanitizer() {
		rounds = 30
	}
	if underRacecheck() {
		rounds = 6
	}
	for round := range rounds {
		var names, quals []byte
		for range 1 + rng.IntN(5) {
			for what := range someNames {
				if rng.IntN(4) == 0 {
					names = append(names, someNames[what](1+rng.IntN(1<<rng.IntN(9)), rng)...)
				}
			}
			for what := range qualities {
				if rng.IntN(4) == 0 {
					quals = append(quals, qualities[what](1+rng.IntN(1<<rng.IntN(15)), rng)...)
				}
			}
		}
		names = append(names, "last\n"...)
		checkCoded(t, l, fmt.Sprintf("round %d", round), names, quals, 1+rng.IntN(300), rng.IntN(4) == 0)
	}
}

// TestCodedLeftOut: what is not asked for stays nil.
func TestCodedLeftOut(t *testing.T) {
	l := lane(t, open(t), 1<<16)
	text := fastq(shape{records: 1000, shortest: 50, longer: 10}, rand.New(rand.NewPCG(3, 3)))
	plain := reference(text)
	for _, c := range []Columns{{Coded: true}, {Coded: true, Names: true}, {Coded: true, Quals: true}, {Coded: true, Names: true, Quals: true},
		{Coded: true, RawNames: true}, {Names: true, RawNames: true}} {
		got, err := bin(l, text, c)
		if err != nil {
			t.Fatal(err)
		}
		if (got.CodedNames != nil) != (c.Names && c.Coded) || (got.CodedQuals != nil) != (c.Quals && c.Coded) ||
			(got.Names != nil) != (c.RawNames || c.Names && !c.Coded) || got.Quals != nil {
			t.Errorf("%+v: coded %v, %v, plain names %d, qualities %d", c,
				got.CodedNames != nil, got.CodedQuals != nil, len(got.Names), len(got.Quals))
		}
		if c.Names && c.Coded {
			if err := sameCoded(got.CodedNames, coded(plain.Names, true)); err != nil {
				t.Errorf("%+v: names: %v", c, err)
			}
		}
		if got.Names != nil && !bytes.Equal(got.Names, plain.Names) {
			t.Errorf("%+v: other plain names", c)
		}
		if c.Quals && c.Coded {
			if err := sameCoded(got.CodedQuals, coded(plain.Quals, false)); err != nil {
				t.Errorf("%+v: qualities: %v", c, err)
			}
		}
	}
	empty := []byte("@\n\n+\n\n")
	got, err := bin(l, empty, Columns{Names: true, Quals: true, Coded: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := sameCoded(got.CodedNames, coded([]byte("\n"), true)); err != nil {
		t.Errorf("one empty name: %v", err)
	}
	if err := sameCoded(got.CodedQuals, coded(nil, false)); err != nil {
		t.Errorf("no qualities: %v", err)
	}
}

// TestTextSums: the sums are those of all of the text, also of what follows the records.
func TestTextSums(t *testing.T) {
	l := lane(t, open(t), 1<<16)
	rng := rand.New(rand.NewPCG(35, 1))
	for range 40 {
		records := fastq(shape{records: 1 + rng.IntN(200), shortest: 100, noNewline: rng.IntN(3) == 0}, rng)
		text := append(bytes.Clone(records), bytes.Repeat([]byte("\n"), rng.IntN(2)*rng.IntN(2*sumChunk))...)
		if err := upload(l, text); err != nil {
			t.Fatal(err)
		}
		got, err := l.Bin(len(records), len(text), Columns{}, new(Output))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.TextSums, textSums(text)) {
			t.Errorf("%d bytes, of which %d are records: the sums differ", len(text), len(records))
		}
	}
}
