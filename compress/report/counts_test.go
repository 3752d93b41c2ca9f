package report

import (
	"fmt"
	"math/bits"
	"reflect"
	"testing"
)

func TestGroups(t *testing.T) {
	next := 0
	for g := groupOf(0); next < 1<<20; g++ {
		from, to := groupRange(g)
		if from != next || groupOf(from) != g || groupOf(to) != g || (to-from+1)*octaveGroups > max(from, octaveGroups) {
			t.Fatalf("group %d: %d to %d, want from %d on", g, from, to, next)
		}
		next = to + 1
	}
}

// TestSample: the sample is the same however the sequences are divided among samples that are merged, and its shares are about right.
func TestSample(t *testing.T) {
	const sequences = 3 * maxSampled
	hash := func(i int) uint64 { return hashRead(fmt.Append(nil, i)) }
	var whole sequenceSample
	parts := make([]sequenceSample, 3)
	for i := range sequences {
		for range 1 + i%2 { // every second one twice
			whole.add(hash(i), 1)
			parts[i%7%3].add(hash(i), 1)
		}
	}
	for _, p := range parts[1:] {
		parts[0].merge(&p)
	}
	if !reflect.DeepEqual(whole, parts[0]) {
		t.Errorf("%d and %d sequences, %d and %d zeros", len(whole.counts), len(parts[0].counts), whole.zeros, parts[0].zeros)
	}
	for h := range whole.counts {
		if bits.TrailingZeros64(h) < whole.zeros {
			t.Fatalf("%x", h)
		}
	}
	d := whole.result()
	if d.OneIn != 4 || d.Duplicates < 33 || d.Duplicates > 33.7 || d.Levels[1].Percent < 66.3 || d.Levels[1].Percent > 67 {
		t.Errorf("%+v", d)
	}
}

func TestNameFields(t *testing.T) {
	var a, b, all nameCounts
	for i := range 2500 {
		name := fmt.Appendf(nil, "A00123:45:HXX:%d:2104:%d:1000 1:N:0:ACGT", 1+i%2, i)
		all.add(name)
		if i < 1300 {
			a.add(name)
		} else {
			b.add(name)
		}
	}
	odd := []byte("odd/1")
	all.add(odd)
	b.add(odd)
	a.merge(&b)
	got := a.result()
	if !reflect.DeepEqual(got, all.result()) {
		t.Error("merged counts differ")
	}
	if len(got) != 2 || got[0].Pattern != "{1}:{2}:{3}:{4}:{5}:{6}:{7} {8}:{9}:{10}:{11}" || got[0].Records != 2500 ||
		got[1].Pattern != "{1}/{2}" {
		t.Fatalf("%+v", got)
	}
	for i, want := range []NameField{
		0: {Number: 1, Label: "instrument", Kind: "constant", Values: 1, Common: []NameValue{{"A00123", 2500}}},
		3: {Number: 4, Label: "lane", Kind: "number", Min: 1, Max: 2, Values: 2, Common: []NameValue{{"1", 1250}, {"2", 1250}}},
		5: {Number: 6, Label: "x", Kind: "number", Max: 2499, More: maxValues},
		8: {Number: 9, Label: "filtered", Kind: "constant", Values: 1, Common: []NameValue{{"N", 2500}}},
	} {
		if want.Number > 0 && !reflect.DeepEqual(got[0].Fields[i], want) {
			t.Errorf("%+v, want %+v", got[0].Fields[i], want)
		}
	}
	var many nameCounts
	for i := range maxForms + 1 {
		many.add(fmt.Appendf(nil, "%s%d", "::::::::::::::::::::"[:i], i))
	}
	if many.result() != nil || !many.more {
		t.Error("more forms than are described")
	}
}

func TestPhredOffset(t *testing.T) {
	for _, c := range []struct {
		quals string
		want  int
	}{{"!FJ", 33}, {"#:F", 33}, {"FFF", 33}, {"BChh", 64}, {"@Yh", 64}, {"~~~~", 33}, {"", 33}} {
		var counts qualityCounts
		for _, q := range []byte(c.quals) {
			counts[q]++
		}
		if got := phredOffset(&counts); got != c.want {
			t.Errorf("%q: %d, want %d", c.quals, got, c.want)
		}
	}
}
