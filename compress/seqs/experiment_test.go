package seqs

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"orcomgo/bins"
)

func cpu() time.Duration {
	var r syscall.Rusage
	syscall.Getrusage(0, &r)
	return time.Duration(r.Utime.Nano())
}

func TestFileExperiment(t *testing.T) {
	paths := os.Getenv("SQ_FILE")
	if paths == "" {
		t.Skip()
	}
	var cols []column
	for _, path := range strings.Split(paths, ",") {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		z, _ := gzip.NewReader(f)
		sc := bufio.NewScanner(z)
		sc.Buffer(nil, 1<<24)
		var c column
		for i := 0; sc.Scan(); i++ {
			if i%4 == 1 {
				c.reads = append(c.reads, sc.Text())
			} else if i%4 == 3 {
				c.quals = append(c.quals, sc.Bytes()...)
			}
		}
		cols = append(cols, c)
	}
	for _, sorted := range []bool{true, false} {
		if sorted && os.Getenv("SQ_MODE") == "orig" || !sorted && os.Getenv("SQ_MODE") == "any" {
			continue
		}
		r := archiveOf(t, bins.Options{OrderAny: sorted, ReadsOnly: sorted}, len(cols[0].reads), cols...)
		t0 := cpu()
		w0 := time.Now()
		last, lastCPU := "", cpu()
		e, err := Build(context.Background(), r, Config{Threads: 2, Progress: func(s string, _, _ uint64) {
			if s != last {
				fmt.Printf("   [%s ended: %.2fs cpu]\n", last, (cpu() - lastCPU).Seconds())
				last, lastCPU = s, cpu()
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		n := len(cols[0].reads)
		slices := 1
		if !sorted {
			slices = (n + 200000) / 220000
		}
		var all [streams]int
		total := 0
		for k := range slices {
			at, end := n*k/slices, n*(k+1)/slices
			var perm []uint32
			if sorted {
				perm, _ = e.Sorted(0, uint64(at), uint64(end))
			}
			first := sliceColumn(0, cols[0], at, end-at, perm, !sorted)
			var mate *Column
			if len(cols) > 1 {
				mate = sliceColumn(1, cols[1], at, end-at, perm, !sorted)
			}
			b, err := e.EncodeSlice(first, mate)
			if err != nil {
				t.Fatal(err)
			}
			total += len(b)
			s, _ := streamsOf(b[2:])
			for i := range s {
				all[i] += len(s[i])
			}
		}
		sh := e.Shared()
		p := e.parts[0]
		un, unb := 0, 0
		for rec := range p.layout.Reads.Count() {
			if x, _ := p.layout.Place(uint32(rec)); x == unplaced {
				un++
				unb += p.layout.ReadLen(uint32(rec))
			}
		}
		fmt.Printf("sorted=%v total %d: pg %d bases %d bytes (%.3f), tree %d, exceptions %d places %d mismatches %d literals %d (%d reads %d bases, %.3f); %.2fs cpu %.2fs wall\n", sorted, total+len(sh[0])+len(sh[1]),
			p.layout.Len, len(sh[0]), float64(len(sh[0]))*8/float64(p.layout.Len), len(sh[1]), all[0], all[1], all[2], all[3], un, unb, float64(all[3])*8/float64(max(unb, 1)), (cpu() - t0).Seconds(), time.Since(w0).Seconds())
		if os.Getenv("SQ_DEC") != "" {
			t0, w0 = cpu(), time.Now()
			d, _ := NewDecoder(sh, 2)
			<-d.parts[0].done
			fmt.Printf("   pg decode %.2f cpu %.2f wall\n", (cpu() - t0).Seconds(), time.Since(w0).Seconds())
		}
	}
}
