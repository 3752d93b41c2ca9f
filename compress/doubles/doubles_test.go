package doubles

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"orcomgo/compress/general"
	"orcomgo/compress/numbers"
	"orcomgo/internal/codectest"
	"orcomgo/internal/testrun"
	"orcomgo/internal/testvector"
)

// raw returns the bytes of floats.
func raw(x []float64, width int) []byte {
	var b []byte
	for _, f := range x {
		if width == 8 {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
		} else {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(f)))
		}
	}
	return b
}

// waves returns the electric field of a small simulation: Maxwell's equations in two dimensions by finite differences (Yee, 1966), n by n
// cells with conducting walls, a pulse in the middle and a block of glass.
func waves(n, steps int) []float64 {
	e, hx, hy := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
	for t := range steps {
		for i := range n - 1 {
			for j := range n - 1 {
				at := i*n + j
				hx[at] -= 0.5 * (e[at+1] - e[at])
				hy[at] += 0.5 * (e[at+n] - e[at])
			}
		}
		for i := 1; i < n-1; i++ {
			for j := 1; j < n-1; j++ {
				at, c := i*n+j, 0.5
				if i > n*2/3 && j > n/4 && j < n*3/4 {
					c = 0.5 / 2.25
				}
				e[at] += c * (hy[at] - hy[at-n] - hx[at] + hx[at-1])
			}
		}
		x := (float64(t) - 75) / 25
		e[(n/2)*n+n/3] += math.Exp(-x*x) * math.Sin(float64(t)/10)
	}
	return e
}

// published returns the bytes that the published method takes: for each float the better of order 0 and order 3, a bit that says which,
// three bits for the zero bytes that the XOR with the prediction begins with, and its other bytes.
func published(x []float64) int {
	total := 0
	for i, f := range x {
		zero, cubic := 0.0, 0.0
		if i >= 1 {
			zero = x[i-1]
		}
		if i >= 4 {
			cubic = 4*(x[i-1]+x[i-3]) - 6*x[i-2] - x[i-4]
		}
		zeros := 0
		for _, p := range []float64{zero, cubic} {
			zeros = max(zeros, min(bits.LeadingZeros64(math.Float64bits(f)^math.Float64bits(p))/8, 7))
		}
		total += 4 + 8*(8-zeros)
	}
	return (total + 7) / 8
}

// loaded returns the floats of data, and their integers.
func loaded(data []byte, n numbering) *values {
	v := &values{numbering: n}
	v.room(len(data)/n.width, true)
	v.load(data)
	return v
}

func special() []float64 {
	x := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, -5e-324, math.MaxFloat64, -math.MaxFloat64}
	for _, b := range []uint64{0x7ff0000000000001, 0xfff0000000000001, 0x7ff8dead0000beef, 0xffffffffffffffff} {
		x = append(x, math.Float64frombits(b))
	}
	return x
}

func generate(n int, f func(i int) float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = f(i)
	}
	return x
}

func arrays() map[string][]float64 {
	r := rand.New(rand.NewSource(5))
	steps := 0.0
	decimals := generate(20000, func(int) float64 { return math.Round(r.NormFloat64()*1000) / 1000 })
	withNaN := append([]float64(nil), decimals...)
	withNaN[77], withNaN[5000], withNaN[19999] = math.NaN(), math.Copysign(0, -1), 1.0/3
	field := generate(900, func(int) float64 { return r.Float64() })
	return map[string][]float64{
		"empty": nil, "one": {1.5}, "zeros": make([]float64, 40000), "special": special(),
		"special and decimals": append(generate(2000, func(i int) float64 { return float64(i) / 4 }), special()...),
		"sine":                 generate(40000, func(i int) float64 { return math.Sin(float64(i) / 300) }),
		"walk":                 generate(20000, func(int) float64 { steps += r.NormFloat64(); return steps }),
		"random bits":          generate(20000, func(int) float64 { return math.Float64frombits(r.Uint64()) }),
		"decimals":             decimals, "decimals with NaN": withNaN,
		"significant digits": generate(20000, func(i int) float64 {
			var f float64
			fmt.Sscanf(fmt.Sprintf("%.8g", math.Sin(float64(i)/50)*math.Exp(float64(i%300)/100)), "%g", &f)
			return f
		}),
		"periodic": generate(6000, func(i int) float64 { return field[i%30] }),
		"ratios":   generate(40000, func(i int) float64 { return field[i/90*8%800+i%90] / (1 + float64(i/90%7)) }),
		"waves":    waves(100, 60),
	}
}

