package seqs

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	rc "orcomgo/compress/rangecoder"
)

func TestExperiment(t *testing.T) {
	path := os.Getenv("CM_FILE")
	if path == "" {
		t.Skip()
	}
	f, _ := os.Open(path)
	z, _ := gzip.NewReader(f)
	raw, _ := io.ReadAll(z)
	var b []byte
	kind := raw[0]
	for i, l := range strings.Split(string(raw), "\n") {
		if kind == '>' && strings.HasPrefix(l, ">") || kind == '@' && i%4 != 1 {
			continue
		}
		for _, c := range []byte(l) {
			if v := strings.IndexByte("ACGT", c&^32); v >= 0 {
				b = append(b, byte(v))
			}
		}
	}
	if len(b) > 12000000 {
		b = b[:12000000]
	}
	m := newModel(len(b))
	var c lookup
	e := rc.NewEncoder(nil)
	t0 := cpu()
	for _, x := range b {
		m.look(&c)
		hi, lo := int(x>>1), int(x&1)
		p := m.predict(&c, 0)
		e.Encode(hi, p)
		m.learn(&c, 0, hi, p)
		p = m.predict(&c, 1+hi)
		e.Encode(lo, p)
		m.learn(&c, 1+hi, lo, p)
		m.enter(uint64(x))
	}
	out := e.Finish()
	d := cpu() - t0
	fmt.Printf("%s %d bases %d bytes %.4f bits/base %.1f ns/base\n", path, len(b), len(out), float64(len(out))*8/float64(len(b)), float64(d.Nanoseconds())/float64(len(b)))
}
