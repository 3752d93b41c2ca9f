package entropy

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// randomSymbols returns n symbols of an alphabet of k, the earlier ones more often, each like the one before with the chance same.
func randomSymbols(rng *rand.Rand, n, k, first int, same float64) []byte {
	b := make([]byte, n)
	for i := range b {
		if i > 0 && rng.Float64() < same {
			b[i] = b[i-1]
			continue
		}
		b[i] = byte(first + int(float64(k)*rng.Float64()*rng.Float64()*rng.Float64()))
	}
	return b
}

var (
	e Encoder
	d Decoder
)

func roundTrip(t *testing.T, symbols []byte, order1 bool) []byte {
	t.Helper()
	stored := e.AppendStream([]byte{1, 2, 3}, symbols, order1)
	if !bytes.HasPrefix(stored, []byte{1, 2, 3}) {
		t.Fatal("AppendStream changed what was there")
	}
	stored = stored[3:]
	if len(stored) > len(symbols)+1 {
		t.Fatalf("%d symbols take %d bytes", len(symbols), len(stored))
	}
	out := make([]byte, len(symbols))
	if err := d.Stream(out, stored); err != nil {
		t.Fatalf("%d symbols: %v", len(symbols), err)
	}
	if !bytes.Equal(out, symbols) {
		t.Fatalf("%d symbols come back changed", len(symbols))
	}
	return stored
}

func TestStreams(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	kinds := map[string]int{}
	for _, n := range []int{0, 1, 2, 3, 63, 64, 65, 66, 67, 68, 100, 127, 1000, 4099, 100003} {
		for _, k := range []int{1, 2, 3, 8, 41, 64, 65, 94, 200} {
			for _, first := range []int{0, 33} {
				for _, same := range []float64{0, .5, .98} {
					for _, order1 := range []bool{false, true} {
						stored := roundTrip(t, randomSymbols(rng, n, k, first, same), order1)
						if n > 0 {
							kinds[fmt.Sprint(stored[0])]++
						}
					}
				}
			}
		}
	}
	for k := range 4 {
		if kinds[fmt.Sprint(k)] == 0 {
			t.Errorf("no stream is of kind %d: %v", k, kinds)
		}
	}
}

func TestErrCorrupt(t *testing.T) {
	for _, stored := range [][]byte{nil, {9, 1}, {1}, {0, 1}} {
		if err := d.Stream(make([]byte, 2), stored); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%v: %v", stored, err)
		}
	}
}
