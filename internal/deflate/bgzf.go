package deflate

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/flate"
)

// BGZF is gzip in members of up to 64 KiB, each with its length in an extra field, so that readers can decompress members side by side
// and index them (SAM/BAM Format Specification, section 4.1). bgzip and samtools write it, and gzip reads it.

const (
	BGZFText  = 0xff00 // bytes of text in a member, as in bgzip: what does not compress still fits
	bgzfLevel = 6
)

// BGZFEnd is the empty member at the end of a BGZF file, by which readers see that it is whole.
const BGZFEnd = "\x1f\x8b\x08\x04\x00\x00\x00\x00\x00\xff\x06\x00BC\x02\x00\x1b\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// flateWriters are compressors that are used again.
var flateWriters = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, bgzfLevel)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}}

// AppendBGZF appends text as members of BGZF, without the end of a file; nothing for no text.
func AppendBGZF(dst, text []byte) []byte {
	w := flateWriters.Get().(*flate.Writer)
	defer flateWriters.Put(w)
	b := bytes.NewBuffer(dst)
	b.Grow(len(text)/3 + 1024)
	for len(text) > 0 {
		n := min(len(text), BGZFText)
		at := b.Len()
		b.WriteString(BGZFEnd[:BGZFHeader])
		w.Reset(b)
		w.Write(text[:n]) // a bytes.Buffer doesn't fail
		w.Close()
		footer := binary.LittleEndian.AppendUint32(b.AvailableBuffer(), crc32.ChecksumIEEE(text[:n]))
		b.Write(binary.LittleEndian.AppendUint32(footer, uint32(n)))
		binary.LittleEndian.PutUint16(b.Bytes()[at+BGZFHeader-2:], uint16(b.Len()-at-1))
		text = text[n:]
	}
	return b.Bytes()
}
