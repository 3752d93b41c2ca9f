package parity

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"

	"orcomgo/internal/codectest"
	"orcomgo/internal/testrun"
)

// randomBytes returns n bytes.
func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	rng.Read(b)
	return b
}

// protect returns the packets of data.
func protect(t testing.TB, data []byte, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, bytes.NewReader(data), int64(len(data)), o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// mend returns what can be restored of the data of which copies are left; nil if something is lost.
func mend(t testing.TB, packets []byte, copies ...[]byte) []byte {
	t.Helper()
	s, err := Read(bytes.NewReader(packets), int64(len(packets)))
	if err != nil {
		return nil
	}
	var list []Copy
	for _, c := range copies {
		list = append(list, Copy{bytes.NewReader(c), int64(len(c))})
	}
	v, err := s.Check(2, list...)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Mend(2, 1<<20, &Memory{Limit: 1 << 30}); err != nil {
		t.Fatal(err)
	}
	if v.Lost() > 0 {
		return nil
	}
	b := make([]byte, v.Size())
	if _, err := v.ReadAt(b, 0); err != nil {
		t.Fatal(err)
	}
	return b
}

// sizes are those of files that have codes of bytes, of words, and of several groups.
var sizes = []int{1, 63, 300, 5000, 100_000, 917_504, 3 << 20}

// TestRepair damages as many sectors as can be restored.
func TestRepair(t *testing.T) {
	draws := testrun.Pick(1, 1, 100)
	for _, size := range sizes {
		for _, share := range []float64{0, 0.01, 0.2} {
			rng := rand.New(rand.NewSource(int64(size)))
			data := randomBytes(rng, size)
			packets := protect(t, data, Options{Share: share, Bytes: int64(size / 100), Threads: 2, Memory: 1 << 18})
			s, err := Read(bytes.NewReader(packets), int64(len(packets)))
			if err != nil || s.Lost > 0 {
				t.Fatalf("%d bytes, share %g: %d packets lost, %v", size, share, s.Lost, err)
			}
			for _, name := range slices.Sorted(maps.Keys(codectest.FileDamages)) {
				damage := codectest.FileDamages[name]
				if share == 0 && slices.Contains([]string{"inserted", "removed", "beginning is missing"}, name) {
					continue // the checksums are too short to look for sectors
				}
				for draw := range draws {
					damaged := damage(rng, bytes.Clone(data), s.data.parity, s.data.sector)
					if got := mend(t, packets, damaged); !bytes.Equal(got, data) {
						t.Errorf("%d bytes, share %g, %s, draw %d: not repaired", size, share, name, draw)
					}
				}
			}
		}
	}
}

// TestSectorsTakenForOthers: inserted bytes have the checksum of a sector near them by chance.
func TestSectorsTakenForOthers(t *testing.T) {
	testrun.OnlyLong(t)
	const size, seed = 3 << 20, 704
	data := randomBytes(rand.New(rand.NewSource(size)), size)
	packets := protect(t, data, Options{Share: 0.2, Bytes: size / 100, Threads: 2, Memory: 1 << 18})
	s, err := Read(bytes.NewReader(packets), int64(len(packets)))
	if err != nil {
		t.Fatal(err)
	}
	damaged := codectest.FileDamages["inserted"](rand.New(rand.NewSource(seed)), bytes.Clone(data), s.data.parity, s.data.sector)
	if got := mend(t, packets, damaged); !bytes.Equal(got, data) {
		t.Error("not repaired")
	}
}

// TestGroups has few sectors in many groups.
func TestGroups(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	data := randomBytes(rng, 300_000)
	c := code{size: int64(len(data)), sector: 64, groups: 7, parity: 20}
	for i := range c.sectors() {
		if g, at := c.place(i); c.number(g, at) != i || at >= c.perGroup() {
			t.Fatalf("sector %d is at %d of group %d of %d", i, at, g, c.perGroup())
		}
	}
	parity := make(map[string][]byte)
	err := c.encode(bytes.NewReader(data), 3, 1<<14, func(group int, p [][]byte) error {
		for k := range p {
			parity[fmt.Sprint(group, k)] = bytes.Clone(p[k])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(data)
	var bad []int64
	for i := 100; i < 200; i++ { // a burst is spread
		clear(damaged[i*64 : i*64+64])
		bad = append(bad, int64(i))
	}
	left, err := c.mend(bytes.NewReader(damaged), bad, func(group, k, from int, dst []byte) (bool, error) {
		if len(dst) > 0 {
			copy(dst, parity[fmt.Sprint(group, k)][from:])
		}
		return k != 3, nil
	}, 2, 1<<14, func(i int64, b []byte) error {
		copy(damaged[i*64:], b)
		return nil
	})
	if err != nil || len(left) > 0 || !bytes.Equal(damaged, data) {
		t.Errorf("%d sectors are left, %v", len(left), err)
	}
}

// TestDamagedPackets damages packets as well.
func TestDamagedPackets(t *testing.T) {
	rng := rand.New(rand.NewSource(2))
	for _, size := range []int{5000, 3 << 20} {
		data := randomBytes(rng, size)
		packets := protect(t, data, Options{Share: 0.05, Threads: 2})
		for draw := range testrun.Pick(5, 20, 500) {
			damaged := bytes.Clone(packets)
			if draw%2 == 0 {
				damaged = codectest.FileDamages["inserted"](rng, damaged, 2, 4096)
			} else {
				damaged[rng.Intn(len(damaged))] ^= 0x55
			}
			one := bytes.Clone(data)
			one[rng.Intn(size)] ^= 1
			if got := mend(t, damaged, one); !bytes.Equal(got, data) {
				t.Errorf("%d bytes, draw %d: not repaired", size, draw)
			}
		}
	}
}

// TestBeyond damages more than can be restored: what comes back must say so.
func TestBeyond(t *testing.T) {
	rng := rand.New(rand.NewSource(3))
	data := randomBytes(rng, 1<<20)
	packets := protect(t, data, Options{Share: 0.01, Threads: 2})
	for range testrun.Pick(5, 20, 500) {
		damaged := codectest.FileDamages["sectors"](rng, bytes.Clone(data), 20, 4096)
		if got := mend(t, packets, damaged); got != nil && !bytes.Equal(got, data) {
			t.Fatal("other bytes came back")
		}
	}
}

// TestCopies merges two copies, each of which has lost half.
func TestCopies(t *testing.T) {
	rng := rand.New(rand.NewSource(4))
	data := randomBytes(rng, 1<<20)
	packets := protect(t, data, Options{Share: 0.01, Threads: 2})
	a, b := bytes.Clone(data), bytes.Clone(data)
	rng.Read(a[:len(a)/2])
	rng.Read(b[len(b)/2:])
	if got := mend(t, packets, a, append([]byte("x"), b...)); !bytes.Equal(got, data) {
		t.Error("two copies were not merged")
	}
}

// FuzzRead has packets that are damaged, or sealed with right checksums though they are not.
func FuzzRead(f *testing.F) {
	data := randomBytes(rand.New(rand.NewSource(5)), 3000)
	f.Add(protect(f, data, Options{Share: 0.1, Threads: 1}), data, 0, byte(0))
	f.Add(protect(f, data, Options{Bytes: 1, Threads: 1}), data, 41, byte(255))
	f.Fuzz(func(t *testing.T, packets, data []byte, at int, to byte) {
		if at >= 16 && at < len(packets) {
			packets = bytes.Clone(packets)
			packets[at] = to
			reseal(packets)
		}
		mend(t, packets, data)
	})
}

// reseal gives the packet at the beginning of b, if there is one, the checksum of its bytes.
func reseal(b []byte) {
	if len(b) < headerSize {
		return
	}
	next := len(b)
	if i := bytes.Index(b[headerSize:], []byte(magic)); i >= 0 {
		next = headerSize + i
	}
	binary.LittleEndian.PutUint64(b[8:], xxh3.Hash(b[16:next]))
}

// BenchmarkWrite writes parity of 1 %.
func BenchmarkWrite(b *testing.B) {
	data := randomBytes(rand.New(rand.NewSource(6)), 64<<20)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		protect(b, data, Options{Share: 0.01, Threads: 2})
	}
}

// BenchmarkRepair repairs a file of which 1 % is damaged, in small pieces.
func BenchmarkRepair(b *testing.B) {
	rng := rand.New(rand.NewSource(7))
	path := filepath.Join(b.TempDir(), "x.cfm")
	data := randomBytes(rng, 512<<20)
	write := func(data []byte) {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			b.Fatal(err)
		}
	}
	write(data)
	threads := runtime.GOMAXPROCS(0)
	if err := Protect(path, Options{Share: 0.012, Threads: threads}); err != nil {
		b.Fatal(err)
	}
	damaged := codectest.FileDamages["sectors"](rng, data, len(data)/100/diskSector, diskSector)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		b.StopTimer()
		write(damaged)
		b.StartTimer()
		if list, err := Repair(path, RepairOptions{Threads: threads, Memory: 1 << 30}); err != nil || !list[0].OK {
			b.Fatal(list, err)
		}
	}
}

// TestMemory: packets are the same with any memory and number of threads, of several groups and of one, with one sector of parity and with
// several.
func TestMemory(t *testing.T) {
	rng := rand.New(rand.NewSource(8))
	data := randomBytes(rng, 5<<20+77)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(writeWordsLimit - 1)) // which has many groups
	for _, o := range []Options{{Share: 0.02}, {Bytes: 1}, {Bytes: 100 << 10}} {
		o.Threads, o.Memory = 1, 1
		want := protect(t, data, o)
		for _, memory := range []uint64{0, 1 << 20, 3 << 20, 1 << 30} {
			o.Threads, o.Memory = 3, memory
			if !bytes.Equal(protect(t, data, o), want) {
				t.Errorf("other packets with %+v", o)
			}
		}
		one := bytes.Clone(data)
		one[rng.Intn(len(one))] ^= 1
		if !bytes.Equal(mend(t, want, one), data) {
			t.Errorf("%+v: not repaired", o)
		}
	}
}
