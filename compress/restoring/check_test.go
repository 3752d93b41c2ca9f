package restoring

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"orcomgo/compress/archive"
	"orcomgo/digest"
)

func TestTextCheck(t *testing.T) {
	text := []byte("the text of an input, which is hashed in blocks")
	blocks := blocksOfText(text, 0, 10, 10, 30)
	feed := func(text []byte, step int) error {
		c := NewTextCheck(&archive.Input{Blocks: blocks}, true, true)
		for len(text) > 0 {
			n := min(step, len(text))
			if err := c.Add(text[:n]); err != nil {
				return err
			}
			text = text[n:]
		}
		return c.End()
	}
	for step := 1; step <= len(text)+1; step++ {
		if err := feed(text, step); err != nil {
			t.Fatalf("steps of %d: %v", step, err)
		}
		for _, bad := range [][]byte{text[1:], text[:len(text)-1], append(bytes.Clone(text), 'x'),
			bytes.Replace(text, []byte("hashed"), []byte("Hashed"), 1), nil} {
			if err := feed(bad, step); err == nil {
				t.Fatalf("steps of %d: %q passed", step, bad)
			}
		}
	}
	man := &archive.Manifest{Verified: true, Inputs: []archive.Input{{SHA256: sha256.Sum256(text)}}}
	for _, text := range [][]byte{text, text[1:]} {
		c := CheckOf(man, 0, false)
		if err := c.Add(text); err != nil {
			t.Fatal(err)
		}
		if err := c.End(); (err == nil) != (sha256.Sum256(text) == man.Inputs[0].SHA256) {
			t.Errorf("by SHA-256: %v", err)
		}
	}
}

// blocksOfText cuts text at the offsets given, the last block taking the rest.
func blocksOfText(text []byte, cuts ...int) []archive.TextBlock {
	var bs []archive.TextBlock
	at := 0
	for _, cut := range append(cuts, len(text)) {
		bs = append(bs, archive.TextBlock{Len: uint64(cut - at), Hash: digest.TextHash(text[at:cut], serial)})
		at = cut
	}
	return bs
}

func serial(n int, task func(i int)) {
	for i := range n {
		task(i)
	}
}
