package quals

import (
	"bytes"
	"errors"
	"testing"

	"orcomgo/bins/record"
)

// primed is columns of one kind.
type primed struct {
	name            string
	leading, column Input
}

func primedColumns() (all []primed) {
	for _, a := range []struct {
		name   string
		values []byte
	}{{"40 values", span('#', 'J')}, {"4 values", []byte("#,:F")}, {"2 values", []byte("#F")}} {
		mixed := mixedLengths(21, 300, 200)
		all = append(all,
			primed{a.name + ", reads of 100",
				fixed(randomWalk(22, a.values, repeated(100, 300))), fixed(randomWalk(23, a.values, repeated(100, 100)))},
			primed{a.name + ", mixed reads", randomWalk(24, a.values, mixed), randomWalk(25, a.values, mixed[:100])})
	}
	return all
}

// TestPrimed: columns come back by the primer of the encoder and by that which is decoded, and so do their first reads.
func TestPrimed(t *testing.T) {
	for _, size := range []int{1, 30000, 1 << 30} {
		for _, c := range primedColumns() {
			var coded *Primer
			calls := 0
			data := EncodeLeading(c.leading, size, func(p *Primer) { coded, calls = p, calls+1 })
			if coded == nil || calls != 1 {
				t.Fatalf("%s: ready was called %d times, with %v", c.name, calls, coded)
			}
			in := Input{Lengths: c.leading.Lengths, Records: c.leading.Records}
			decodesEach(t, c.name+", leading", data, in, c.leading.Quals)
			p, err := DecodePrimer(data, in)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if n, ok := HasPrimer(data, in); !ok || n != p.records || NeedsPrimer(data) {
				t.Errorf("%s: HasPrimer returns %d, %v", c.name, n, ok)
			}
			in.Primer = p
			decodesEach(t, c.name+", leading by its primer", data, in, c.leading.Quals)

			c.column.Primer = coded
			data = Encode(c.column)
			if !NeedsPrimer(data) || !bytes.Equal(data, Encode(c.column)) {
				t.Fatalf("%s: strategy %d", c.name, data[0])
			}
			in = Input{Lengths: c.column.Lengths, Records: c.column.Records}
			if _, err := Decode(data, in); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: decoded without a primer: %v", c.name, err)
			}
			in.Primer = p
			decodesEach(t, c.name, data, in, c.column.Quals)
		}
	}
}

// decodesEach compares what comes back of all reads and of different numbers of the first ones.
func decodesEach(t *testing.T, name string, data []byte, in Input, quals []byte) {
	t.Helper()
	for first := range in.Records + 1 {
		if first > 3 && first < in.Records-1 && first%97 != 0 {
			continue
		}
		in.First = first
		got, err := Decode(data, in)
		if err != nil || !bytes.Equal(got, quals[:in.Lengths.Sum(0, in.decoded())]) {
			t.Fatalf("%s: %d qualities of the first %d of %d reads: %v", name, len(got), first, in.Records, err)
		}
	}
}

// TestPrimedPays: short columns take less with a primer, and those that are of another kind are coded without it.
func TestPrimedPays(t *testing.T) {
	leading := fixed(randomWalk(26, span('#', 'J'), repeated(100, 2500)))
	var p *Primer
	EncodeLeading(leading, 200_000, func(got *Primer) { p = got })
	in := fixed(randomWalk(27, span('#', 'J'), repeated(100, 300)))
	without := len(Encode(in))
	in.Primer = p
	if with := len(Encode(in)); with > without*97/100 {
		t.Errorf("a column takes %d bytes with a primer, %d without", with, without)
	}
	for name, other := range map[string]Input{
		"other values": fixed(randomWalk(28, span('#', 'K'), repeated(100, 100))),
		"one value":    {Quals: bytes.Repeat([]byte{'#'}, 1000), Lengths: record.Lengths{Fixed: 10}, Records: 100},
		"letters":      withBases(fixed(randomWalk(30, span('#', 'J'), repeated(100, 10)))),
		"no reads":     {},
	} {
		other.Primer = p
		if data := Encode(other); NeedsPrimer(data) {
			t.Errorf("%s: coded with the primer", name)
		}
	}
	for name, other := range map[string]Input{
		"no reads":  {},
		"one value": {Quals: bytes.Repeat([]byte{'#'}, 1000), Lengths: record.Lengths{Fixed: 10}, Records: 100},
	} {
		data := EncodeLeading(other, 1, func(p *Primer) {
			if p != nil {
				t.Errorf("%s: there is a primer", name)
			}
		})
		if _, ok := HasPrimer(data, other); ok || !bytes.Equal(data, Encode(other)) {
			t.Errorf("%s: strategy %d", name, data[0])
		}
	}
}
