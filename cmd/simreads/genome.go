package main

import (
	"fmt"
	"io"

	"orcomgo/cmd/simreads/sim"

	"github.com/shenwei356/bio/seq"
	"github.com/shenwei356/bio/seqio/fastx"
)

// loadGenome reads a FASTA file, plain or compressed. It is not in package sim because bio/seq takes 15 ms to start: the tests of
// orcomgo, which use sim, start their own binary hundreds of times.
func loadGenome(path string) (*sim.Genome, error) {
	r, err := fastx.NewReader(seq.Unlimit, path, fastx.DefaultIDRegexp)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer r.Close()
	g := &sim.Genome{}
	for {
		record, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if len(record.Seq.Seq) > 0 {
			g.Add(string(record.Name), record.Seq.Seq)
		}
	}
	if g.Size() == 0 {
		return nil, fmt.Errorf("%s: no sequence in it", path)
	}
	return g, nil
}
