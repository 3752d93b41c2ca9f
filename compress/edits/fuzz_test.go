package edits

import (
	"errors"
	"testing"
)

// FuzzDecode: whatever a section says, decoding ends with an error or with the reads.
func FuzzDecode(f *testing.F) {
	for seed := range int64(8) {
		d := randomReads(seed + 10)
		for _, q := range []bool{false, true} {
			section := d.encode(d.options(q))
			f.Add(section, seed, q)
			f.Add(section[:len(section)/2], seed, q)
		}
	}
	f.Fuzz(func(t *testing.T, section []byte, seed int64, qualities bool) {
		d := randomReads(seed)
		if _, err := d.decode(section, d.options(qualities)); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
	})
}

// FuzzRoundTrip: all pieces come back.
func FuzzRoundTrip(f *testing.F) {
	f.Add(int64(1), false)
	f.Add(int64(2), true)
	f.Fuzz(func(t *testing.T, seed int64, qualities bool) {
		d := randomReads(seed)
		d.roundTrip(t, d.options(qualities))
	})
}
