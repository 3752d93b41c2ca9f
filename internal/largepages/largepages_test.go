package largepages

import (
	"runtime"
	"testing"
	"unsafe"
)

func TestMake(t *testing.T) {
	for _, n := range []int{0, 1, Size/8 - 1, Size / 8, Size/8 + 1, 5*Size/8 + 3} {
		s := Make[uint64](n)
		if len(s) != n || cap(s) != n && n >= Size/8 {
			t.Fatalf("Make(%d) has length %d and capacity %d", n, len(s), cap(s))
		}
		if p := uintptr(unsafe.Pointer(unsafe.SliceData(s))); n >= Size/8 && p%Size != 0 {
			t.Errorf("Make(%d) begins at %#x", n, p)
		}
		for i := range s {
			if s[i] != 0 {
				t.Fatalf("element %d of %d is not 0", i, n)
			}
			s[i] = 1
		}
	}
}

// TestAskForHeap: the heap keeps the addresses of memory that it gives back, where there are many threads.
func TestAskForHeap(t *testing.T) {
	const n = 1 << 28
	for _, threads := range []int{leastThreads - 1, leastThreads} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		AskForHeap(n)
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if kept := m.HeapReleased >= n; kept != (runtime.GOOS == "linux" && threads == leastThreads) || m.HeapInuse >= n/2 {
			t.Errorf("%d threads: the heap uses %d bytes, and has given back %d", threads, m.HeapInuse, m.HeapReleased)
		}
	}
}
