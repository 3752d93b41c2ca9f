package seqs

import (
	"context"
	"fmt"
	"math/rand"
	"testing"

	"orcomgo/bases"
	"orcomgo/bins"
	"orcomgo/bins/record"
	"orcomgo/compress/basemodel"
)

func TestWantsOneCoder(t *testing.T) {
	const long = basemodel.TwoCoders + 1000
	type block struct {
		sample string
		bases  uint64
		kind   record.Kind
	}
	for _, c := range []struct {
		name    string
		bases   int
		repeats bool
		blocks  []block
		want    bool
	}{
		{"two assemblies", long, false, []block{{"a", long, record.FASTA}, {"b", long, record.FASTA}}, true},
		{"of little, which have one coder in any case", 1e6, false, []block{{"a", 1e6, record.FASTA}, {"b", 1e6, record.FASTA}}, false},
		{"with repeats, likewise", long, true, []block{{"a", long, record.FASTA}, {"b", long, record.FASTA}}, false},
		{"with repeats, long", 2e6, true, []block{{"a", 2e6, record.FASTA}, {"b", 1e6, record.FASTA}}, true},
		{"one sample", long, false, []block{{"a", long, record.FASTA}, {"a", long, record.FASTA}}, false},
		{"no samples", long, false, []block{{"", long, record.FASTA}, {"", long, record.FASTA}}, false},
		{"with qualities", long, false, []block{{"a", long, record.FASTA}, {"b", long, record.FASTQ}}, false},
		{"reads of a genome, ten times over", long, false, []block{{"a", long, record.FASTA}, {"b", 10 * long, record.FASTA}}, false},
		{"nothing", 0, false, nil, false},
	} {
		m := new(bins.Meta)
		for i, b := range c.blocks {
			m.Inputs = append(m.Inputs, record.Input{Kind: b.kind, Source: &record.Source{Sample: b.sample}})
			m.Blocks = append(m.Blocks, bins.BlockInfo{Input: i, Bases: b.bases})
		}
		if got := wantsOneCoder(m, c.bases, c.repeats); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestOneCoder: samples that share a long pseudogenome with one coder come back.
func TestOneCoder(t *testing.T) {
	r := rand.New(rand.NewSource(11))
	genome := make([]byte, basemodel.TwoCoders+5000)
	for i := range genome {
		genome[i] = bases.Letters[r.Intn(4)]
	}
	cols := make([]column, 3)
	for k := range cols {
		for range 50 {
			genome[r.Intn(len(genome))] = bases.Letters[r.Intn(4)]
		}
		cols[k].reads = []string{string(genome)}
	}
	in := archiveOf(t, record.Options{}, 1, cols...)
	for i := range in.Meta().Inputs {
		in.Meta().Inputs[i].Kind, in.Meta().Inputs[i].Source = record.FASTA, &record.Source{Sample: fmt.Sprint(i)}
	}
	e, err := Build(context.Background(), in, Config{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	follower := e.Follow()
	var slices [][]byte
	for k, c := range cols {
		data, err := e.EncodeSlice(context.Background(), sliceColumn(k, c, 0, 1, nil, false), nil)
		if err != nil {
			t.Fatal(err)
		}
		slices = append(slices, data)
	}
	shared := e.Shared()
	if !e.OneCoder() {
		t.Fatal("two coders")
	}
	if err := follower.Check(); err != nil {
		t.Error(err)
	}
	for _, threads := range []int{1, 4} {
		d := NewDecoder(shared, Config{Threads: threads, Repeats: e.Repeats(), OneCoder: true})
		for k, c := range cols {
			got, err := d.DecodeSlice(slices[k], &Column{Records: 1, Lengths: record.Lengths{Each: []uint32{uint32(len(c.reads[0]))}}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if string(got[0]) != c.reads[0] {
				t.Errorf("sample %d, %d threads: other letters", k, threads)
			}
		}
	}
}
