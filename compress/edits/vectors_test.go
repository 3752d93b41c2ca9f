package edits

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"orcomgo/internal/testvector"
)

// TestVectors codes the reads of testdata/vectors/edits.txt and decodes them.
func TestVectors(t *testing.T) {
	testvector.Run(t, "../../testdata/vectors/edits.txt", func(t *testing.T, v *testvector.Vector) {
		d := &drawn{shared: codes([]byte(strings.Join(v.Strings(t, "sequence"), "")))}
		reads, bases := v.Strings(t, "reads"), v.Strings(t, "bases")
		for i, line := range reads {
			x := read{pieces: parsePieces(t, line), bases: codes([]byte(bases[i]))}
			d.bases += uint64(len(x.bases))
			d.reads = append(d.reads, x)
		}
		o := d.options(v.Has("qualities"))
		if o.Qualities {
			for i, q := range v.Strings(t, "qualities") {
				d.reads[i].quals = []byte(q)
			}
		}
		section := v.Bytes(t, "bytes", d.encode(o))
		x, err := NewDecoder(section, o, d.bases)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range d.reads {
			got := bytes.Repeat([]byte{4}, len(r.bases))
			if _, err := x.Next(got, r.quals); err != nil {
				t.Fatal(err)
			}
			for k, b := range got {
				got[k] = "ACGT."[b]
			}
			if string(got) != bases[i] {
				t.Errorf("read %d is %s, want %s", i, got, bases[i])
			}
		}
		if err := x.Finish(); err != nil {
			t.Fatal(err)
		}
	})
}

// parsePieces parses the pieces of a read: START-END PLACE+LENGTH STRAND EDITS, with a semicolon after each. An edit is AT=BASE, AT+BASE
// or AT-, for a substitution, an insertion and a deletion.
func parsePieces(t *testing.T, line string) (pieces []Piece) {
	for _, text := range strings.Split(line, ";") {
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		var p Piece
		if len(words) < 3 {
			t.Fatalf("%q is no piece", text)
		}
		if _, err := fmt.Sscanf(words[0]+" "+words[1], "%d-%d %d+%d", &p.Start, &p.End, &p.Place, &p.Length); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		p.Reverse = words[2] == "-"
		for _, w := range words[3:] {
			var e Edit
			var kind, base byte
			if n, _ := fmt.Sscanf(w, "%d%c%c", &e.At, &kind, &base); n < 2 {
				t.Fatalf("%q is no edit", w)
			}
			e.Kind = uint8(strings.IndexByte("=+-", kind))
			if e.Kind != Deletion {
				e.Base = codes([]byte{base})[0]
			}
			p.Edits = append(p.Edits, e)
		}
		pieces = append(pieces, p)
	}
	return pieces
}
