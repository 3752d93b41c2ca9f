package edits

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
)

// TestNormaliseKeepsTheBases: moved edits make the same bases, in order and within the piece, and there are not more of them.
func TestNormaliseKeepsTheBases(t *testing.T) {
	for seed := range int64(1000) {
		d := randomReads(seed)
		shared, o := d.shared, d.options(false)
		for _, x := range d.reads {
			for _, p := range x.pieces {
				p.Start, p.End = 0, uint32(pieceBases(p))
				want := apply(shared, []Piece{p}, int(p.End))
				m := template{o: &o}
				m.begin(p.Anchor(), p.Reverse, int(p.Length))
				q := p
				var from, left int
				q.Edits, from, left = normalise(nil, p.Edits, m.bases, int(p.Length))
				if !p.Reverse {
					q.Place += uint64(from)
				} else {
					q.Place += uint64(int(p.Length) - from - left)
				}
				q.Length = uint32(left)
				if !q.check(0, p.End, o.Bases) {
					t.Fatalf("seed %d: moved edits are not in order: %v of %d bases", seed, q.Edits, left)
				}
				if got := apply(shared, []Piece{q}, int(p.End)); !bytes.Equal(got, want) {
					t.Fatalf("seed %d: moved edits make %d, want %d", seed, got, want)
				}
				if n := len(q.Edits); n > len(p.Edits) ||
					n > 0 && (q.Edits[n-1] == Edit{At: uint32(left - 1), Kind: Deletion} || q.Edits[0] == Edit{Kind: Deletion}) {
					t.Fatalf("seed %d: %d edits were %d; none at an end may be a deletion: %v", seed, n, len(p.Edits), q.Edits)
				}
			}
		}
	}
}

func TestNormalise(t *testing.T) {
	ins := func(at uint32, b byte) Edit { return Edit{at, Insertion, b} }
	del := func(at uint32) Edit { return Edit{At: at, Kind: Deletion} }
	sub := func(at uint32, b byte) Edit { return Edit{at, Substitution, b} }
	for _, c := range []struct {
		name       string
		template   []byte
		edits      []Edit
		want       []Edit
		from, left int
	}{
		{"insertion in a run", []byte{0, 1, 1, 1, 2}, []Edit{ins(4, 1)}, []Edit{ins(1, 1)}, 0, 5},
		{"deletion in a run", []byte{0, 1, 1, 1, 2}, []Edit{del(3)}, []Edit{del(1)}, 0, 5},
		{"two bases of a run", []byte{0, 1, 1, 1, 2}, []Edit{del(2), del(3)}, []Edit{del(1), del(2)}, 0, 5},
		{"tandem repeat", []byte{2, 0, 1, 0, 1, 3}, []Edit{ins(5, 0), ins(5, 1)}, []Edit{ins(1, 0), ins(1, 1)}, 0, 6},
		{"rotated", []byte{2, 0, 1, 0, 1, 3}, []Edit{ins(4, 1), ins(4, 0)}, []Edit{ins(1, 0), ins(1, 1)}, 0, 6},
		{"not past a substitution", []byte{0, 1, 1, 1, 1, 2}, []Edit{sub(2, 0), del(4)}, []Edit{sub(2, 0), del(3)}, 0, 6},
		{"first base", []byte{1, 1, 1, 2, 0}, []Edit{del(2), ins(4, 3)}, []Edit{ins(3, 3)}, 1, 4},
		{"deletions at the ends", []byte{1, 2, 1, 2, 0}, []Edit{del(0), sub(2, 0), del(3), del(4)}, []Edit{sub(1, 0)}, 1, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, from, left := normalise(nil, c.edits, c.template, len(c.template))
			if !slices.Equal(got, c.want) || from != c.from || left != c.left {
				t.Errorf("%s from %d of %d, want %s from %d of %d", fmt.Sprint(got), from, left, fmt.Sprint(c.want), c.from, c.left)
			}
		})
	}
}
