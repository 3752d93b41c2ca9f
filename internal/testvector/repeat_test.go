package testvector

import (
	"slices"
	"testing"
)

func TestRepeated(t *testing.T) {
	got := repeated(t, []string{`"{k}:{k*7%5+1}{k:ab:2}"`, "{r} {r%10} {r:A:C:3}"}, 2)
	want := []string{`"0:1aa"`, "167951807 4 ::C", `"1:3bb"`, "1204436891 4 CAA"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