func TestRoundTrip(t *testing.T) {
	for name, x := range arrays() {
		for _, width := range []int{8, 4} {
			data := append([]byte("header"), raw(x, width)...)
			data = append(data, "end"...)
			l := Layout{Header: 6, Width: width, Floats: true}
			stream := Encode(data, l)
			if !bytes.Equal(Encode(data, l), stream) {
				t.Errorf("%s, %d bytes: the stream depends on threads", name, width)
			}
			got, err := Decode(stream, len(data))
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s, %d bytes: differs, %v", name, width, err)
			}
			if _, err := Decode(stream, len(data)-1); err != ErrCorrupt {
				t.Errorf("%s: longer than allowed: %v", name, err)
			}
		}
	}
}

// TestLayouts: integers of all widths, and elements of both byte orders, come back, and Find finds what they are and where they begin.
func TestLayouts(t *testing.T) {
	for _, l := range []Layout{
		{Width: 2}, {Width: 4}, {Width: 8}, {Width: 2, BigEndian: true}, {Width: 4, BigEndian: true},
		{Width: 4, Floats: true, BigEndian: true}, {Width: 8, Floats: true, BigEndian: true},
	} {
		data := bytes.Repeat([]byte("solver 7.1, field of pressures\n"), 8)[:129+l.Width]
		for i := range 6000 {
			f := 90 * math.Sin(float64(i)/60)
			var word [8]byte
			switch {
			case !l.Floats:
				binary.LittleEndian.PutUint64(word[:], uint64(int64(f*math.Ldexp(1, 8*l.Width-8))))
			case l.Width == 4:
				binary.LittleEndian.PutUint32(word[:], math.Float32bits(float32(f)))
			default:
				binary.LittleEndian.PutUint64(word[:], math.Float64bits(f))
			}
			data = append(data, word[:l.Width]...)
			if l.BigEndian {
				slices.Reverse(data[len(data)-l.Width:])
			}
		}
		found, share := Find(data, l.Width)
		found = found.WithHeader(data)
		if found.Width != l.Width || found.BigEndian != l.BigEndian || found.Header < 128 || found.Header > 256+l.Width || share > 0.75 {
			t.Errorf("%+v is found as %+v, with %.2f of the bytes", l, found, share)
		}
		for _, l := range []Layout{l, found} {
			if got, err := Decode(Encode(data, l), len(data)); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%+v: differs, %v", l, err)
			}
		}
	}
}

// TestRandomBits: a million floats of random bits come back, as float64 and as float32, in more than one chunk.
func TestRandomBits(t *testing.T) {
	data := make([]byte, 8_000_000)
	rand.New(rand.NewSource(6)).Read(data)
	for _, width := range []int{8, 4} {
		stream := Encode(data, Layout{Width: width, Floats: true})
		got, err := Decode(stream, len(data))
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("differs, %v", err)
		}
		if len(stream) > len(data)*103/100 {
			t.Errorf("%d bytes of %d", len(stream), len(data))
		}
	}
}

