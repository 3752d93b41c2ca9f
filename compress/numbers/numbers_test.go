package numbers

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"

	rc "orcomgo/compress/rangecoder"
	"orcomgo/internal/tasks"
	"orcomgo/internal/testvector"

	"orcomgo/bins/parse"
)

// all returns columns of integers.
func all(lists ...[]int64) []Column {
	columns := make([]Column, len(lists))
	for i, l := range lists {
		columns[i] = Column{Values: l}
	}
	return columns
}

// column returns a column of n values of f.
func column(n int, f func(r int) int64) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = f(i)
	}
	return list
}

// tables returns tables of n rows whose columns follow from each other in one way or another.
func tables(n int) map[string][]Column {
	r := rand.New(rand.NewSource(3))
	noise := func(bits int) []int64 { return column(n, func(int) int64 { return r.Int63n(1 << bits) }) }
	a, b, key := noise(16), noise(20), noise(3)
	total := map[int64]int64{}
	for _, k := range key {
		total[k] = 1 << 22
	}
	sum := column(n, func(i int) int64 { return total[key[i]] - a[i] - b[i] })
	floats := column(n, func(int) int64 { return OrderedFloat32(math.Float32bits(float32(r.NormFloat64()))) })
	scaled := column(n, func(i int) int64 {
		return OrderedFloat32(math.Float32bits(math.Float32frombits(Float32Bits(floats[i])) * 5.5))
	})
	asFloats := func(l []int64) Column { return Column{Float32: true, Values: l} }
	return map[string][]Column{
		"no columns": nil,
		"constant":   all(column(n, func(int) int64 { return -5 })),
		"line":       all(column(n, func(i int) int64 { return int64(i)*1000003 - 70 })),
		"noise":      all(a, b),
		"extremes":   all(column(n, func(i int) int64 { return []int64{MaxValue, -MaxValue, 0, 1}[i%4] })),
		"sum":        all(key, a, b, sum),
		"quotient":   all(a, b, column(n, func(i int) int64 { return a[i] * 1000 / (b[i] + 1) })),
		"floats":     {asFloats(floats), asFloats(scaled)},
		"new and known": all(column(n, func(i int) int64 {
			if i%3 == 0 {
				return int64(i / 3)
			}
			return r.Int63n(int64(i/3 + 1))
		})),
	}
}

// floats returns which columns are Float32.
func floats(columns []Column) []bool {
	list := make([]bool, len(columns))
	for i := range columns {
		list[i] = columns[i].Float32
	}
	return list
}

func TestRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 2, 50, 1500} {
		for name, columns := range tables(n) {
			stream := Encode(columns, nil)
			if !bytes.Equal(Encode(columns, tasks.NewPool(2)), stream) {
				t.Errorf("%s, %d rows: the stream depends on threads", name, n)
			}
			got, err := Decode(stream, floats(columns), n)
			if err != nil {
				t.Fatalf("%s, %d rows: %v", name, n, err)
			}
			for i, c := range columns {
				if !slices.Equal(got[i], c.Values) {
					t.Fatalf("%s, %d rows: column %d differs", name, n, i)
				}
			}
		}
	}
}

// TestSizes: what the models reach, so that a change that loses is noticed.
func TestSizes(t *testing.T) {
	all := tables(4000)
	for _, c := range []struct {
		name string
		most int
	}{{"constant", 10}, {"line", 340}, {"noise", 18200}, {"sum", 20000}, {"quotient", 20000}, {"floats", 16000}} {
		if got := len(Encode(all[c.name], tasks.NewPool(1))); got > c.most {
			t.Errorf("%s: %d bytes, at most %d expected", c.name, got, c.most)
		}
	}
}

// TestModels codes columns by random models, also such as the encoder does not choose.
func TestModels(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	const n = 60
	for range 300 {
		columns := tables(n)[[]string{"sum", "quotient", "floats", "extremes"}[r.Intn(4)]]
		values := make([][]int64, len(columns))
		for j, c := range columns {
			values[j] = c.Values
		}
		i := len(columns) - 1
		tb := newTable(floats(columns), values, n)
		high, low := slices.Max(values[i]), slices.Min(values[i])
		pl := &plan{low: low, bits: 1}
		for int64(1)<<pl.bits <= high-low {
			pl.bits++
		}
		others := func(k int) []int {
			list := make([]int, k)
			for j := range list {
				list[j] = r.Intn(max(i, 1))
			}
			return list
		}
		for range r.Intn(2) {
			m := model{kind: kind(r.Intn(int(kinds))), factor: r.NormFloat64()}
			if i == 0 && m.kind != line {
				continue // there is no other column
			}
			least, most := m.kind.numRefs()
			m.refs, m.key = others(least+r.Intn(most-least+1)), others(r.Intn(maxKey+1))
			pl.model = &m
		}
		// The description of the models comes back.
		rd := &parse.Cursor{Rest: bytesOf(pl)}
		read := new(plan)
		read.code(&parse.Fields{In: rd}, len(columns))
		if rd.Failed() || len(rd.Rest) > 0 || !bytes.Equal(bytesOf(read), bytesOf(pl)) {
			t.Fatalf("the plan %+v is read as %+v", pl, read)
		}
		code := tb.encode(pl, i, 0, n)
		var stream, codes []byte
		for j := range columns {
			q, c := pl, code
			if j != i {
				q = &plan{low: slices.Min(values[j]), bits: maxBits}
				c = tb.encode(q, j, 0, n)
			}
			stream = binary.AppendUvarint(append(append(stream, byte(j)), bytesOf(q)...), uint64(len(c)))
			codes = append(codes, c...)
		}
		stream = append(stream, codes...)
		got, err := Decode(stream, floats(columns), n)
		if err != nil || !slices.Equal(got[i], values[i]) {
			t.Fatalf("differs: %v, %+v", err, pl)
		}
	}
}

