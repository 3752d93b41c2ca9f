package names

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"testing"
)

const bases = "ACGT"

func randomBases(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = bases[r.Intn(4)]
	}
	return string(b)
}

// encodeMate codes names of second mates in one section.
func encodeMate(names, first []byte, n int) []byte {
	return new(Encoder).Encode(names, append([]byte{}, first...), n, nil)
}

// decodeMate is the inverse of encodeMate.
func decodeMate(data, first []byte, n int, maxBytes uint64) ([]byte, error) {
	return decodePrefix(data, append([]byte{}, first...), n, n, maxBytes)
}

// decodePrefix decodes the first k of n names.
func decodePrefix(data, first []byte, n, k int, maxBytes uint64) ([]byte, error) {
	return new(Decoder).Decode(data, first, n, k, maxBytes)
}

// makers generate names of the styles met in the wild; each returns the i-th name of a first
// mate and of its second.
var makers = []struct {
	name string
	make func(r *rand.Rand) func(i int) (string, string)
}{
	{"illumina", func(r *rand.Rand) func(int) (string, string) {
		y, tile := 1000, 1101
		return func(i int) (string, string) {
			y += r.Intn(60)
			if y > 20000 {
				y, tile = 1000+r.Intn(50), tile+1
			}
			s := fmt.Sprintf("M03352:174:000000000-J3R29:1:%d:%d:%d", tile, 1000+r.Intn(28000), y)
			return s + " 1:N:0:ACTTGA", s + " 2:N:0:ACTTGA"
		}
	}},
	{"raster", func(r *rand.Rand) func(int) (string, string) {
		bx, y := 1000, 2000
		return func(i int) (string, string) {
			if y += r.Intn(25) - r.Intn(2); y >= 2250 {
				y = 2000 + r.Intn(20)
				bx += 250
			}
			s := fmt.Sprintf("HISEQ_HU01:89:H7YRLADXX:1:1101:%d:%d", bx+r.Intn(250), y)
			return s + "/1", s + "/2"
		}
	}},
	{"lattice", func(r *rand.Rand) func(int) (string, string) {
		x, y := 50, 1000
		return func(i int) (string, string) {
			if x += 1 + r.Intn(30); x > 2800 {
				x, y = 50+r.Intn(20), y+16
			}
			bc := "ACCACTGT"
			if r.Intn(9) == 0 {
				bc = randomBases(r, 8)
			}
			s := fmt.Sprintf("LH00333:7:22GKLNLT3:4:1101:%d:%d", x*185/10, y)
			return s + " 1:N:0:" + bc, s + " 2:N:0:" + bc
		}
	}},
	{"sra", func(r *rand.Rand) func(int) (string, string) {
		return func(i int) (string, string) {
			s := fmt.Sprintf("SRR12473480.%d %d length=", i+1, i+1)
			return s + fmt.Sprint(100+r.Intn(50)), s + fmt.Sprint(100+r.Intn(50))
		}
	}},
	{"repeated draw", func(r *rand.Rand) func(int) (string, string) {
		draw := rand.New(rand.NewSource(5)).Perm(40000)
		return func(i int) (string, string) {
			v := draw[i%700]
			if r.Intn(20) == 0 {
				v = r.Intn(40000)
			}
			s := fmt.Sprintf("SRR%d.%d %d", 7070+i/700, v, v)
			return s + "/1", s + "/2"
		}
	}},
	{"umi", func(r *rand.Rand) func(int) (string, string) {
		return func(i int) (string, string) {
			s := fmt.Sprintf("A00123:8:HXX:2:2204:%d:%d:%s+%s", r.Intn(30000), r.Intn(30000), randomBases(r, 8), randomBases(r, 8))
			return s + " 1:N:0:", s + " 2:Y:0:"
		}
	}},
	{"uuid", func(r *rand.Rand) func(int) (string, string) {
		return func(i int) (string, string) {
			s := fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", r.Uint32(), r.Intn(65536), r.Intn(4096), r.Intn(65536), r.Int63n(1<<48))
			return s + fmt.Sprintf(" runid=ab12 read=%d ch=%d", r.Intn(9999), r.Intn(512)), s
		}
	}},
	{"interleaved", func(r *rand.Rand) func(int) (string, string) {
		x := 0
		return func(i int) (string, string) {
			if i%2 == 0 {
				x += r.Intn(100)
			}
			return fmt.Sprintf("r%d/%d", x, 1+i%2), fmt.Sprintf("r%d/%d", x, 2-i%2)
		}
	}},
	{"padded", func(r *rand.Rand) func(int) (string, string) {
		return func(i int) (string, string) {
			return fmt.Sprintf("read_%06d_%02d", i, r.Intn(100)), fmt.Sprintf("read_%06d_%02d", i, r.Intn(100))
		}
	}},
	{"big numbers", func(r *rand.Rand) func(int) (string, string) {
		return func(i int) (string, string) {
			return fmt.Sprintf("q%d.%d%d", uint64(1)<<63+r.Uint64()>>1, r.Uint64(), r.Uint64()), fmt.Sprintf("%d", uint64(999999990+i))
		}
	}},
	{"equal", func(r *rand.Rand) func(int) (string, string) {
		return func(i int) (string, string) { return "same", "same" }
	}},
	{"empty", func(r *rand.Rand) func(int) (string, string) {
		return func(i int) (string, string) { return "", "" }
	}},
	{"many fields", func(r *rand.Rand) func(int) (string, string) {
		return func(i int) (string, string) {
			s := strings.Repeat(fmt.Sprintf("%d:a-", r.Intn(3)), 40+r.Intn(40))
			return s, s + "x"
		}
	}},
	{"many shapes", func(r *rand.Rand) func(int) (string, string) {
		return func(i int) (string, string) {
			b := make([]byte, r.Intn(12))
			for j := range b {
				b[j] = "a1:.-_ /0"[r.Intn(9)]
			}
			return string(b), string(b)
		}
	}},
	{"any bytes", func(r *rand.Rand) func(int) (string, string) {
		return func(i int) (string, string) {
			one := func() string {
				b := make([]byte, r.Intn(40))
				r.Read(b)
				return strings.ReplaceAll(string(b), "\n", "\r")
			}
			return one(), one()
		}
	}},
	{"unusual bytes", func(r *rand.Rand) func(int) (string, string) {
		return func(i int) (string, string) {
			return fmt.Sprintf("a\x00%d\xff\r", i), fmt.Sprintf("\r%d\x00", i)
		}
	}},
	{"very long", func(r *rand.Rand) func(int) (string, string) {
		return func(i int) (string, string) {
			if i%1000 != 0 {
				return "short", "short"
			}
			return strings.Repeat("long ", 13100) + fmt.Sprint(i), strings.Repeat("x", 65536)
		}
	}},
}

