package compress

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"orcomgo/bins/record"
	"orcomgo/bins/vfs"
	"orcomgo/internal/testrun"
)

// TestVerificationReadsTheFile: a byte that changes in the file after it was written is found, in a slice or in the last shared section,
// whether slices are verified while others are coded, qualities before they are written, or all at the end, and the bins stay.
func TestVerificationReadsTheFile(t *testing.T) {
	testrun.NoRace(t)
	if runtime.GOOS != "linux" {
		t.Skip("the file has no name while it is written; it is found in /proc")
	}
	smallSlices(t)
	text, mates := simulated(70, 750, true)
	for _, o := range []record.Options{{BlockSize: 50_000}, {BlockSize: 50_000, ReadsOnly: true, OrderAny: true}} {
		for name, c := range map[string]PackOptions{
			"following": {Threads: 2}, "early": {Threads: 8}, "afterwards": {Threads: 2, Memory: 1 << 20},
		} {
			// The first read of the file, of a slice or of its header, or when all of it was written.
			for _, when := range []string{"pread", "fsync"} {
				t.Run(name+"/"+when, func(t *testing.T) {
					dir := binTo(t, pair(text, mates), o)
					before := filesIn(t, dir)
					var once sync.Once
					vfs.Fault = func(call, path string) error {
						if call == when && strings.HasSuffix(path, ".cdna") {
							once.Do(func() { flipLast(t, dir, when == "pread") })
						}
						return nil
					}
					defer func() { vfs.Fault = nil }()
					_, err := Pack(context.Background(), dir, limited(c))
					if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "verification failed, the bins are kept") {
						t.Errorf("error %v", err)
					}
					vfs.Fault = nil
					sameFiles(t, filesIn(t, dir), before)
					packTo(t, dir, c)
				})
			}
		}
	}
}

// flipLast changes the last byte of the file without a name in dir that this process has open, or all bytes after its header.
func flipLast(t *testing.T, dir string, all bool) {
	fds, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err != nil || !strings.HasPrefix(to, dir) || !strings.HasSuffix(to, "(deleted)") {
			continue
		}
		f, err := os.OpenFile(fd, os.O_RDWR, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			t.Error(err)
			return
		}
		data := make([]byte, info.Size())
		if _, err := f.ReadAt(data, 0); err != nil {
			t.Error(err)
			return
		}
		from := len(data) - 1
		if all {
			from = 25
		}
		for i := range data[from:] {
			data[from+i] ^= 1
		}
		if _, err := f.WriteAt(data[from:], int64(from)); err != nil {
			t.Error(err)
		}
		return
	}
	t.Error("the file that is being written was not found")
}
