package inflate

import (
	"hash/crc32"
	"testing"
)

func TestUpdateCRC(t *testing.T) {
	text := random(40, 70_000)
	for _, n := range []int{0, 1, 255, 256, 2047, 2048, 2049, 2304, 4095, 4096, 65_280, 65_281, 69_990} {
		for _, from := range []int{0, 1, 7} {
			for _, before := range []uint32{0, 1, 0x12345678, ^uint32(0)} {
				p := text[from:][:n]
				if got, want := updateCRC(before, p), crc32.Update(before, crc32.IEEETable, p); got != want {
					t.Fatalf("%d bytes from %d on, after %#x: %#x, want %#x", n, from, before, got, want)
				}
			}
		}
	}
}

func BenchmarkUpdateCRC(b *testing.B) {
	text := random(41, 65_280)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		updateCRC(0, text)
	}
}
