package blocksort

import (
	"bytes"
	"errors"
	"io"
	"math/rand"
	"strings"
	"sync"
	"testing"

	"orcomgo/compress/bwt"
	"orcomgo/compress/transform"
)

var (
	errTestMemory = errors.New("not enough memory")
	errTestNone   = errors.New("no transform")
)

// testGPU is a GPU that transforms by package bwt, up to a number of calls and a size.
type testGPU struct {
	mutex                  sync.Mutex
	calls, failAfter, most int
	openTransformers       int
	closed                 bool
}

func (g *testGPU) NewTransformer() (transform.Transformer, error) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.openTransformers++
	return &testTransformer{gpu: g}, nil
}

func (g *testGPU) Close() error {
	g.closed = true
	return nil
}

type testTransformer struct {
	gpu *testGPU
	t   bwt.Transformer
}

func (x *testTransformer) begin(n int) error {
	x.gpu.mutex.Lock()
	defer x.gpu.mutex.Unlock()
	x.gpu.calls++
	switch {
	case x.gpu.calls > x.gpu.failAfter:
		return errors.New("lost")
	case n > x.gpu.most:
		return errTestMemory
	}
	return nil
}

func (x *testTransformer) TransformSampled(dst, text []byte, _ int, starts []uint32, _ int, _ []uint32) error {
	if err := x.begin(len(text)); err != nil {
		return err
	}
	s, err := x.t.Transform(dst, text, 1)
	copy(starts, s)
	return err
}

func (x *testTransformer) Inverse(dst, transformed []byte, origin uint32) error {
	if err := x.begin(len(dst)); err != nil {
		return err
	}
	if origin%3 == 0 {
		return errTestNone
	}
	s := make([]uint32, bwt.Starts(len(dst)))
	s[0] = origin
	if len(s) > 1 {
		return errors.New("the test has one starting point")
	}
	return x.t.Inverse(dst, transformed, s, 1)
}

func (x *testTransformer) Close() error {
	x.gpu.openTransformers--
	return nil
}

// withTestGPU has programs use g, unless it is nil.
func withTestGPU(t *testing.T, g *testGPU) {
	before := transform.Register(transform.Code{
		Open: func() (transform.Backend, error) {
			if g == nil {
				return nil, errors.New("no device is visible")
			}
			return g, nil
		},
		TooLittleMemory: func(err error) bool { return errors.Is(err, errTestMemory) },
		NotATransform:   func(err error) bool { return errors.Is(err, errTestNone) },
		Most:            1 << 30,
	})
	t.Cleanup(func() { transform.Register(before) })
}

// TestDevice: a GPU changes no byte, also if it fails, has too little memory, or does not know a transform; a line says what it did not do.
func TestDevice(t *testing.T) {
	text := report(rand.New(rand.NewSource(11)), 300000)
	want := encode(t, text, WithBlockSize(50000), WithThreads(2))
	for _, x := range []struct {
		name            string
		failAfter, most int
		lines           string
	}{
		{"works", 1 << 30, 1 << 30, ""},
		{"fails", 2, 1 << 30, "the GPU is not used any more, the CPU transforms the blocks: lost"},
		{"too little memory", 1 << 30, 40000, "the CPU transforms a block of 1 MB: not enough memory"},
	} {
		t.Run(x.name, func(t *testing.T) {
			var lines []string
			device := WithDevice(DeviceGPU, func(line string) { lines = append(lines, line) })
			checkGPU := func(g *testGPU) {
				t.Helper()
				if g.openTransformers != 0 || !g.closed || g.calls == 0 {
					t.Errorf("%d transformers left open, device closed %v, %d calls", g.openTransformers, g.closed, g.calls)
				}
				if got := strings.Join(lines, "\n"); got != x.lines {
					t.Errorf("noted %q, not %q", got, x.lines)
				}
				lines = nil
			}
			g := testGPU{failAfter: x.failAfter, most: x.most}
			withTestGPU(t, &g)
			if got := encode(t, text, WithBlockSize(50000), WithThreads(1), device); !bytes.Equal(got, want) {
				t.Error("another stream")
			}
			checkGPU(&g)
			g.calls, g.closed = 0, false
			got, err := decode(want, WithThreads(1), device)
			if err != nil || !bytes.Equal(got, text) {
				t.Errorf("%d bytes of %d, %v", len(got), len(text), err)
			}
			checkGPU(&g)
		})
	}
}

// TestDeviceChoice: auto takes a GPU for large blocks, if there is one; gpu wants one.
func TestDeviceChoice(t *testing.T) {
	text := report(rand.New(rand.NewSource(12)), 100000)
	want := encode(t, text)
	g := &testGPU{failAfter: 1 << 30, most: 1 << 30}
	withTestGPU(t, g)
	if got := encode(t, text, WithDevice(DeviceAuto, nil)); !bytes.Equal(got, want) || g.calls != 0 || !g.closed {
		t.Errorf("auto transformed a small block on the GPU: %d calls", g.calls)
	}
	r, err := NewReader(bytes.NewReader(want), WithDevice(DeviceGPU, nil))
	if err != nil {
		t.Fatal(err)
	}
	g.closed = false
	if _, err := r.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil || !g.closed {
		t.Errorf("a Reader that was not read to the end: %v, closed %v", err, g.closed)
	}
	if _, err := r.Read(make([]byte, 10)); err != ErrClosed {
		t.Errorf("read after Close: %v", err)
	}
	withTestGPU(t, nil)
	if got := encode(t, text, WithDevice(DeviceAuto, nil)); !bytes.Equal(got, want) {
		t.Error("another stream")
	}
	if _, err := NewWriter(io.Discard, WithDevice(DeviceGPU, nil)); err == nil || !strings.Contains(err.Error(), "no device is visible") {
		t.Errorf("a Writer without a GPU: %v", err)
	}
	transform.Register(transform.Code{})
	if _, err := NewReader(nil, WithDevice(DeviceGPU, nil)); !errors.Is(err, transform.ErrNoGPU) {
		t.Errorf("a Reader in a program without GPU support: %v", err)
	}
	if _, err := NewWriter(io.Discard, WithDevice(7, nil)); err == nil {
		t.Error("device 7 was taken")
	}
}
