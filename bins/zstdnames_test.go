package bins

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"orcomgo/bins/record"
)

// clusteredNames returns names such as those of files of small RNA: of several runs in turn.
func clusteredNames(records int) []byte {
	rng := rand.New(rand.NewPCG(7, 8))
	runs := []string{"HWI-ST0747:349:H7MPAADXX:2", "HWI-ST0747:355:C30E3ACXX:5", "SOLEXA2_0044:7", "M00123:11:000000000-A4B1C:1"}
	var names []byte
	for range records {
		names = fmt.Appendf(names, "%s:%d:%d 1:N:0:GTAGAG\n", runs[rng.IntN(len(runs))], 1101+rng.IntN(16), rng.IntN(20000))
	}
	return names
}

// TestZstdNames: names that take less as zstd frames are stored so where the block allows it, in bins of version 3, and are read, whole
// and in part.
func TestZstdNames(t *testing.T) {
	const records = 40_000 // names of two chunks
	names := clusteredNames(records)
	for _, c := range []struct {
		name    string
		names   []byte
		allowed bool
		version uint32
		methods []uint8
	}{
		{"clustered", names, true, Version, []uint8{chunkZstd, chunkZstd}},
		{"clustered, not allowed", names, false, versionNoSource, []uint8{chunkNames, chunkNames}},
		{"ascending", ascendingNames(records), true, versionNoSource, []uint8{chunkNames}},
	} {
		b := &Block{Records: records, Names: bytes.Clone(c.names), ZstdNames: c.allowed, Order: make([]uint32, records),
			Place: make([]uint32, records), Bins: []Bin{{Signature: NBin, Reads: records}}}
		for i := range b.Order {
			b.Order[i] = uint32(i)
		}
		dir := t.TempDir()
		w, err := Create(dir, "x", nil)
		if err != nil {
			t.Fatal(err)
		}
		var e Encoded
		if err := EncodeBlock(&e, b, side(2)); err != nil {
			t.Fatal(err)
		}
		if err := w.WriteBlock(&e); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(record.Options{}, []record.Input{{Name: "x.fa", Kind: record.FASTA, Mate: -1}}); err != nil {
			t.Fatal(err)
		}
		r, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if v := r.Meta().Version; v != c.version {
			t.Errorf("%s: version %d, want %d", c.name, v, c.version)
		}
		if d, _, err := r.directory(0); err != nil || !slices.Equal(d.sections[secNames].methods, c.methods) {
			t.Errorf("%s: names are stored by %v, want %v (%v)", c.name, d.sections[secNames].methods, c.methods, err)
		}
		if err := r.Check(context.Background()); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		n := uint64(len(c.names))
		for _, x := range [][2]uint64{{0, n}, {100, 1000}, {n / 2, n}, {n - 1, n}} {
			if got, err := r.ReadNames(0, x[0], x[1], nil); err != nil || !bytes.Equal(got, c.names[x[0]:x[1]]) {
				t.Errorf("%s: names %d to %d differ (%v)", c.name, x[0], x[1], err)
			}
		}
	}
}

// ascendingNames returns names of which each differs from the one before in a number that grows.
func ascendingNames(records int) (names []byte) {
	for i := range records {
		names = fmt.Appendf(names, "SRR1234567.%d\n", i+1)
	}
	return names
}
