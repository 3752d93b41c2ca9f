package record

import (
	"slices"
	"testing"
)

func TestLengths(t *testing.T) {
	fixed, each := Lengths{Fixed: 7}, Lengths{Each: []uint32{3, 0, 9, 4}}
	if fixed.Of(3) != 7 || fixed.Sum(1, 4) != 21 || each.Of(2) != 9 || each.Sum(1, 4) != 13 || each.Sum(2, 2) != 0 {
		t.Error("Of or Sum is wrong")
	}
	if s := fixed.Slice(1, 2); s.Each != nil || s.Fixed != 7 {
		t.Errorf("slice %+v", s)
	}
	if s := each.Slice(1, 3); !slices.Equal(s.Each, []uint32{0, 9}) {
		t.Errorf("slice %+v", s)
	}
	if lo, hi := each.Range(4); lo != 0 || hi != 9 {
		t.Errorf("range %d to %d", lo, hi)
	}
	if lo, hi := fixed.Range(1); lo != 7 || hi != 7 {
		t.Errorf("range %d to %d", lo, hi)
	}
	if p := each.Permute([]uint32{2, 0}); !slices.Equal(p.Each, []uint32{9, 3}) {
		t.Errorf("permuted %+v", p)
	}
	if all := (&Lengths{Fixed: 1<<32 - 1}).Sum(0, 1<<26); all != (1<<32-1)<<26 {
		t.Errorf("sum %d", all)
	}
}