// TestOrder: integers of floats are in their order and come back.
func TestOrder(t *testing.T) {
	before, before32 := uint64(0), int64(0)
	for _, f := range []float64{math.Inf(-1), -1e300, -1, -1e-300, math.Copysign(0, -1), 0, 1e-300, 1, 1e300, math.Inf(1)} {
		b32 := math.Float32bits(float32(f))
		v, v32 := ordered(math.Float64bits(f)), numbers.OrderedFloat32(b32)
		if v <= before || v32 < before32 || bitsOf(v) != math.Float64bits(f) || numbers.Float32Bits(v32) != b32 {
			t.Errorf("%g has the integers %x and %x", f, v, v32)
		}
		before, before32 = v, v32
	}
}

// TestSignificantDigits: decimals at the ends of their ranges have integers, in their order, and come back.
func TestSignificantDigits(t *testing.T) {
	for digits := 2; digits <= 14; digits++ {
		n, before := newNumbering(modeSignificant, digits, 8), int64(0)
		least := n.base
		for exponent := max(-10, digits-1-maxDecimals); exponent < digits; exponent++ {
			for _, k := range []int64{least, least + 1, 5*least + 3, 10*least - 1} {
				f, err := strconv.ParseFloat(fmt.Sprintf("%de%d", k, exponent-digits+1), 64)
				if err != nil {
					t.Fatal(err)
				}
				v, ok := n.decimal(f)
				if minus, _ := n.decimal(-f); !ok || v <= before || n.float(v) != f || minus != -v || n.float(-v) != -f {
					t.Fatalf("%d digits: %g has the integer %d after %d", digits, f, v, before)
				}
				before = v
			}
		}
	}
}

// TestSizes: on fields of a simulation at most 0.92 of the published method, and what other arrays take.
func TestSizes(t *testing.T) {
	field := waves(160, 150)
	got, reference := len(Encode(raw(field, 8), Layout{Width: 8, Floats: true})), published(field)
	t.Logf("waves: %.3f of the data, the published method %.3f", float64(got)/float64(8*len(field)), float64(reference)/float64(8*len(field)))
	if got > reference*92/100 {
		t.Errorf("waves: %d bytes, the published method %d", got, reference)
	}
	all := arrays()
	for _, c := range []struct {
		name string
		most int
	}{{"zeros", 100}, {"decimals", 32000}, {"periodic", 1000}, {"ratios", 90000}, {"random bits", 161000}, {"significant digits", 60000}} {
		if got := len(Encode(raw(all[c.name], 8), Layout{Width: 8, Floats: true})); got > c.most {
			t.Errorf("%s: %d bytes of %d, at most %d expected", c.name, got, 8*len(all[c.name]), c.most)
		}
	}
}

// others returns the bytes that xz -9e takes, and zstd -19 after the bytes were put in planes.
func others(t *testing.T, data []byte, width int) (xz, zstd int) {
	run := func(in []byte, name string, args ...string) int {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
		c := exec.Command(name, args...)
		c.Stdin = bytes.NewReader(in)
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		return len(out)
	}
	var planes []byte
	for i := range width {
		for j := i; j < len(data); j += width {
			planes = append(planes, data[j])
		}
	}
	return run(data, "xz", "-9e", "-c"), run(planes, "zstd", "-19", "-q", "-c")
}

// readArray reads an array.
func readArray(t testing.TB, name string) ([]byte, Layout) {
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	l, _ := Find(data, 0)
	l = l.WithHeader(data)
	return data, l
}

