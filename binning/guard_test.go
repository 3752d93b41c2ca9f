//go:build unix

package binning

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"orcomgo/bases"
	"orcomgo/minimizer"
)

// guarded returns n bytes, n at most a page, between pages that must not be read or written. They end where the second one begins if
// atEnd is set, else they begin where the first one ends.
func guarded(t *testing.T, n int, atEnd bool) []byte {
	t.Helper()
	page := os.Getpagesize()
	m, err := unix.Mmap(-1, 0, 3*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(m) })
	for _, guard := range [][]byte{m[:page], m[2*page:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	if atEnd {
		return m[2*page-n : 2*page : 2*page]
	}
	return m[page : page+n : page+n]
}

// TestGuarded packs reads, copies qualities and finds line ends where nothing outside the slices may be touched.
func TestGuarded(t *testing.T) {
	for _, atEnd := range []bool{true, false} {
		text, out, other := guarded(t, 400, atEnd), guarded(t, 400, atEnd), guarded(t, 400, atEnd)
		copy(text, strings.Repeat("ACGTTGCATGGATCCACGGTTAACCAGTACGTTCAGACGT\nGACCTNacgtRTACC", 10))
		// slice returns n bytes of one of them, at its guarded end.
		slice := func(b []byte, n int) []byte {
			if atEnd {
				return b[len(b)-n:]
			}
			return b[:n:n]
		}
		for n := range 200 {
			read := slice(text, n)
			for i, c := range read {
				if c == '\n' {
					read[i] = 'N'
				}
			}
			packed := slice(out, bases.PackedLen(n)+minimizer.Pad)
			if _, bad := packRead(packed[:bases.PackedLen(n):bases.PackedLen(n)], read, 0, nil); bad != 0 {
				t.Fatalf("%d bases: bad byte %d", n, bad)
			}
			if atEnd {
				// At the very end, too.
				packRead(slice(out, bases.PackedLen(n)), read, 0, nil)
				packRead(packed, read, 0, nil)
			}
			minimizer.FindPacked(packed, n, nil)
			dst := slice(other, n)
			copyQuals(dst, read)
			if !bytes.Equal(dst, read) {
				t.Fatalf("%d qualities were copied as %q", n, dst)
			}
			copyQuals(nil, read)
			ends := make([]uint32, newlineRoom)
			if found, _ := findNewlines(ends, read, 0); found != 0 {
				t.Fatalf("%d bytes: found line ends", n)
			}
		}
	}
}
