package longreads

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func load(t *testing.T, path string) []Read {
	var out []Read
	for _, p := range strings.Split(path, ",") {
		f, err := os.Open(p)
		if err != nil {
			t.Skip()
		}
		sc := bufio.NewScanner(f)
		sc.Buffer(make([]byte, 1<<20), 1<<28)
		add := func(s []byte) {
			r := Read{make(Bases, wordsFor(len(s))), len(s)}
			for i, c := range s {
				r.Bases.set(i, c>>1&3^c>>2&1)
			}
			out = append(out, r)
		}
		if strings.HasSuffix(p, "q") {
			for i := 0; sc.Scan(); i++ {
				if i%4 == 1 {
					add(sc.Bytes())
				}
			}
		} else {
			var s []byte
			for sc.Scan() {
				if sc.Bytes()[0] == '>' {
					if len(s) > 0 {
						add(s)
					}
					s = s[:0]
				} else {
					s = append(s, sc.Bytes()...)
				}
			}
			add(s)
		}
		f.Close()
	}
	return out
}

func TestDev(t *testing.T) {
	path := os.Getenv("DEV")
	if path == "" {
		t.Skip()
	}
	reads := load(t, path)
	fmt.Println(len(reads), "reads", total(reads), "bases")
	now := time.Now()
	lap := func(s string) { fmt.Println(s, time.Since(now).Round(time.Millisecond)); now = time.Now() }
	a := newAssembler(Config{Threads: 2, MaxBases: maxBases})
	a.add(reads)
	lap("assemble")
	b, n := a.linear()
	fmt.Println(len(a.segments), "segments", a.n, "linear", n)
	s := NewSequence(b, n, 2)
	lap("index")
	stats := func() {
		al := NewAligner(s)
		pieces, ed, ins, del, lit, multi := 0, 0, 0, 0, 0, 0
		for _, r := range reads {
			at := uint32(0)
			ps := al.Align(r.Bases, r.N)
			pieces += len(ps)
			if len(ps) > 1 {
				multi++
			}
			for _, p := range ps {
				lit += int(p.Start - at)
				at = p.End
				ed += len(p.Edits)
				for _, e := range p.Edits {
					switch e.Kind {
					case 1:
						ins++
					case 2:
						del++
					}
				}
			}
			lit += r.N - int(at)
		}
		fmt.Println("shared", s.n, "pieces", pieces, "reads of several", multi, "edits", ed, "ins", ins, "del", del, "literal", lit)
		lap("align")
	}
	stats()
	vote := func() *votes {
		v := newVotes(s, 2, false)
		v.add(reads)
		v.sum()
		lap("vote")
		return v
	}
	v := vote()
	b, n = v.consensus(0)
	s = NewSequence(b, n, 2)
	v = vote()
	fmt.Println("worth", v.worth(), v.editRate())
	if v.worth() {
		poor := v.poor(reads)
		fmt.Println("poor", len(poor), total(poor))
		b, n = v.consensus(0)
		s = NewSequence(b, n, 2)
		stats()
		s, _ = withVersions(context.Background(), s, poor, v.editRate(), Config{Threads: 2, MaxBases: maxBases})
		lap("versions")
		stats()
		v = vote()
	}
	v.prune = true
	b, n = v.consensus(0)
	s = NewSequence(b, n, 2)
	stats()
	_ = context.Background()
}