func generate(style, n int) (first, second []byte) {
	r := rand.New(rand.NewSource(int64(style + 1)))
	f := makers[style].make(r)
	for i := 0; i < n; i++ {
		a, b := f(i)
		first = append(append(first, a...), '\n')
		second = append(append(second, b...), '\n')
	}
	return first, second
}

func TestRoundTrip(t *testing.T) {
	for s, m := range makers {
		t.Run(m.name, func(t *testing.T) {
			for _, n := range []int{1, 2, 40, 4200} {
				first, second := generate(s, n)
				code := Encode(first, n)
				got, err := Decode(code, n, uint64(len(first)))
				if err != nil || !bytes.Equal(got, first) {
					t.Fatalf("%d names do not come back: %v", n, err)
				}
				if again := Encode(first, n); !bytes.Equal(again, code) {
					t.Fatalf("%d names give other bytes the second time", n)
				}
				mate := encodeMate(second, first, n)
				got, err = decodeMate(mate, first, n, uint64(len(second)))
				if err != nil || !bytes.Equal(got, second) {
					t.Fatalf("%d mates do not come back: %v", n, err)
				}
				k := n / 3
				if got, err = decodePrefix(code, nil, n, k, uint64(len(first))); err != nil || !bytes.Equal(got, leadingLines(first, k)) {
					t.Fatalf("the first %d of %d names do not come back: %v", k, n, err)
				}
				got, err = decodePrefix(mate, leadingLines(first, k), n, k, uint64(len(second)))
				if err != nil || !bytes.Equal(got, leadingLines(second, k)) {
					t.Fatalf("the first %d of %d mates do not come back: %v", k, n, err)
				}
				if n == 4200 {
					t.Logf("%d bytes to %d, mates %d to %d", len(first), len(code), len(second), len(mate))
				}
			}
		})
	}
}

// TestMixedStyles has all the styles in one column, in runs and one by one.
func TestMixedStyles(t *testing.T) {
	for _, run := range []int{1, 50} {
		var all []byte
		n := 0
		var lines [][][]byte
		for s := range makers {
			first, _ := generate(s, 100)
			lines = append(lines, bytes.SplitAfter(first, []byte("\n")))
		}
		for i := 0; i < 100; i += run {
			for s := range makers {
				for j := i; j < i+run; j++ {
					all = append(all, lines[s][j]...)
					n++
				}
			}
		}
		code := Encode(all, n)
		got, err := Decode(code, n, uint64(len(all)))
		if err != nil || !bytes.Equal(got, all) {
			t.Fatalf("runs of %d do not come back: %v", run, err)
		}
	}
}

