package binning

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"orcomgo/bins"
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

// TestInterleaved: a file of mates in turn is noticed, its blocks have whole pairs, and the run begins anew where it goes on otherwise.
func TestInterleaved(t *testing.T) {
	one, two := simulate(5, 2000, 100, 100, "1"), simulate(6, 2000, 20, 30, "2")
	var text []byte
	x, y := bytes.SplitAfter(one, []byte("\n")), bytes.SplitAfter(two, []byte("\n"))
	for i := 0; i+4 <= len(x); i += 4 {
		text = append(text, bytes.Join(slices.Concat(x[i:i+4], y[i:i+4]), nil)...)
	}
	name := x[4*1600][1:8] // as of records 3201 and 3202
	other := bytes.Replace(text, name, append([]byte("X"), name...), 1)
	short := text[:bytes.LastIndex(text, []byte("\n@"))+1]
	for _, tt := range []struct {
		name string
		text []byte
		o    record.Options
		note string // part of it
		is   bool   // it is interleaved
	}{
		{"well", text, record.Options{}, " is taken as interleaved mates (", true},
		{"in blocks", text, record.Options{BlockSize: 25000}, " is taken as interleaved mates (", true},
		{"in blocks of less than a pair", text, record.Options{BlockSize: 300}, " is taken as interleaved mates (", true},
		{"reads only", text, record.Options{ReadsOnly: true, BlockSize: 25000}, " is taken as interleaved mates (", true},
		{"in any order", text, record.Options{OrderAny: true}, " which --order any does not keep together", false},
		{"one record less", short, record.Options{BlockSize: 25000}, ": record 3999: expected its mate after it, found the end ", false},
		{"another name", other, record.Options{BlockSize: 25000}, ": expected the mate of ", false},
		{"another name, reads only", other, record.Options{ReadsOnly: true}, ": expected the mate of ", false},
		{"not in turn", one, record.Options{}, "", false},
		{"six records", bytes.Join(bytes.SplitAfter(text, []byte("\n"))[:24], nil), record.Options{}, "", false},
	} {
		notes := ""
		c := Config{Threads: 2, Streams: 3, Options: tt.o, Note: func(line string) { notes += line + "\n" }}
		dir, err := binTexts(t, c, testInput{"a.fq", tt.text}, testInput{"b.fq", one})
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if tt.note == "" && notes != "" || !strings.Contains(notes, tt.note) || strings.Count(notes, "\n") > 1 {
			t.Errorf("%s: notes %q, want %q", tt.name, notes, tt.note)
		}
		r, err := bins.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		meta := r.Meta()
		if meta.Inputs[0].Interleaved != tt.is || meta.Inputs[1].Interleaved {
			t.Errorf("%s: inputs %+v", tt.name, meta.Inputs)
		}
		for _, b := range meta.BlocksOf(0) {
			if n := meta.Blocks[b].Records; tt.is && n%2 != 0 {
				t.Errorf("%s: a block of %d records", tt.name, n)
			}
		}
		r.Close()
		if !tt.o.ReadsOnly && !tt.o.OrderAny && !bytes.Equal(restore(t, dir)[0], tt.text) {
			t.Errorf("%s: the text differs", tt.name)
		}
	}
}

func TestMateName(t *testing.T) {
	for name, want := range map[string]string{"a/1": "a", "a/4 x": "a", "a/5": "a/5", "a\t1": "a", "/1": "", "1": "1"} {
		if got := mateName([]byte(name)); string(got) != want {
			t.Errorf("%q has become %q, want %q", name, got, want)
		}
	}
}
