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

// all returns columns that have all rows.
func all(lists ...[]int64) []Column {
	columns := make([]Column, len(lists))
	for i, l := range lists {
		columns[i] = Column{Shape: AllRows, Values: l}
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
	asFloats := func(l []int64) Column { return Column{Shape: Shape{Given: -1, Float32: true}, Values: l} }
	someRows := Column{Shape: Shape{Given: 0, Below: 4}, Values: slices.Clone(a)}
	return map[string][]Column{
		"no columns": nil,
		"constant":   all(column(n, func(int) int64 { return -5 })),
		"line":       all(column(n, func(i int) int64 { return int64(i)*1000003 - 70 })),
		"noise":      all(a, b),
		"extremes":   all(column(n, func(i int) int64 { return []int64{MaxValue, -MaxValue, 0, 1}[i%4] })),
		"sum":        all(key, a, b, sum),
		"quotient":   all(a, b, column(n, func(i int) int64 { return a[i] * 1000 / (b[i] + 1) })),
		"floats":     {asFloats(floats), asFloats(scaled)},
		"some rows":  append(all(key), someRows),
		"new and known": all(column(n, func(i int) int64 {
			if i%3 == 0 {
				return int64(i / 3)
			}
			return r.Int63n(int64(i/3 + 1))
		})),
	}
}

// wanted are the values that Decode returns for columns.
func wanted(columns []Column) [][]int64 {
	values := make([][]int64, len(columns))
	for i := range columns {
		values[i] = filled(columns, i)
	}
	return values
}

func shapes(columns []Column) []Shape {
	list := make([]Shape, len(columns))
	for i := range columns {
		list[i] = columns[i].Shape
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
			got, err := Decode(stream, shapes(columns), n)
			if err != nil {
				t.Fatalf("%s, %d rows: %v", name, n, err)
			}
			for i, w := range wanted(columns) {
				if !slices.Equal(got[i], w) {
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
	}{{"constant", 10}, {"line", 255}, {"noise", 18200}, {"sum", 20000}, {"quotient", 20000}, {"floats", 16000}} {
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
		columns := tables(n)[[]string{"sum", "quotient", "floats", "some rows", "extremes"}[r.Intn(5)]]
		values := wanted(columns)
		i := len(columns) - 1
		tb := &table{shapes(columns), values, newLikeCache(values, n)}
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
		for range r.Intn(maxInputs + 1) {
			in := input{kind: kind(r.Intn(int(kinds))), parts: byte(r.Intn(partsAll + 1)), a: r.NormFloat64()}
			if i == 0 && in.kind != line {
				continue // there is no other column
			}
			least, most := in.kind.numRefs()
			in.refs, in.key = others(least+r.Intn(most-least+1)), others(r.Intn(maxKey+1))
			pl.inputs = append(pl.inputs, in)
		}
		// The description of the models comes back.
		rd := &parse.Cursor{Rest: pl.append(nil)}
		read := readPlan(rd, len(columns))
		if rd.Failed() || len(rd.Rest) > 0 || !bytes.Equal(read.append(nil), pl.append(nil)) {
			t.Fatalf("the plan %+v is read as %+v", pl, read)
		}
		code := tb.encode(pl, i, n)
		var stream, codes []byte
		for j := range columns {
			q, c := pl, code
			if j != i {
				q = &plan{low: slices.Min(values[j]), bits: maxBits}
				c = tb.encode(q, j, n)
			}
			stream = binary.AppendUvarint(q.append(append(stream, byte(j))), uint64(len(c)))
			codes = append(codes, c...)
		}
		stream = append(stream, codes...)
		got, err := Decode(stream, shapes(columns), n)
		if err != nil || !slices.Equal(got[i], values[i]) {
			t.Fatalf("differs: %v, %+v", err, pl)
		}
	}
}

func TestDamage(t *testing.T) {
	columns := tables(40)["sum"]
	stream := Encode(columns, nil)
	for i := range stream {
		if _, err := Decode(stream[:i], shapes(columns), 40); err == nil && i < len(stream)-3 {
			t.Fatalf("no error after %d bytes of %d", i, len(stream))
		}
		damaged := bytes.Clone(stream)
		damaged[i] ^= 1 << (i % 8)
		_, _ = Decode(damaged, shapes(columns), 40) // other values or an error
	}
	if _, err := Decode(stream, shapes(columns)[:3], 40); err != ErrCorrupt {
		t.Errorf("too few columns: %v", err)
	}
	if _, err := Decode([]byte{0, 0, 40, 0, 0, 1, 0}, []Shape{AllRows}, 1<<30); err != ErrCorrupt {
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
	columns := tables(20)["some rows"]
	f.Add(Encode(columns, nil), false)
	f.Fuzz(func(t *testing.T, stream []byte, many bool) {
		list := shapes(columns)
		if many {
			list = []Shape{AllRows, {Given: -1, Float32: true}, AllRows, {Given: 0, Below: 3}}
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
		columns[i] = Column{Shape: AllRows, Values: column(len(values)/n, func(r int) int64 { return int64(values[r*n+i]) })}
	}
	if v.Has("given") {
		columns[n-1].Given, columns[n-1].Below = v.Int(t, "given"), int64(v.Int(t, "below"))
	}
	return columns
}

// decodes fails the test if a stream does not decode to the columns.
func decodes(t *testing.T, stream []byte, columns []Column) {
	t.Helper()
	got, err := Decode(stream, shapes(columns), len(columns[0].Values))
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range wanted(columns) {
		if !slices.Equal(got[i], w) {
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
	columns := []Column{{Shape: AllRows, Values: start}, {Shape: AllRows, Values: length}, {Shape: AllRows, Values: end}}
	stream := Encode(columns, nil)
	values, err := Decode(stream, []Shape{AllRows, AllRows, AllRows}, len(start))
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
		if _, err := Decode(stream, shapes(columns), 20000); err != nil {
			b.Fatal(err)
		}
	}
}
