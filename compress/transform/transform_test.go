package transform

import (
	"errors"
	"slices"
	"testing"
)

var errMemory = errors.New("too little memory")

// backend is a GPU that fails as told.
type backend struct{ err error }

func (b *backend) NewTransformer() (Transformer, error) { return b, nil }
func (b *backend) Close() error                         { return nil }

func (b *backend) TransformSampled(dst, _ []byte, _ int, _ []uint32, every int, samples []uint32) error {
	if len(samples) != len(dst)/every {
		return errors.New("samples")
	}
	return b.err
}

func (b *backend) Inverse(_, _ []byte, _ uint32) error { return b.err }

// TestLeftToTheCPU: what a GPU can't do is reported as not done, with one line.
func TestLeftToTheCPU(t *testing.T) {
	b := &backend{}
	open := func() (Backend, error) { return b, nil }
	defer Register(Register(Code{open, func(err error) bool { return err == errMemory }, func(error) bool { return false }, 1000}))
	const lost = "the GPU is not used any more, the CPU transforms the blocks: lost"
	for _, c := range []struct {
		name  string
		err   error
		sizes []int
		done  []bool
		lines []string
	}{
		{"all", nil, []int{1000, 1}, []bool{true, true}, nil},
		{"too large", nil, []int{1001, 2000, 1000}, []bool{false, false, true},
			[]string{"the CPU transforms a block of 1 MB: a GPU takes at most 0 MB"}},
		{"memory", errMemory, []int{900, 800}, []bool{false, false}, []string{"the CPU transforms a block of 1 MB: too little memory"}},
		{"failure", errors.New("lost"), []int{10, 10}, []bool{false, false}, []string{lost}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.err = c.err
			var lines []string
			a, err := Open(GPU, func(line string) { lines = append(lines, line) })
			if err != nil {
				t.Fatal(err)
			}
			l := a.Lane()
			for i, n := range c.sizes {
				every, samples := i, []uint32(nil) // 0: none
				if every > 0 {
					samples = make([]uint32, n/every)
				}
				if got := l.Transform(make([]byte, n), make([]byte, n), 1, nil, every, samples); got != c.done[i] {
					t.Errorf("transform of %d bytes: done %v", n, got)
				}
				if got := l.Inverse(make([]byte, n), make([]byte, n), 0); got != c.done[i] {
					t.Errorf("inverse of %d bytes: done %v", n, got)
				}
			}
			if err := errors.Join(l.Close(), a.Close()); err != nil || !slices.Equal(lines, c.lines) {
				t.Errorf("%v, noted %q, not %q", err, lines, c.lines)
			}
		})
	}
	var none *Accelerator
	if none.Lane().Transform(nil, nil, 1, nil, 0, nil) || none.Lane().Close() != nil || none.Close() != nil {
		t.Error("a nil Accelerator does something")
	}
}
