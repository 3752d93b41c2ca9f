//go:build cuda

package doubles

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
)

// TestOnGPU compares what the GPU of this machine computes with the CPU.
func TestOnGPU(t *testing.T) {
	dev, err := openBackend()
	if err != nil {
		t.Skip(err)
	}
	defer dev.close()
	c, err := dev.newCoder()
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range chunkCases() {
		n := len(x.data) / x.width
		blocks := allPairs(n, x.m)
		got, err := c.residuals(x.data, x.m, x.width, blocks)
		if err != nil {
			t.Fatal(err)
		}
		sameLeftOvers(t, name, blocks, got, onCPU(x.data, x.m, x.width, blocks))
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	g, err := OpenGPU(func(line string) { t.Error(line) })
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range arrays() {
		for _, width := range []int{8, 4} {
			data, l := raw(x, width), Layout{Width: width}
			if !bytes.Equal(g.Encode(data, l, 2), Encode(data, l, 2)) {
				t.Errorf("%s, %d bytes a value: another stream", name, width)
			}
		}
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
}

// chunkCases are chunks for coders, with blocks of all predictors: values as a coder takes them, and their mode and width.
func chunkCases() map[string]struct {
	data  []byte
	m     mode
	width int
} {
	type chunk = struct {
		data  []byte
		m     mode
		width int
	}
	all := map[string]chunk{}
	for _, name := range []string{"sine", "walk", "random bits", "ratios", "waves", "zeros"} {
		x := arrays()[name]
		copy(x[100:], special())
		all[name+", float64"], all[name+", float32"] = chunk{raw(x, 8), modeBits, 8}, chunk{raw(x, 4), modeBits, 4}
		var k []byte
		for _, f := range x {
			k = binary.LittleEndian.AppendUint64(k, math.Float64bits(f)>>10) // as integers
		}
		all[name+", integers"] = chunk{k, modeDecimals, 8}
	}
	return all
}

// allPairs returns blocks of a chunk of n values, of different lengths, which have all pairs of kinds.
func allPairs(n int, m mode) []block {
	kinds := int(kinds)
	if m != modeBits {
		kinds = int(ratio) // integers have none
	}
	var blocks []block
	first := 0
	for k := 0; first < n; k++ {
		count := min(1+k*37%700, n-first)
		if k%50 == 7 {
			count = min(blockValues, n-first)
		}
		p := predictor{kind(k % kinds), 1 + k%3*60}
		q := predictor{kind(k / kinds % kinds), 1 + k%5*11}
		if k%9 == 0 {
			q = p
		}
		blocks = append(blocks, block{first, count, [2]predictor{p, q}})
		first += count
	}
	return blocks
}

// sameLeftOvers compares what a coder returns with what it should.
func sameLeftOvers(t *testing.T, name string, blocks []block, got, want []leftOver) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d blocks of %d", name, len(got), len(want))
	}
	for i, w := range want {
		if g := got[i]; !bytes.Equal(g.classes, w.classes) || !bytes.Equal(g.bits, w.bits) {
			j := 0
			for j < len(w.classes) && g.classes[j] == w.classes[j] {
				j++
			}
			t.Fatalf("%s: block %d, %+v: differs at value %d; %d bytes, %d wanted", name, i, blocks[i], j,
				len(g.bits), len(w.bits))
		}
	}
}
