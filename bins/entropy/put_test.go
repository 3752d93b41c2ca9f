package entropy

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestPutBoth compares the codes of two parts that are stored side by side with those stored one by one.
func TestPutBoth(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	var table [pairTable]uint16
	for before := range 128 {
		for symbol := range 128 {
			length := rng.IntN(maxLength + 1)
			table[pairIndex(uint8(before), uint8(symbol))] = entry(uint16(rng.IntN(1<<length)), uint8(length))
		}
	}
	longest := func(length uint8) {
		for i := range table {
			table[i] = entry(1<<length-1, length)
		}
	}
	for n := 1; n < 400; n++ {
		switch n {
		case 200:
			longest(maxLength)
		case 300:
			longest(0)
		}
		var symbols, out [2][]byte
		var want [2][]byte
		for i := range symbols {
			symbols[i] = make([]byte, max(1, n-rng.IntN(5)))
			for j := range symbols[i] {
				symbols[i][j] = byte(rng.IntN(128))
			}
			bits := 0
			for j := 1; j < len(symbols[i]); j++ {
				bits += int(table[pairIndex(symbols[i][j-1], symbols[i][j])] & (1<<lengthBits - 1))
			}
			size := (bits + 7) / 8
			out[i] = bytes.Repeat([]byte{0xee}, size+8+16)
			want[i] = make([]byte, size+8)
			putOrder1(want[i], symbols[i], &table, partBits{})
			want[i] = want[i][:size]
		}
		putBothOrder1([2][]byte{out[0][:len(want[0])+8], out[1][:len(want[1])+8]}, symbols, &table)
		for i := range out {
			if !bytes.Equal(out[i][:len(want[i])], want[i]) {
				t.Fatalf("%d symbols, part %d: other bytes", len(symbols[i]), i)
			}
			if len(bytes.Trim(out[i][len(want[i])+8:], "\xee")) > 0 {
				t.Fatalf("%d symbols, part %d: more than eight bytes after them changed", len(symbols[i]), i)
			}
		}
	}
}

// BenchmarkPut stores the codes of two parts side by side, and one by one.
func BenchmarkPut(b *testing.B) {
	data := benchData("ENTROPY_QUALITIES", benchQualities)
	e := new(Encoder)
	e.AppendStream(nil, data, true) // makes the codes
	symbols := [2][]byte{data[:len(data)/2], data[len(data)/2:]}
	out := [2][]byte{make([]byte, 2*len(data)), make([]byte, 2*len(data))}
	b.Run("both", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			putBothOrder1(out, symbols, &e.codes1)
		}
	})
	b.Run("one by one", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			for i := range symbols {
				putOrder1(out[i], symbols[i], &e.codes1, partBits{})
			}
		}
	})
}
