package record

import (
	"math/rand"
	"slices"
	"testing"
)

// randomExceptions returns exceptions of reads below n, of 1 to 300 bases and any letter.
func randomExceptions(rng *rand.Rand, n int) (es []Exception) {
	for read := range n {
		at := uint32(0)
		for rng.Intn(3) > 0 {
			e := Exception{Read: uint32(read), Start: at + uint32(rng.Intn(300)), Len: 1 + uint32(rng.Intn(300)), Byte: "NRa.\x00"[rng.Intn(5)]}
			at = e.Start + e.Len
			es = append(es, e)
		}
		if rng.Intn(10) == 0 {
			return es
		}
	}
	return es
}

func collect(l *ExceptionList) (es []Exception) {
	for e := range l.All {
		es = append(es, e)
	}
	return es
}

// TestExceptionList: what is appended to a list, by itself or with another list, is found again: in order, from any read, of any read, in a
// slice and in another order of the reads.
func TestExceptionList(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for range 300 {
		const n = 200
		es := randomExceptions(rng, n)
		l := newExceptionList(es...)
		if l.Len() != len(es) || l.Empty() != (len(es) == 0) || !slices.Equal(collect(&l), es) {
			t.Fatalf("%d exceptions became %d", len(es), l.Len())
		}
		cut := uint32(rng.Intn(n))
		k, _ := slices.BinarySearchFunc(es, cut, func(e Exception, read uint32) int { return int(e.Read) - int(read) })
		joined, second := newExceptionList(es[:k]...), newExceptionList(es[k:]...)
		joined.AppendList(&second)
		for name, l := range map[string]*ExceptionList{"appended": &l, "joined": &joined} {
			if l.Len() != len(es) || !slices.Equal(collect(l), es) || len(es) > 0 && l.End() != uint64(es[len(es)-1].Read)+1 {
				t.Fatalf("%s: the list differs", name)
			}
			some := l.Reads()
			for read := range uint32(n + 1) {
				var want, after []Exception
				for _, e := range es {
					if e.Read == read {
						want = append(want, e)
					}
					if e.Read >= read {
						after = append(after, e)
					}
				}
				if got := l.Of(nil, read); !slices.Equal(got, want) {
					t.Fatalf("%s: read %d has %v, want %v", name, read, got, want)
				}
				if some.Has(read) != (len(want) > 0) {
					t.Fatalf("%s: whether read %d has exceptions is %t", name, read, some.Has(read))
				}
				c := l.From(read)
				for _, want := range after {
					if got, ok := c.Next(); !ok || got != want {
						t.Fatalf("%s: from read %d on: %v, want %v", name, read, got, want)
					}
				}
				if e, ok := c.Next(); ok {
					t.Fatalf("%s: %v after the last", name, e)
				}
			}
		}
		perm := make([]uint32, n)
		for i, p := range rng.Perm(n) {
			perm[i] = uint32(p)
		}
		permuted := l.Permute(perm, l.Reads())
		for i, read := range perm {
			got := permuted.Of(nil, uint32(i))
			for j := range got {
				got[j].Read = read
			}
			if want := l.Of(nil, read); !slices.Equal(got, want) {
				t.Fatalf("read %d permuted has %v, want %v", read, got, want)
			}
		}
		part := l.Permute(perm[cut:], l.Reads())
		for i, read := range perm[cut:] {
			if got, want := part.Of(nil, uint32(i)), permuted.Of(nil, cut+uint32(i)); len(got) != len(want) {
				t.Fatalf("read %d has %d exceptions in a part of the order, want %d", read, len(got), len(want))
			}
		}
	}
}

// newExceptionList returns a list of exceptions, which are in order.
func newExceptionList(list ...Exception) (l ExceptionList) {
	for _, e := range list {
		l.Append(e)
	}
	return l
}
