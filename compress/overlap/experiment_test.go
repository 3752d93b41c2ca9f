package overlap

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"
)

func TestExperiment(t *testing.T) {
	path := os.Getenv("OV_FILE")
	if path == "" {
		t.Skip()
	}
	rd := readsOf(readFASTQ(t, path))
	t0 := time.Now()
	stage := ""
	l, err := Build(context.Background(), rd, Config{Threads: 2, Progress: func(s string, d, n uint64) {
		if s != stage {
			fmt.Printf("%6.2f %s\n", time.Since(t0).Seconds(), s)
			stage = s
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%6.2f done; pg %d\n", time.Since(t0).Seconds(), l.Len)
	var hist [40]int
	un, unb, mm := 0, 0, 0
	var buf []byte
	var mask []uint64
	for rec, pos := range l.pl.pos {
		i := int(rd.index[rec])
		if pos == Unplaced {
			un++
			unb += rd.len(i)
			continue
		}
		read, m, _ := rd.oriented(i, l.pl.reversed(uint32(rec)), &buf, &mask)
		k := 0
		forEachMismatch(l.Packed, int(pos), read, rd.len(i), m, func(int, byte) { k++ })
		mm += k
		hist[min(k, 39)]++
	}
	fmt.Println("reads", rd.Count(), "unplaced", un, "bases", unb, "mismatches", mm, hist)
}
