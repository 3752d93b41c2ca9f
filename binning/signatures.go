package binning

import (
	"bufio"
	"fmt"
	"io"

	"orcomgo/bins"
	"orcomgo/minimizer"
)

// Signatures writes a table of all bins of an archive, a line each: the signature in letters, the
// number of its reads and of their bases, separated by tabs; ascending, N last.
func Signatures(r *bins.Reader, w io.Writer) error {
	type tally struct{ reads, bases uint64 }
	tallies := make([]tally, signatures)
	for i := range r.Meta().Blocks {
		index, err := r.BinIndex(i)
		if err != nil {
			return err
		}
		for _, bin := range index {
			t := &tallies[bin.Signature]
			t.reads += uint64(bin.Reads)
			t.bases += bin.Bases
		}
	}
	b := bufio.NewWriter(w)
	for sig, t := range tallies {
		if t.reads > 0 {
			fmt.Fprintf(b, "%s\t%d\t%d\n", minimizer.Letters(uint32(sig)), t.reads, t.bases)
		}
	}
	return b.Flush()
}