// TestRealArrays compares the smaller of this package's and general's streams with the published method, xz, and zstd with shuffled bytes.
func TestRealArrays(t *testing.T) {
	testrun.OnlyLong(t)
	dir := testrun.Data(t)
	files, _ := filepath.Glob(filepath.Join(dir, "arrays", "*"))
	for _, f := range append(files, "waves") {
		data, l := raw(waves(400, 500), 8), Layout{Width: 8, Floats: true}
		if f != "waves" {
			data, l = readArray(t, f)
		}
		stream := Encode(data, l)
		if got, err := Decode(stream, len(data)); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: differs, %v", f, err)
		}
		xz, zstd := others(t, data[l.Header:], l.Width)
		best, line := min(xz, zstd), ""
		if l.Width == 8 {
			reference := published(loaded(data[l.Header:], numbering{width: 8}).x)
			best, line = min(best, reference), fmt.Sprintf(", published %.3f", float64(reference)/float64(len(data)))
		}
		stream = slices.MinFunc([][]byte{stream, general.Encode(data)}, func(a, b []byte) int { return len(a) - len(b) }) // as side files do
		n := float64(len(data))
		t.Logf("%s: %.3f%s, xz %.3f, zstd %.3f: %.3f of the best", filepath.Base(f), float64(len(stream))/n, line, float64(xz)/n, float64(zstd)/n,
			float64(len(stream))/float64(best))
		if len(stream) > best*92/100+600 { // the tables of codes are most of a small array
			t.Errorf("%s: %d bytes, the best of others %d", f, len(stream), best)
		}
	}
}

func TestDamage(t *testing.T) {
	data := raw(arrays()["decimals with NaN"][:400], 8)
	stream := Encode(data, Layout{Width: 8, Floats: true})
	codectest.Damage(t, data, stream, Decode)
}

func FuzzDecode(f *testing.F) {
	for _, x := range arrays() {
		f.Add(Encode(raw(x[:min(len(x), 300)], 8), Layout{Width: 8, Floats: true}))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		_, _ = Decode(stream, 1<<17)
	})
}

// FuzzRoundTrip codes any bytes as elements of any layout.
func FuzzRoundTrip(f *testing.F) {
	f.Add(raw(special(), 8), 3, true, false)
	f.Add(raw(special(), 4), 1, false, true)
	f.Add([]byte("00000001"), 3, true, true) // an exception
	f.Fuzz(func(t *testing.T, data []byte, logWidth int, floats, bigEndian bool) {
		l := Layout{Width: 1 << (logWidth & 3), Floats: floats, BigEndian: bigEndian}
		if !l.valid() {
			return
		}
		got, err := Decode(Encode(data, l), len(data))
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("differs: %v", err)
		}
	})
}

// TestVectors codes the arrays of testdata/vectors/doubles.txt and decodes them.
func TestVectors(t *testing.T) {
	testvector.Run(t, "../../testdata/vectors/doubles.txt", func(t *testing.T, v *testvector.Vector) {
		data := v.Hex(t, "data")
		l := Layout{Header: v.Int(t, "header"), Width: v.Int(t, "width"), Floats: v.Int(t, "floats") == 1, BigEndian: v.Int(t, "big-endian") == 1}
		stream := Encode(data, l)
		got, err := Decode(v.Bytes(t, "bytes", stream), len(data))
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%x, %v", got, err)
		}
	})
}

// benchmarkArrays runs f as a benchmark for a simulation and for each array of real data.
func benchmarkArrays(b *testing.B, f func(b *testing.B, data []byte, l Layout)) {
	b.Run("waves", func(b *testing.B) { f(b, raw(waves(400, 100), 8), Layout{Width: 8, Floats: true}) })
	var files []string
	if dir := os.Getenv("ORCOMGO_DATA"); dir != "" {
		files, _ = filepath.Glob(filepath.Join(dir, "arrays", "*"))
	}
	for _, name := range files {
		data, l := readArray(b, name)
		b.Run(filepath.Base(name), func(b *testing.B) { f(b, data, l) })
		for _, kB := range []int{4, 32} {
			if size := kB << 10; l.Header+2*size <= len(data) {
				part := data[l.Header+size:][:size]
				b.Run(fmt.Sprintf("%s, %d kB", filepath.Base(name), kB), func(b *testing.B) { f(b, part, Layout{Width: l.Width, Floats: l.Floats}) })
			}
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	benchmarkArrays(b, func(b *testing.B, data []byte, l Layout) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			Encode(data, l)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	benchmarkArrays(b, func(b *testing.B, data []byte, l Layout) {
		stream := Encode(data, l)
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := Decode(stream, len(data)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
