package tree

import (
	"bytes"

	"orcomgo/bins/commit"
)

const (
	holeUnit  = 4096     // bytes: holes begin and end at multiples of it, since file systems have no smaller ones
	leastHole = 64 << 10 // bytes of zeros that become a hole
)

// holeWriter writes a file from its begin on. Long runs of zeros become holes, which take no space and no time.
type holeWriter struct {
	f      *commit.Temp
	at     int64 // bytes so far
	atHole bool  // the last bytes are a hole
}

var zeroUnit [holeUnit]byte

// Write implements io.Writer.
func (w *holeWriter) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		data, zeros := cutZeros(p, int(-w.at&(holeUnit-1)))
		if data > 0 {
			var k int
			k, err = w.f.Write(p[:data])
			w.at, w.atHole = w.at+int64(k), false
			n, p = n+k, p[k:]
			continue
		}
		if err = w.f.Skip(int64(zeros)); err == nil {
			w.at, w.atHole = w.at+int64(zeros), true
			n, p = n+zeros, p[zeros:]
		}
	}
	return n, err
}

// finish completes a file that ends with a hole.
func (w *holeWriter) finish() error {
	if !w.atHole {
		return nil
	}
	return w.f.SetSize(w.at)
}

// cutZeros returns how many bytes p begins with before a run of zeros that may become a hole, or, if that is none, how many zeros this has.
// Units of a hole begin at p[first] and after each holeUnit bytes from there on.
func cutZeros(p []byte, first int) (data, zeros int) {
	for at := first; at+leastHole <= len(p); at += holeUnit {
		end := at
		for end+holeUnit <= len(p) && bytes.Equal(p[end:end+holeUnit], zeroUnit[:]) {
			end += holeUnit
		}
		if end-at < leastHole {
			at = end
			continue
		}
		if at > 0 {
			return at, 0
		}
		return 0, end
	}
	return len(p), 0
}
