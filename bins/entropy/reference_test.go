package entropy

import (
	"bytes"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// referenceStreams is split as docs/FORMAT.md says it, without any shortcut.
func referenceStreams(chunk []byte) (n nameStreams) {
	lines := bytes.SplitAfter(chunk, []byte{'\n'})
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	var before [][]byte
	for _, line := range lines {
		var tokens [][]byte
		for rest := bytes.TrimSuffix(line, []byte{'\n'}); len(rest) > 0; {
			n := 1
			for n < len(rest) && isDigit(rest[n]) == isDigit(rest[0]) {
				n++
			}
			if len(tokens) == 15 {
				n = len(rest)
			}
			tokens, rest = append(tokens, rest[:n]), rest[n:]
		}
		differ := 0
		for k, t := range tokens {
			if k < len(before) && bytes.Equal(t, before[k]) {
				continue
			}
			differ |= 1 << k
			if d, ok := referenceDelta(k, t, before); ok {
				n[streamKinds] = append(n[streamKinds], uint8(d))
				continue
			}
			if len(t) < 127 {
				n[streamKinds] = append(n[streamKinds], uint8(128+len(t)))
			} else {
				n[streamKinds] = append(n[streamKinds], 255, uint8(len(t)), uint8(len(t)>>8), uint8(len(t)>>16))
			}
			n[streamLiterals] = append(n[streamLiterals], t...)
		}
		n[streamCounts] = append(n[streamCounts], uint8(len(tokens)))
		n[streamLow] = append(n[streamLow], uint8(differ))
		n[streamHigh] = append(n[streamHigh], uint8(differ>>8))
		before = tokens
	}
	return n
}

func referenceDelta(k int, text []byte, before [][]byte) (int64, bool) {
	if k > 14 || k >= len(before) {
		return 0, false
	}
	old := before[k]
	a, ok1 := new(big.Int).SetString(string(old), 10)
	b, ok2 := new(big.Int).SetString(string(text), 10)
	if !ok1 || !ok2 || !isDigit(old[0]) || !isDigit(text[0]) || len(old) > 9 || len(text) != max(len(old), len(b.String())) {
		return 0, false
	}
	d := new(big.Int).Sub(b, a)
	return d.Int64(), d.IsInt64() && d.Int64() >= 1 && d.Int64() <= 127
}

// nameLike returns names of which neighbours resemble each other in many ways.
func nameLike(rng *rand.Rand, lines int) []byte {
	pieces := []string{"SRR", "_", ":", " ", "x", "/", "é", "\xff", "."}
	var fields []string
	var b []byte
	for range lines {
		if len(fields) == 0 || rng.IntN(20) == 0 {
			fields = fields[:0]
			for range rng.IntN(24) {
				if rng.IntN(2) == 0 {
					fields = append(fields, pieces[rng.IntN(len(pieces))])
				} else {
					fields = append(fields, fmt.Sprintf("%0*d", rng.IntN(12), rng.Uint64()>>rng.IntN(64)))
				}
			}
		}
		for range rng.IntN(3) {
			if len(fields) == 0 {
				break
			}
			k := rng.IntN(len(fields))
			if v, ok := new(big.Int).SetString(fields[k], 10); ok && rng.IntN(4) > 0 {
				fields[k] = fmt.Sprintf("%0*d", max(len(fields[k])-rng.IntN(2), 0), v.Add(v, big.NewInt(int64(rng.IntN(140)-6))))
			} else {
				fields[k] = pieces[rng.IntN(len(pieces))]
			}
		}
		for _, f := range fields {
			b = append(b, f...)
		}
		b = append(b, '\n')
	}
	return b[:len(b)-rng.IntN(min(len(b), 30))]
}

func TestNamesReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	numbers := 0
	for range 600 {
		chunk := nameLike(rng, 1+rng.IntN(200))
		want := referenceStreams(chunk)
		stored := namesRoundTrip(t, chunk)
		for i := range want {
			if !bytes.Equal(e.names[i], want[i]) {
				t.Fatalf("%q: stream %d is %v, want %v", chunk, i, e.names[i], want[i])
			}
		}
		for _, k := range want[streamKinds] {
			if k < 128 {
				numbers++
			}
		}
		if again := e.AppendNames(nil, slices.Clone(chunk)); !bytes.Equal(again, stored) {
			t.Fatal("the same names have other bytes the second time")
		}
	}
	if numbers < 1000 {
		t.Errorf("only %d numbers", numbers)
	}
}

// referenceLengths is codeBuilder.lengths as docs/FORMAT.md says it, with trees of pointers.
func referenceLengths(counts []uint32) []uint8 {
	type node struct {
		weight   uint64
		children [2]*node
		symbol   int
	}
	lengths := make([]uint8, len(counts))
	var leaves, inner []*node
	for s, c := range counts {
		if c > 0 {
			leaves = append(leaves, &node{weight: uint64(c), symbol: s})
		}
	}
	slices.SortStableFunc(leaves, func(a, b *node) int { return int(a.weight) - int(b.weight) })
	sorted := slices.Clone(leaves)
	switch len(leaves) {
	case 0:
		return lengths
	case 1:
		lengths[leaves[0].symbol] = 15
		return lengths
	}
	for len(leaves)+len(inner) > 1 {
		var taken [2]*node
		for i := range taken {
			from := &leaves
			if len(leaves) == 0 || len(inner) > 0 && inner[0].weight < leaves[0].weight {
				from = &inner
			}
			taken[i], *from = (*from)[0], (*from)[1:]
		}
		inner = append(inner, &node{weight: taken[0].weight + taken[1].weight, children: taken, symbol: -1})
	}
	number := make([]int, 11)
	var walk func(n *node, depth int)
	walk = func(n *node, depth int) {
		if n.symbol >= 0 {
			number[min(depth, 10)]++
			return
		}
		walk(n.children[0], depth+1)
		walk(n.children[1], depth+1)
	}
	walk(inner[0], 0)
	k := 0
	for l := 1; l <= 10; l++ {
		k += number[l] << (10 - l)
	}
	for k > 1024 {
		l := 9
		for number[l] == 0 {
			l--
		}
		number[l]--
		number[l+1]++
		k -= 1 << (9 - l)
	}
	for l := 10; l > 0; l-- {
		for range number[l] {
			lengths[sorted[0].symbol] = uint8(l)
			sorted = sorted[1:]
		}
	}
	return lengths
}

func TestCodeLengths(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	var b codeBuilder
	long := 0
	for range 3000 {
		counts := make([]uint32, 1+rng.IntN(256))
		shift := rng.IntN(31)
		for i := range counts {
			counts[i] = rng.Uint32() >> 2 >> (rng.IntN(shift + 1)) >> rng.IntN(30)
		}
		got := make([]uint8, len(counts))
		b.lengths(got, counts)
		want := referenceLengths(counts)
		if !bytes.Equal(got, want) {
			t.Fatalf("%v: lengths %v, want %v", counts, got, want)
		}
		if slices.Max(got) == 10 {
			long++
		}
		if slices.Max(got) <= maxLength && !codes(got, func(int, uint16, uint8) {}) {
			t.Fatalf("%v: %v is no code", counts, got)
		}
	}
	if long < 100 {
		t.Errorf("only %d codes have the greatest length", long)
	}
}
