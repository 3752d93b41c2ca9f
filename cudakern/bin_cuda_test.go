//go:build cuda

package cudakern

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync"
	"testing"

	"gorgonia.org/cu"

	"orcomgo/internal/testrun"
)

// These tests run on a machine with a GPU: make test-cuda builds them.

func open(t testing.TB) *Device {
	t.Helper()
	d, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// table is for Columns.Map.
var table = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)*7 + 3
	}
	return t
}()

func lane(t testing.TB, d *Device, block int) *Lane {
	t.Helper()
	l, err := d.NewLane(block, &table)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// bin copies the text to the device and bins it; what the device does not write of its
// columns must not look right.
func bin(l *Lane, text []byte, want Columns) (*Result, error) {
	if err := upload(l, text); err != nil {
		return nil, err
	}
	var out Output
	if err := out.room(l.dev, min(2*len(text)+1<<12, 1<<24)); err != nil {
		return nil, err
	}
	for i := range out.mem {
		out.mem[i] = 0xa5
	}
	return l.Bin(len(text), len(text), want, &out)
}

// all is every column.
var all = Columns{Names: true, Quals: true}

// compare tells the first column that differs.
func compare(got, want *Result) error {
	g, w := *got, *want
	if w.Records == 0 {
		w.MinLen = 0
	}
	gv, wv := reflect.ValueOf(g), reflect.ValueOf(w)
	for i := range gv.NumField() {
		a, b := gv.Field(i), wv.Field(i)
		if a.Kind() == reflect.Slice && a.Len() == 0 && b.Len() == 0 {
			continue
		}
		if reflect.DeepEqual(a.Interface(), b.Interface()) {
			continue
		}
		if a.Kind() == reflect.Slice {
			for j := range min(a.Len(), b.Len()) {
				if !reflect.DeepEqual(a.Index(j).Interface(), b.Index(j).Interface()) {
					return fmt.Errorf("%s[%d] is %v, want %v (of %d, %d)", gv.Type().Field(i).Name, j, a.Index(j), b.Index(j), a.Len(), b.Len())
				}
			}
			return fmt.Errorf("%s has %d values, want %d", gv.Type().Field(i).Name, a.Len(), b.Len())
		}
		return fmt.Errorf("%s is %v, want %v", gv.Type().Field(i).Name, a, b)
	}
	return nil
}

var shapes = map[string]shape{
	"fixed 100":        {records: 5000, shortest: 100, plusName: 0},
	"fixed 151 with N": {records: 3000, shortest: 151, nonACGT: 20},
	"mixed":            {records: 5000, shortest: 0, longer: 200, nonACGT: 3},
	"around the skip":  {records: 4000, shortest: 17, longer: 6, nonACGT: 10},
	"around 32":        {records: 4000, shortest: 30, longer: 40, nonACGT: 10, plusName: 50},
	"empty reads":      {records: 3000},
	"empty, no names":  {records: 3000, emptyNames: true},
	"CRLF":             {records: 3000, shortest: 75, longer: 2, cr: true},
	"some CR":          {records: 3000, shortest: 0, longer: 50, cr: true, crSome: true, plusName: 30},
	"name again":       {records: 3000, shortest: 36, plusName: 100},
	"lower and IUPAC":  {records: 2000, shortest: 90, longer: 90, nonACGT: 500},
	"runs":             {records: 3000, shortest: 100, repeats: true},
	"long":             {records: 40, shortest: 20000, longer: 3000, nonACGT: 30},
	"no last newline":  {records: 777, shortest: 100, longer: 1, noNewline: true},
	"one record":       {records: 1, shortest: 100},
	"one, unended":     {records: 1, shortest: 21, noNewline: true},
	"one base":         {records: 1, shortest: 1},
}

// TestBin compares every column with the reference, from one lane that grows as it must.
func TestBin(t *testing.T) {
	d := open(t)
	small := lane(t, d, 1<<12)
	for name, s := range shapes {
		rng := rand.New(rand.NewPCG(1, uint64(len(name))))
		text := fastq(s, rng)
		want := reference(text)
		got, err := bin(small, text, all)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := compare(got, want); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := bin(small, nil, all); err != nil || got.Records != 0 || got.Unsupported {
		t.Errorf("no text: %+v, %v", got, err)
	}
}

// TestBinLarge takes a block whose record table, sort and totals span many tiles.
func TestBinLarge(t *testing.T) {
	testrun.NotShort(t)
	d := open(t)
	l := lane(t, d, 64<<20)
	for _, s := range []shape{{records: 250000, shortest: 100}, {records: 600000, shortest: 30, longer: 30, nonACGT: 2},
		{records: 3, shortest: 5 << 20, nonACGT: 1}} {
		text := fastq(s, rand.New(rand.NewPCG(7, 7)))
		got, err := bin(l, text, all)
		if err != nil {
			t.Fatal(err)
		}
		if err := compare(got, reference(text)); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// TestColumnsLeftOut: without names and qualities they stay nil and the rest is the same.
func TestColumnsLeftOut(t *testing.T) {
	d := open(t)
	text := fastq(shape{records: 1000, shortest: 50, longer: 10, nonACGT: 5}, rand.New(rand.NewPCG(3, 3)))
	l := lane(t, d, 1<<16)
	for _, c := range []struct{ names, quals bool }{{false, false}, {true, false}, {false, true}} {
		want := reference(text)
		if !c.names {
			want.Names = nil
		}
		if !c.quals {
			want.Quals = nil
		}
		got, err := bin(l, text, Columns{Names: c.names, Quals: c.quals})
		if err != nil {
			t.Fatal(err)
		}
		if err := compare(got, want); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestMap: the qualities come back through the table.
func TestMap(t *testing.T) {
	d := open(t)
	l := lane(t, d, 1<<20)
	for _, n := range []int{1, 15, 16, 17, 5000} {
		text := fastq(shape{records: n, shortest: 1, longer: 30}, rand.New(rand.NewPCG(8, uint64(n))))
		want := reference(text)
		want.Names = nil
		for i, q := range want.Quals {
			want.Quals[i] = table[q]
		}
		got, err := bin(l, text, Columns{Quals: true, Map: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := compare(got, want); err != nil {
			t.Errorf("%d records: %v", n, err)
		}
	}
}

// TestOdd: what the kernels don't take is refused with the smallest ordinal.
func TestOdd(t *testing.T) {
	d := open(t)
	l := lane(t, d, 1<<16)
	good := "@a b\nACGTACGTACGTACGTACGTACGT\n+\nIIIIIIIIIIIIIIIIIIIIIIII\n"
	many := strings.Repeat(good, 900)
	for _, c := range []struct {
		name, text string
		record     int
	}{
		{"no @", many + "b\nACGT\n+\nIIII\n" + many, 900},
		{"no +", many + good + "@b\nACGT\n-\nIIII\n" + many, 901},
		{"blank plus", many + "@b\nACGT\n\nIIII\n", 900},
		{"short quality", many + "@b\nACGT\n+\nIII\n" + many, 900},
		{"long quality", many + "@b\nACGT\n+\nIIIII\n" + many, 900},
		{"space in the sequence", "@b\nAC T\n+\nIIII\n" + many, 0},
		{"digit in the sequence", many + "@b\nACGTACGTACGTACGTACGTACGTACGTACGTACGT1CGT\n+\nIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIII\n", 900},
		{"space in the quality", many + "@b\nACGTA\n+\nIIII \n" + many, 900},
		{"DEL in the quality", many + "@b\nACGTA\n+\nI\x7fIII\n" + many, 900},
		{"high byte in the quality", many + "@b\nACGTA\n+\nI\xc1III\n" + many, 900},
		{"CR in the sequence", many + "@b\nAC\rTA\n+\nIIIII\n" + many, 900},
		{"other name after +", many + "@b\nACGTA\n+c\nIIIII\n" + many, 900},
		{"longer name after +", many + "@b\nACGTA\n+bb\nIIIII\n" + many, 900},
		{"blank line", many + "\n", -1},
		{"lines missing", many + "@b\nACGTA\n", -1},
		{"two of them", many + "@b\nACGT\n+\nIII\n" + many + "@b\nACGT\n+\nIII\n", 900},
		{"blank lines only", "\n\n\n\n", 0},
	} {
		got, err := bin(l, []byte(c.text), all)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if !got.Unsupported || got.Record != c.record {
			t.Errorf("%s: odd %v record %d, want %d", c.name, got.Unsupported, got.Record, c.record)
		}
	}
	if got, err := bin(l, []byte(good), all); err != nil || got.Unsupported {
		t.Errorf("a good block after odd ones: %+v, %v", got, err)
	}
}

// TestLanes runs several lanes at once.
func TestLanes(t *testing.T) {
	d := open(t)
	rounds, most := 4, 9000
	if underRacecheck() {
		rounds, most = 1, 900
	}
	var wg sync.WaitGroup
	for i := range 8 {
		l := lane(t, d, 1<<20)
		wg.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewPCG(uint64(i), 9))
			for range rounds {
				text := fastq(shape{records: 1 + rng.IntN(most), shortest: rng.IntN(120), longer: rng.IntN(3), nonACGT: 2}, rng)
				want := reference(text)
				if i%2 != 0 {
					want.Names = nil
				}
				got, err := bin(l, text, Columns{Names: i%2 == 0, Quals: true})
				if err == nil {
					err = compare(got, want)
				}
				if err != nil {
					t.Errorf("lane %d: %v", i, err)
				}
			}
		}()
	}
	wg.Wait()
}

// TestFault: an error in a kernel names it, and the lane does not go on. A fault leaves the
// whole process without CUDA, so it is another process that has it.
func TestFault(t *testing.T) {
	if os.Getenv("ORCOMGO_FAULT") == "" {
		if os.Getenv("ORCOMGO_SANITIZER") != "" {
			t.Skip("faults on purpose")
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestFault$", "-test.v")
		cmd.Env = append(os.Environ(), "ORCOMGO_FAULT=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	text := fastq(shape{records: 1000, shortest: 100}, rand.New(rand.NewPCG(5, 5)))
	d, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	l := lane(t, d, 1<<20)
	if _, err := bin(l, text, all); err != nil {
		t.Fatal(err)
	}
	l.place.ptr = 256 // not device memory
	_, err = bin(l, text, all)
	if err == nil || !strings.Contains(err.Error(), "kernel signature: CUDA error IllegalAddress") {
		t.Errorf("the error is %v", err)
	}
	if _, err := bin(l, text, all); err == nil {
		t.Error("a lane went on after a fault")
	}
}

// TestMemory: a device that is nearly full gives ErrMemory, and what a lane took before it
// failed is free again.
func TestMemory(t *testing.T) {
	if os.Getenv("ORCOMGO_SANITIZER") != "" {
		t.Skip("fills the device")
	}
	d := open(t)
	leave, err := d.enter()
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	free, _, err := cu.MemInfo()
	if err != nil {
		t.Fatal(err)
	}
	hog, err := cu.MemAlloc(free - 300<<20)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.NewLane(512<<20, &table); !errors.Is(err, ErrMemory) {
		t.Errorf("the error is %v", err)
	}
	l, err := d.NewLane(16<<20, &table)
	if err != nil {
		t.Fatalf("after a failure: %v", err)
	}
	text := bytes.Repeat([]byte("@a\nACGTACGTACGTACGTACGTACGT\n+\nIIIIIIIIIIIIIIIIIIIIIIII\n"), 8<<20)
	if _, err := bin(l, text, all); !errors.Is(err, ErrMemory) {
		t.Errorf("growing gave %v", err)
	}
	if err := cu.MemFree(hog); err != nil {
		t.Fatal(err)
	}
	if got, err := bin(l, text, all); err != nil || got.Records != 8<<20 {
		t.Errorf("with memory again: %v", err)
	}
}
