package doubles

import (
	"bytes"
	"math"
	"math/bits"
	"math/rand"
	"slices"
	"testing"
)

// classLists are classes as blocks leave them, and others.
func classLists() map[string][]byte {
	r := rand.New(rand.NewSource(11))
	list := func(n int, f func(i int) byte) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = f(i)
		}
		return b
	}
	return map[string][]byte{
		"one": {64}, "constant": list(5000, func(int) byte { return 0 }),
		"all":    list(9000, func(int) byte { return byte(r.Intn(65)) | byte(r.Intn(2))<<7 }),
		"normal": list(9000, func(int) byte { return byte(min(max(30+4*r.NormFloat64(), 0), 64)) }),
		"rows":   list(9000, func(i int) byte { return byte(i % 20 * 3) }),
		"runs":   list(9000, func(i int) byte { return byte(i / 500) }),
	}
}

// TestClasses: classes come back, and take no more than a few percent more than what their order-0 entropy says.
func TestClasses(t *testing.T) {
	var e classEncoder
	var d classDecoder
	for name, classes := range classLists() {
		code := bytes.Clone(e.encode(classes))
		got := make([]byte, len(classes))
		if err := d.decode(got, code); err != nil || !bytes.Equal(got, classes) {
			t.Errorf("%s: differs, %v", name, err)
		}
		var counts [256]float64
		for _, c := range classes {
			counts[c]++
		}
		entropy := 0.0
		for _, c := range counts {
			if c > 0 {
				entropy += c * math.Log2(float64(len(classes))/c) / 8
			}
		}
		t.Logf("%s: %d bytes, entropy %.0f", name, len(code), entropy)
		if float64(len(code)) > 1.15*entropy+100 {
			t.Errorf("%s: %d bytes, but the entropy is %.0f", name, len(code), entropy)
		}
		if err := d.decode(got, code[:len(code)-1]); err == nil {
			t.Errorf("%s: no error after the code was cut", name)
		}
		if err := d.decode(got, append(code, 0, 0)); err == nil {
			t.Errorf("%s: no error though there is more code", name)
		}
	}
}

// TestClassModel compares the lanes of a context with counts that are kept one by one.
func TestClassModel(t *testing.T) {
	r := rand.New(rand.NewSource(12))
	m := newContext
	counts, escape := []int(nil), countStep
	var symbols []byte
	for i := range 20000 {
		symbol := byte(min(math.Abs(r.NormFloat64())*float64(i/1000), 200))
		lane := slices.Index(symbols, symbol)
		switch found := m.find(symbol); {
		case lane >= 0 && found != lane, lane < 0 && found < len(symbols):
			t.Fatalf("symbol %d is in lane %d instead of %d", symbol, found, lane)
		case lane >= 0:
			counts[lane] += countStep
			m.count(lane)
		case len(symbols) < contextSymbols:
			symbols, counts = append(symbols, symbol), append(counts, countStep)
			m.insert(symbol)
		default:
			escape += countStep
			m.insert(symbol)
		}
		total := escape
		for _, c := range counts {
			total += c
		}
		if total > mostCounts {
			start, after := 0, 0
			for j, c := range counts {
				start += c
				counts[j], after = (start+j+1)/2-after, (start+j+1)/2
			}
			total = (total + len(counts) + 1) / 2
			escape = total - after
		}
		if int(m.total) != total {
			t.Fatalf("the counts are %d together instead of %d", m.total, total)
		}
		shift := 8 - bits.Len(uint(total))
		factor := 65536/(total<<shift) - 256
		before, at := 0, 0
		for lane, c := range append(slices.Clone(counts), escape) {
			at += c
			end := at << shift
			if end += end * factor / 256; lane == len(counts) {
				end = 256
			}
			start, size := m.lastInterval()
			if lane < len(counts) {
				start, size = m.interval(lane)
			}
			if int(start) != before || int(start+size) != end || size == 0 {
				t.Fatalf("lane %d has slots %d to %d instead of %d to %d", lane, start, start+size, before, end)
			}
			for _, slot := range []int{before, end - 1} {
				if got := m.laneOf(uint64(slot)); min(got, len(counts)) != lane {
					t.Fatalf("slot %d is in lane %d instead of %d", slot, got, lane)
				}
			}
			before = end
		}
	}
}

// TestFrequentLags: the length of rows is found where rows are the same, or differ by a constant or a factor, and have noise.
func TestFrequentLags(t *testing.T) {
	r := rand.New(rand.NewSource(14))
	row := generate(77, func(int) float64 { return math.Exp(r.NormFloat64()) })
	for name, f := range map[string]func(row int, x float64) float64{
		"same": func(_ int, x float64) float64 { return x }, "constant": func(row int, x float64) float64 { return x + 0.01*float64(row) },
		"factor": func(row int, x float64) float64 { return x * (1 + float64(row)/7) },
	} {
		for _, width := range []int{4, 8} {
			data := raw(generate(3000, func(i int) float64 { return f(i/77, row[i%77]) * (1 + 1e-4*r.Float64()) }), width)
			w := &workspace{}
			v := &values{numbering: newNumbering(modeBits, 0, width)}
			v.load(data, w)
			v.loadBits(data, w)
			if lags := w.frequentLags(v, len(v.x)/4); !slices.ContainsFunc(lags, func(l int) bool { return l%77 == 0 }) {
				t.Errorf("%s, %d bytes: lags %d", name, width, lags)
			}
		}
	}
}

// TestFewSizes: arrays of few values take at most 1 % more than when each block was coded by itself.
func TestFewSizes(t *testing.T) {
	field := raw(waves(160, 150), 8)
	for _, c := range []struct{ values, most int }{{500, 1751}, {2000, 8744}, {8000, 41293}} {
		got := len(Encode(field[:8*c.values], Layout{Width: 8, Columns: 160}, 1))
		t.Logf("%d values: %d bytes", c.values, got)
		if got > c.most {
			t.Errorf("%d values: %d bytes, at most %d expected", c.values, got, c.most)
		}
	}
	if got := len(Encode(make([]byte, 32768), Layout{Width: 8}, 1)); got > 45 {
		t.Errorf("zeros: %d bytes", got)
	}
}
