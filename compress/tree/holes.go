package tree

import (
	"bytes"

	"orcomgo/bins/commit"
)

// holeSize is how many bytes of zeros become a hole, from a multiple of it on.
const holeSize = 64 << 10

// holeWriter writes a file from its begin on. Long runs of zeros become holes, which take no space and no time.
type holeWriter struct {
	f       *commit.Temp
	written func(n int) // is told how many more bytes are written
	at      int64       // bytes so far
	atHole  bool        // the last bytes are a hole
}

var zeros [holeSize]byte

// Write implements io.Writer.
func (w *holeWriter) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		k := min(len(p), holeSize-int(w.at%holeSize))
		if w.atHole = bytes.Equal(p[:k], zeros[:]); w.atHole {
			err = w.f.Skip(holeSize)
		} else {
			k, err = w.f.Write(p[:k])
		}
		w.at, n, p = w.at+int64(k), n+k, p[k:]
	}
	w.written(n)
	return n, err
}

// finish completes a file that ends with a hole.
func (w *holeWriter) finish() error {
	if !w.atHole {
		return nil
	}
	return w.f.SetSize(w.at)
}
