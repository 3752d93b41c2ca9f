package doubles

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

// testGPU computes residuals as the CPU does, for so many chunks.
type testGPU struct{ left, open int }

func (g *testGPU) newCoder() (coder, error) {
	g.open++
	return testCoder{g}, nil
}

func (g *testGPU) close() error {
	g.open = -1
	return nil
}

type testCoder struct{ g *testGPU }

func (c testCoder) close() error {
	c.g.open--
	return nil
}

func (c testCoder) residuals(data []byte, m mode, width int, blocks []block) ([]leftOver, error) {
	if c.g.left == 0 {
		return nil, errors.New("lost")
	}
	c.g.left--
	return onCPU(data, m, width, blocks), nil
}

// onCPU is what a coder returns.
func onCPU(data []byte, m mode, width int, blocks []block) []leftOver {
	w := &workspace{}
	v := &values{numbering: numbering{mode: m, width: width}}
	for _, b := range blocks {
		for _, p := range b.pair {
			v.pad = max(v.pad, p.reach())
		}
	}
	if m == modeBits {
		v.room(w, len(data)/width, true)
		v.load(data)
	} else {
		v.u = make([]uint64, v.pad)
		for i := 0; i < len(data); i += 8 {
			v.u = append(v.u, binary.LittleEndian.Uint64(data[i:]))
		}
	}
	var all []leftOver
	for i := range blocks {
		l := w.residuals(v, &blocks[i])
		all = append(all, leftOver{slices.Clone(l.classes), slices.Clone(l.bits)})
	}
	return all
}

// useTestGPU has OpenGPU open g until the test ends.
func useTestGPU(t *testing.T, g *testGPU) {
	before := openBackend
	openBackend = func() (backend, error) { return g, nil }
	t.Cleanup(func() { openBackend = before })
}

// TestGPU: a GPU changes no byte, also if it fails.
func TestGPU(t *testing.T) {
	for _, left := range []int{100, 1, 0} {
		var lines []string
		g := &testGPU{left: left}
		useTestGPU(t, g)
		gpu, err := OpenGPU(func(line string) { lines = append(lines, line) })
		if err != nil {
			t.Fatal(err)
		}
		chunks := 0
		for _, name := range []string{"sine", "decimals with NaN", "special", "zeros", "waves"} {
			x := arrays()[name]
			data, l := raw(x, 8), Layout{Width: 8}
			if got := gpu.Encode(data, l, 2); !bytes.Equal(got, Encode(data, l, 1)) {
				t.Errorf("%s, %d chunks on the GPU: another stream", name, left)
			}
			if len(x) >= leastOnGPU {
				chunks++
			}
		}
		if used := left - g.left; used != min(left, chunks) {
			t.Errorf("the GPU had %d chunks of %d", used, chunks)
		}
		if failed := left < chunks; failed != (len(lines) == 1) {
			t.Errorf("%d chunks on the GPU: it noted %q", left, lines)
		}
		if err := gpu.Close(); err != nil || g.open != -1 {
			t.Errorf("%v, %d open", err, g.open)
		}
	}
}

func TestNoGPU(t *testing.T) {
	before := openBackend
	defer func() { openBackend = before }()
	openBackend = nil
	if _, err := OpenGPU(nil); err != ErrNoGPU {
		t.Error(err)
	}
	openBackend = func() (backend, error) { return nil, errors.New("no device is visible") }
	if _, err := OpenGPU(nil); err == nil || err == ErrNoGPU {
		t.Error(err)
	}
}
