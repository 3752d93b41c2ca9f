package entropy

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func namesRoundTrip(t *testing.T, chunk []byte) []byte {
	t.Helper()
	stored := e.AppendNames(nil, chunk)
	out := make([]byte, len(chunk))
	if err := d.Names(out, stored); err != nil {
		t.Fatalf("%q: %v", chunk[:min(len(chunk), 200)], err)
	}
	if !bytes.Equal(out, chunk) {
		t.Fatalf("%q comes back as %q", chunk[:min(len(chunk), 200)], out[:min(len(chunk), 200)])
	}
	return stored
}

func TestNames(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, chunk := range []string{
		"", "\n", "\n\n\n", "\n\n", "a", "a\n", "a\n\na\n", "7\n8\n\n9", "1a\na1\n1a",
		"1\n2\n3", "1\n2\n3\n", "9\n10\n", "09\n10\n11\n", "0\n00\n", "00\n1\n", "1\n01\n", "1\n128\n256\n",
		"5\n100\n200\n", "9\n136\n", "09\n136", "999999999\n1000000000\n1000000001\n", "999999999\n1000000126\n",
		"a1b2c3d4e5f6g7h8i9j1k2l3\na1b2c3d4e5f6g7h8i9j1k2l4\n", "a1b2c3d4e5f6g7h8\na1b2c3d4e5f6g7i8\n",
		long + "\n" + long + "y\n" + long,
	} {
		namesRoundTrip(t, []byte(chunk))
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		n := rng.IntN(200)
		b := make([]byte, n)
		for i := range b {
			b[i] = "00123456789ab:\n\n"[rng.IntN(16)]
		}
		namesRoundTrip(t, b)
	}
	var b []byte
	x := 1
	for i := range 20000 {
		b = fmt.Appendf(b, "SRR123.%d M:%d:%04d:%d/1\n", i, x/100, x, rng.IntN(30000))
		x += rng.IntN(3)
	}
	t.Logf("%d bytes of names take %d", len(b), len(namesRoundTrip(t, b)))
}