func TestNoNames(t *testing.T) {
	for _, first := range [][]byte{nil, {}} {
		got, err := decodeMate(encodeMate(nil, first, 0), first, 0, 0)
		if err != nil || len(got) != 0 {
			t.Fatalf("%q, %v", got, err)
		}
	}
	if got, err := Decode(Encode(nil, 0), 0, 0); err != nil || len(got) != 0 {
		t.Fatalf("%q, %v", got, err)
	}
	if _, err := Decode(Encode(nil, 0), 1, 100); err == nil {
		t.Fatal("no names were taken for one")
	}
}

// TestCheapNames: columns with little information take few bytes.
func TestCheapNames(t *testing.T) {
	const n = 20000
	second := func(a, b string) func(int) (string, string) {
		return func(i int) (string, string) { return fmt.Sprintf(a, i*7), fmt.Sprintf(b, i*7) }
	}
	for _, c := range []struct {
		name        string
		make        func(int) (string, string)
		names, mate int
	}{
		{"counted, slash", second("SRR1.%[1]d %[1]d/1", "SRR1.%[1]d %[1]d/2"), 170, 40},
		{"casava", second("M1:%d 1:N:0:ACGT", "M1:%d 2:N:0:ACGT"), 170, 40},
		{"equal", second("ERR5.%d", "ERR5.%d"), 170, 40},
		{"underscore", second("frag%d_1", "frag%d_2"), 170, 40},
		{"one mate in a hundred differs", func(i int) (string, string) {
			s := fmt.Sprintf("x%d", i)
			if i%100 == 0 {
				return s + "/1", s + "/3"
			}
			return s + "/1", s + "/2"
		}, 170, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			var a, b []byte
			for i := 0; i < n; i++ {
				x, y := c.make(i)
				a, b = append(append(a, x...), '\n'), append(append(b, y...), '\n')
			}
			if k := len(Encode(a, n)); k > c.names {
				t.Errorf("first mates take %d bytes, want at most %d", k, c.names)
			}
			if k := len(encodeMate(b, a, n)); k > c.mate {
				t.Errorf("second mates take %d bytes, want at most %d", k, c.mate)
			}
		})
	}
}

// TestRandomNumbers: uniformly distributed numbers cost little more than their entropy.
func TestRandomNumbers(t *testing.T) {
	const n, limit = 100000, 50000000 // 25.58 bits each
	r := rand.New(rand.NewSource(3))
	var a []byte
	for i := 0; i < n; i++ {
		a = fmt.Appendf(a, "SRR6357070.%[1]d %[1]d/1\n", 1+r.Intn(limit))
	}
	floor := n * 2558 / 800
	if k := len(Encode(a, n)); k > floor+floor/200+500 {
		t.Errorf("%d bytes, the draw itself is %d", k, floor)
	}
}

func TestDamageIsNoticedOrHarmless(t *testing.T) {
	for s := range makers {
		first, second := generate(s, 300)
		code := Encode(first, 300)
		mate := encodeMate(second, first, 300)
		r := rand.New(rand.NewSource(9))
		for i := 0; i < 18; i++ {
			for k, c := range [][]byte{code, mate} {
				bad := bytes.Clone(c)
				switch i % 3 {
				case 0:
					bad = bad[:r.Intn(len(bad))]
				case 1:
					bad[r.Intn(len(bad))] ^= byte(1 + r.Intn(255))
				case 2:
					bad = append(bad, byte(i), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
				}
				var got []byte
				var err error
				if k == 0 {
					got, err = Decode(bad, 300, 1<<20)
				} else {
					got, err = decodeMate(bad, first, 300, 1<<20)
				}
				if err != nil && !errors.Is(err, ErrCorrupt) {
					t.Fatalf("error %v is not ErrCorrupt", err)
				}
				if err == nil && bytes.Count(got, []byte("\n")) != 300 {
					t.Fatalf("%d names, want 300", bytes.Count(got, []byte("\n")))
				}
			}
		}
	}
}

func TestLimitsAreKept(t *testing.T) {
	first, _ := generate(0, 100)
	code := Encode(first, 100)
	if _, err := Decode(code, 100, uint64(len(first)-1)); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("more than maxBytes: %v", err)
	}
	for _, n := range []int{0, 1, 99, 101, 1 << 40, -1} {
		if _, err := Decode(code, n, uint64(len(first))); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%d names of 100: %v", n, err)
		}
	}
	mate := encodeMate(first, first, 100)
	if _, err := decodeMate(mate, first[:len(first)/2], 100, 1<<20); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("half of the first mates: %v", err)
	}
}

