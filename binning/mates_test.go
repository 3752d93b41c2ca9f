package binning

import (
	"bytes"
	"strings"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/internal/testrun"
)

// TestGroups: further mates come back with the pair that they belong to, and are compared with it.
func TestGroups(t *testing.T) {
	one, two, index := simulate(5, 2000, 100, 100, "1"), simulate(6, 2000, 20, 30, "2"), simulate(7, 2000, 8, 8, "1")
	other := bytes.Replace(index, []byte("@RUN:1:16:1600 "), []byte("@RUN:1:16:160x "), 1)
	var few []byte // the first 1,500 records
	for line := range strings.Lines(string(index)) {
		if few = append(few, line...); bytes.Count(few, []byte("\n")) == 6_000 {
			break
		}
	}
	for _, tt := range []struct {
		name        string
		third, last []byte
		want        string
	}{
		{"well", index, index, ""},
		{"fewer in the third", few, index, "3.fq: record 1501: expected a mate of record 1501 of "},
		{"another name in the last", index, other, "4.fq: record 1601: expected the mate of record 1601 of 1.fq, found another name"},
		{"none in the last", index, nil, "4.fq: record 1: expected a mate of record 1 of 1.fq, found the end of the file"},
	} {
		for _, o := range []record.Options{{BlockSize: 25000}, {}, {ReadsOnly: true, BlockSize: 25000}, {DropNames: true}} {
			if testrun.Race && o.BlockSize == 0 {
				continue
			}
			c := Config{Threads: 2, Streams: 3, Options: o, Inputs: []InputSpec{{Mate: 1, First: true}, {Mate: 0},
				{Mate: -1, Further: true}, {Mate: -1, Further: true}}}
			dir, err := binTexts(t, c, testInput{"1.fq", one}, testInput{"2.fq", two}, testInput{"3.fq", tt.third}, testInput{"4.fq", tt.last})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != tt.want && (tt.want == "" || !strings.HasPrefix(got, tt.want)) {
				t.Errorf("%s, %+v: error is %q, want %q", tt.name, o, got, tt.want)
			}
			if err == nil && !o.ReadsOnly && !o.DropNames {
				texts := restore(t, dir)
				for i, want := range [][]byte{one, two, tt.third, tt.last} {
					if !bytes.Equal(texts[i], want) {
						t.Errorf("%s: text %d differs", tt.name, i+1)
					}
				}
			}
		}
	}
	c := Config{Inputs: []InputSpec{{Mate: -1}, {Mate: -1, Further: true}}}
	if _, err := binTexts(t, c, testInput{"1.fq", index}, testInput{"2.fq", index}); err == nil ||
		!strings.Contains(err.Error(), "2.fq: it belongs to an input that has no first mates") {
		t.Errorf("further mates without a pair: %v", err)
	}
}

func TestMateName(t *testing.T) {
	for name, want := range map[string]string{"a/1": "a", "a/4 x": "a", "a/5": "a/5", "a\t1": "a", "/1": "", "1": "1"} {
		if got := mateName([]byte(name)); string(got) != want {
			t.Errorf("%q has become %q, want %q", name, got, want)
		}
	}
}
