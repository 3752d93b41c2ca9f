package restoring

import (
	"fmt"
	"testing"
)

// TestUnion: records that are in either list come once.
func TestUnion(t *testing.T) {
	a := []RecordRange{{From: 1, To: 5}, {From: 7, To: 9}, {From: 20, To: 30}}
	for _, c := range []struct {
		a, b []RecordRange
		want string
	}{
		{a, nil, "[{1 5} {7 9} {20 30}]"},
		{nil, a, "[{1 5} {7 9} {20 30}]"},
		{a, []RecordRange{{From: 0, To: 1}, {From: 5, To: 6}, {From: 8, To: 21}, {From: 40, To: 41}}, "[{0 6} {7 30} {40 41}]"},
		{a, a, "[{1 5} {7 9} {20 30}]"},
	} {
		if got := union(c.a, c.b); fmt.Sprint(got) != c.want {
			t.Errorf("%v and %v: %v, want %s", c.a, c.b, got, c.want)
		}
	}
}
