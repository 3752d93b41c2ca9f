package bins

import (
	"encoding/binary"
	"unsafe"

	"orcomgo/bases"
	"orcomgo/bins/parse"
)

// littleEndian reports whether numbers have the same bytes in memory as on disk.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// bytesOf returns numbers as they are stored; on a little-endian machine without a copy.
func bytesOf(v []uint32) []byte {
	if len(v) == 0 {
		return nil
	}
	if littleEndian {
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
	}
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return b
}

// toUint32 decodes stored numbers, into the memory of dst if it is large enough.
func toUint32(dst []uint32, b []byte) []uint32 {
	dst = resize(dst, len(b)/4)
	for i := range dst {
		dst[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return dst
}

// resize returns a slice of n elements of any content: s if it can hold them, else a new one
// with an eighth more capacity, because the next block is about as large.
func resize[T any](s []T, n int) []T {
	if cap(s) >= n && s != nil {
		return s[:n]
	}
	return make([]T, n, n+n/8)
}

// appendBins appends the bin table: for each bin the difference to the signature before, the
// number of reads, and where lengths vary the number of bases and of packed bytes.
func appendBins(dst []byte, b *Block, sizes []uint64) []byte {
	next := uint32(0)
	for i, bin := range b.Bins {
		dst = binary.AppendUvarint(dst, uint64(bin.Signature-next))
		next = bin.Signature + 1
		dst = binary.AppendUvarint(dst, uint64(bin.Reads))
		if b.Lengths.Each != nil {
			dst = binary.AppendUvarint(dst, bin.Bases)
			dst = binary.AppendUvarint(dst, sizes[i])
		}
	}
	return dst
}

// parseBins is the inverse of appendBins. It returns the bins and how many packed bytes each has.
func parseBins(data []byte, info *BlockInfo) ([]Bin, []uint64, error) {
	c := parse.Cursor{Rest: data}
	var bins []Bin
	var sizes []uint64
	var reads, total, bytes uint64
	next := uint64(0)
	ok := true
	for ok && len(c.Rest) > 0 {
		sig := next + c.AtMost(NBin)
		bin := Bin{Signature: uint32(sig), Reads: uint32(c.AtMost(uint64(info.Records)))}
		next = sig + 1
		var size uint64
		if info.Varied {
			bin.Bases, size = c.AtMost(info.Bases), c.AtMost(info.PackedLen)
		} else {
			bin.Bases = uint64(bin.Reads) * uint64(info.FixedLen)
			size = uint64(bin.Reads) * uint64(bases.PackedLen(int(info.FixedLen)))
		}
		reads, total, bytes = reads+uint64(bin.Reads), total+bin.Bases, bytes+size
		ok = !c.Failed() && sig <= NBin && bin.Reads > 0
		bins, sizes = append(bins, bin), append(sizes, size)
	}
	if !ok || reads != uint64(info.Records) || total != info.Bases || bytes != info.PackedLen {
		return nil, nil, errNonsense
	}
	return bins, sizes, nil
}
