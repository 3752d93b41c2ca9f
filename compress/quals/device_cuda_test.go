//go:build cuda

package quals

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"
)

// testDevice returns an open device of this machine.
func testDevice(t testing.TB) *Device {
	t.Helper()
	d := OpenDevice(never, func(line string) { t.Error(line) })
	t.Cleanup(d.Close)
	for i := 0; !d.usable.Load(); i++ {
		if i == 600 || t.Failed() {
			t.Fatal("no device")
		}
		time.Sleep(100 * time.Millisecond)
	}
	return d
}

// deviceCases are columns of all kinds: of few and many values, of short and long reads, and of several blocks.
func deviceCases() (all []primed) {
	all = primedColumns()
	for seed, values := range [][]byte{span('!', '~'), span('#', '+'), span('#', ','), span('#', '3'), span('#', '4'), span(0, 255)} {
		lengths := mixedLengths(int64(31+seed), 400, 300)
		all = append(all, primed{string(values[:1]) + " to " + string(values[len(values)-1:]),
			randomWalk(int64(41+seed), values, lengths), randomWalk(int64(51+seed), values, lengths[:len(lengths)-7*seed])})
	}
	if os.Getenv("ORCOMGO_SANITIZER") == "" { // where each instruction is checked this would take minutes
		long := []uint32{40000, 3, 0, 16384, 16385, 700000, 5, 900000, 100, 32768}
		all = append(all, primed{"long reads", randomWalk(61, span('#', 'Z'), long), randomWalk(62, span('#', 'Z'), long)},
			primed{"several blocks", randomWalk(63, []byte("#,:F"), repeated(150, 3000)), randomWalk(64, []byte("#,:F"), repeated(151, 20000))})
	}
	return all
}

// TestDevice: the device writes the bytes of the CPU, and reads them.
func TestDevice(t *testing.T) {
	d := testDevice(t)
	var all sync.WaitGroup
	for _, c := range deviceCases() {
		all.Go(func() {
			EncodeLeading(c.leading, 1<<30, func(p *Primer) { c.column.Primer = p })
			want := Encode(c.column)
			got := d.encode(&c.column)
			if !bytes.Equal(got, want) {
				t.Errorf("%s: the device encodes %d bytes, the CPU %d", c.name, len(got), len(want))
			}
			in := Input{Lengths: c.column.Lengths, Records: c.column.Records, Primer: c.column.Primer}
			if back := d.decode(want[1:], &in, len(c.column.Quals)); !bytes.Equal(back, c.column.Quals) {
				t.Errorf("%s: the device decodes %d bytes, not the %d that were encoded", c.name, len(back), len(c.column.Quals))
			}
			for _, bad := range [][]byte{want[1 : len(want)-2], append(want[1:len(want):len(want)], 0, 0), {}, {1, 0}} {
				if back := d.decode(bad, &in, len(c.column.Quals)); back != nil {
					t.Errorf("%s: the device decodes a stream of %d bytes, of which %d are right", c.name, len(bad), len(want)-1)
				}
			}
		})
	}
	all.Wait()
}

// BenchmarkDevice codes as many columns as a device has at once.
func BenchmarkDevice(b *testing.B) {
	d := testDevice(b)
	for _, values := range [][]byte{span('#', 'J'), []byte("#,:F")} {
		in := fixed(randomWalk(71, values, repeated(100, 8000)))
		EncodeLeading(in, 1<<20, func(p *Primer) { in.Primer = p })
		coded := Encode(in)
		for name, code := range map[string]func() bool{
			"encode": func() bool { return d.encode(&in) != nil },
			"decode": func() bool { return d.decode(coded[1:], &in, len(in.Quals)) != nil },
		} {
			for _, n := range []int{1, 48, 1024} {
				b.Run(fmt.Sprintf("%d values/%s/%d columns", len(values), name, n), func(b *testing.B) {
					b.SetBytes(int64(n * len(in.Quals)))
					for b.Loop() {
						var all sync.WaitGroup
						for range n {
							all.Go(func() {
								if !code() {
									b.Error("the device does not code it")
								}
							})
						}
						all.Wait()
					}
				})
			}
		}
	}
}