func TestDamage(t *testing.T) {
	columns := tables(40)["sum"]
	stream := Encode(columns, nil)
	for i := range stream {
		if _, err := Decode(stream[:i], floats(columns), 40); err == nil && i < len(stream)-3 {
			t.Fatalf("no error after %d bytes of %d", i, len(stream))
		}
		damaged := bytes.Clone(stream)
		damaged[i] ^= 1 << (i % 8)
		_, _ = Decode(damaged, floats(columns), 40) // other values or an error
	}
	if _, err := Decode(stream, floats(columns)[:3], 40); err != ErrCorrupt {
		t.Errorf("too few columns: %v", err)
	}
	if _, err := Decode([]byte{0, 0, 40, 0, 0, 1, 0}, []bool{false}, 1<<30); err != ErrCorrupt {
		t.Errorf("too many rows for a stream: %v", err)
	}
}

func TestPanics(t *testing.T) {
	for name, columns := range map[string][]Column{"lengths": all([]int64{1}, []int64{1, 2}), "too large": all([]int64{MaxValue + 1})} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			Encode(columns, nil)
		}()
	}
}

func TestLog2(t *testing.T) {
	for x := 1e-9; x < 1e18; x *= 1.0137 {
		if e := Log2(x) - math.Log2(x); e > 0.002 || e < -0.002 {
			t.Fatalf("Log2(%g) = %g, want %g", x, Log2(x), math.Log2(x))
		}
	}
}

func FuzzDecode(f *testing.F) {
	for name, columns := range tables(20) {
		if len(columns) == 4 {
			f.Add(Encode(columns, nil), name == "sum")
		}
	}
	columns := tables(20)["sum"][:2]
	f.Add(Encode(columns, nil), false)
	f.Fuzz(func(t *testing.T, stream []byte, many bool) {
		list := floats(columns)
		if many {
			list = []bool{false, true, false, true}
		}
		_, _ = Decode(stream, list, 50)
	})
}

// TestVectors codes the tables of testdata/vectors/numbers.txt and decodes them.
func TestVectors(t *testing.T) {
	testvector.Run(t, "../../testdata/vectors/numbers.txt", func(t *testing.T, v *testvector.Vector) {
		columns := columnsOf(t, v)
		decodes(t, v.Bytes(t, "bytes", Encode(columns, nil)), columns)
	})
}

// columnsOf returns the columns of a vector.
func columnsOf(t *testing.T, v *testvector.Vector) []Column {
	n := v.Int(t, "columns")
	values := v.Signed(t, "values")
	columns := make([]Column, n)
	for i := range columns {
		columns[i] = Column{Values: column(len(values)/n, func(r int) int64 { return int64(values[r*n+i]) })}
	}
	return columns
}

// decodes fails the test if a stream does not decode to the columns.
func decodes(t *testing.T, stream []byte, columns []Column) {
	t.Helper()
	got, err := Decode(stream, floats(columns), len(columns[0].Values))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range columns {
		if !slices.Equal(got[i], c.Values) {
			t.Errorf("column %d differs", i)
		}
	}
}

// TestSureRows: rows that take hardly any bits are not more than a reader takes for the bytes of their code.
func TestSureRows(t *testing.T) {
	columns := all(column(3_000_000, func(r int) int64 { return int64(rc.BitOf(r == 0)) }))
	stream := Encode(columns, nil)
	decodes(t, stream, columns)
	if len(stream) > 330 {
		t.Errorf("%d bytes", len(stream))
	}
}

func Example() {
	start, length := []int64{3, 14, 15, 92, 65, 35}, []int64{10, 20, 30, 40, 50, 60}
	end := make([]int64, len(start))
	for i := range end {
		end[i] = start[i] + length[i]
	}
	columns := []Column{{Values: start}, {Values: length}, {Values: end}}
	stream := Encode(columns, nil)
	values, err := Decode(stream, make([]bool, 3), len(start))
	fmt.Println(values[2], err)
	// Output: [13 34 45 132 115 95] <nil>
}

func benchmarkTable() ([]Column, int64) {
	const n = 20000
	return tables(n)["sum"], 4 * 8 * n
}

func BenchmarkEncode(b *testing.B) {
	columns, size := benchmarkTable()
	b.SetBytes(size)
	for b.Loop() {
		Encode(columns, nil)
	}
}

func BenchmarkDecode(b *testing.B) {
	columns, size := benchmarkTable()
	stream := Encode(columns, nil)
	b.SetBytes(size)
	for b.Loop() {
		if _, err := Decode(stream, floats(columns), 20000); err != nil {
			b.Fatal(err)
		}
	}
}

// bytesOf returns the description of a plan.
func bytesOf(p *plan) []byte {
	var f parse.Fields
	p.code(&f, MaxColumns)
	return f.Out
}
