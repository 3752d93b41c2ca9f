package basemodel

import (
	"slices"
	"strings"
	"testing"

	"orcomgo/internal/testvector"
)

// codesOf returns the bases of letters, one a byte.
func codesOf(letters string) []byte {
	b := []byte(letters)
	for i, c := range b {
		b[i] = byte(strings.IndexByte("ACGT", c))
	}
	return b
}

// TestVectors codes the pseudogenomes and the literals of testdata/vectors/bases.txt and decodes them.
func TestVectors(t *testing.T) {
	lanes, literals := make(map[int]bool), make(map[bool]bool)
	testvector.Run(t, "../../testdata/vectors/bases.txt", func(t *testing.T, v *testvector.Vector) {
		letters := v.Text(t, "bases")
		if v.Has("times") {
			letters = strings.Repeat(letters, v.Int(t, "times"))
			letters = letters[:len(letters)-v.Int(t, "less")]
		}
		b := codesOf(letters)
		for at := 0; at < len(b); at += blockBases {
			lanes[lanesOf(min(blockBases, len(b)-at))] = true
		}
		section, _ := encoded(b, Options{Threads: 2})
		data := v.Bytes(t, "bytes", section)
		got, m, err := tryDecode(data, 2)
		if err != nil || !slices.Equal(got, b) {
			t.Fatalf("other bases are decoded, error %v", err)
		}
		if !v.Has("literals") {
			return
		}
		x := &Literals{Bases: codesOf(v.Text(t, "literals"))}
		if v.Has("qualities") {
			x.Quals = []byte(v.Text(t, "qualities"))
		}
		for _, at := range v.Ints(t, "leads") {
			x.Leads = append(x.Leads, int(at))
		}
		literals[lanesOf(len(x.Bases)) > 1] = true
		data = v.Bytes(t, "coded", m.Clone(len(x.Bases)).Append(nil, x))
		if got := decodeAll(t, m, data, x); !slices.Equal(got, x.Bases) {
			t.Fatal("other literals are decoded")
		}
	})
	if !lanes[1] || !lanes[3] || !lanes[numLanes] || !literals[false] || !literals[true] {
		t.Errorf("vectors have blocks of %v lanes, want 1, 3 and %d; those of literals should have one and several", lanes, numLanes)
	}
}
