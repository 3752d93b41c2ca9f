package restoring

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"math/rand"
	"strings"
	"testing"

	"orcomgo/compress/workers"
	"orcomgo/internal/deflate"
)

// TestBGZF: members of BGZF are gzip, and the same for any number of threads.
func TestBGZF(t *testing.T) {
	noise := make([]byte, 300_000)
	rand.New(rand.NewSource(1)).Read(noise)
	for _, text := range []string{"", "a", strings.Repeat("ACGT", 50_000), string(noise),
		strings.Repeat("x", deflate.BGZFText*bgzfTask*2+1)} {
		var first []byte
		for threads := range 3 {
			pool := workers.NewPool(threads + 1)
			var got []byte
			err := pool.Do(context.Background(), func() (err error) {
				got, err = bgzfMembers(context.Background(), pool, []byte(text))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if threads == 0 {
				first = got
			}
			if !bytes.Equal(got, first) {
				t.Errorf("%d threads: other bytes", threads+1)
			}
		}
		z, err := gzip.NewReader(bytes.NewReader(append(first, deflate.BGZFEnd...)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(z); err != nil || string(got) != text {
			t.Errorf("%d bytes come back, want %d: %v", len(got), len(text), err)
		}
	}
}