// leadingLines returns the first k lines of names, which has as many.
func leadingLines(names []byte, k int) []byte {
	at := 0
	for range k {
		at += lineLen(names[at:])
	}
	return names[:at]
}

func lines(text []byte) int { return bytes.Count(text, []byte("\n")) }

func FuzzRoundTrip(f *testing.F) {
	for s := range makers {
		if a, b := generate(s, 8); len(a) < 4096 {
			f.Add(a, b)
		}
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		a = append(bytes.TrimRight(a, "\n"), '\n')
		b = append(bytes.TrimRight(b, "\n"), '\n')
		n := lines(a)
		got, err := Decode(Encode(a, n), n, uint64(len(a)))
		if err != nil || !bytes.Equal(got, a) {
			t.Fatalf("%q became %q, %v", a, got, err)
		}
		for lines(b) < n {
			b = append(b, '\n')
		}
		for lines(b) > n {
			b = b[:bytes.LastIndexByte(b[:len(b)-1], '\n')+1]
		}
		got, err = decodeMate(encodeMate(b, a, n), a, n, uint64(len(b)))
		if err != nil || !bytes.Equal(got, b) {
			t.Fatalf("mates %q of %q became %q, %v", b, a, got, err)
		}
	})
}

func FuzzDecode(f *testing.F) {
	for s := range makers {
		a, _ := generate(s, 20)
		f.Add(Encode(a, 20), 20)
	}
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		const most = 1 << 16
		got, err := Decode(data, n, most)
		if err == nil && (len(got) > most || lines(got) != n) {
			t.Fatalf("%d bytes, %d names of %d", len(got), lines(got), n)
		}
	})
}

func FuzzDecodeMate(f *testing.F) {
	for s := range makers {
		a, b := generate(s, 20)
		f.Add(encodeMate(b, a, 20), a, 20)
	}
	f.Fuzz(func(t *testing.T, data, first []byte, n int) {
		const most = 1 << 16
		got, err := decodeMate(data, first, n, most)
		if err == nil && (len(got) > most || lines(got) != n) {
			t.Fatalf("%d bytes, %d names of %d", len(got), lines(got), n)
		}
	})
}

func benchmark(b *testing.B, names, first []byte, n int) {
	encode := func() []byte { return Encode(names, n) }
	decode := func(code []byte) { Decode(code, n, uint64(len(names))) }
	if first != nil {
		encode = func() []byte { return encodeMate(names, first, n) }
		decode = func(code []byte) { decodeMate(code, first, n, uint64(len(names))) }
	}
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(int64(len(names)))
		for i := 0; i < b.N; i++ {
			encode()
		}
	})
	code := encode()
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(len(names)))
		for i := 0; i < b.N; i++ {
			decode(code)
		}
	})
}

func BenchmarkNames(b *testing.B) {
	const n = 50000
	for _, s := range []int{0, 1, 2, 3, 5, 6} {
		names, _ := generate(s, n)
		b.Run(makers[s].name, func(b *testing.B) { benchmark(b, names, nil, n) })
	}
}

func BenchmarkMates(b *testing.B) {
	const n = 50000
	first, second := generate(0, n)
	benchmark(b, second, first, n)
}

// TestDecimals: numbers are printed and cut as package fmt does it, with any zeros before them and any bytes after them.
func TestDecimals(t *testing.T) {
	r := rand.New(rand.NewSource(8))
	for i := range 200000 {
		v, width := r.Uint32()>>r.Intn(32), r.Intn(11)-1
		if i < 20000 {
			v = uint32(i)
		}
		want := fmt.Sprintf("%0*d", max(width, 0), v)
		text := appendNumber([]byte("x"), v, width)
		if string(text) != "x"+want {
			t.Fatalf("%d in %d digits is %q", v, width, text)
		}
		var f field
		after := byte(r.Intn(256))
		for after-'0' <= 9 || byteClass[after] == classLetter {
			after++
		}
		if text = append(text, after, '7', '7', '7', '7', '7', '7', '7', '7'); len(want) > maxDigits {
			continue
		}
		if f.cut(text, 1); f.val != v || int(f.to) != 1+len(want) {
			t.Fatalf("of %q %d is cut, to %d", text, f.val, f.to)
		}
	}
}
