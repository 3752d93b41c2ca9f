package sim

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
)

// gzipLevel is what sequencing centres' pipelines use, or near it.
const gzipLevel = 6

// Gzip is the Encoding that makes each chunk a gzip member.
func Gzip(dst, text []byte) []byte {
	if len(text) == 0 {
		return dst
	}
	buf := bytes.NewBuffer(dst)
	w, err := gzip.NewWriterLevel(buf, gzipLevel)
	if err != nil {
		panic(err) // the level is a constant
	}
	w.Write(text) // a bytes.Buffer doesn't fail
	w.Close()
	return buf.Bytes()
}

// bgzfEnd is the empty block that ends a BGZF file (SAM specification, section 4.1.2).
var bgzfEnd = []byte("\x1f\x8b\x08\x04\x00\x00\x00\x00\x00\xff\x06\x00BC\x02\x00\x1b\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00")

// bgzfText is how much text a BGZF block holds, so that even incompressible text fits in
// the 64 KiB that a block can be.
const bgzfText = 0xff00

// BGZF is the Encoding that cuts each chunk into blocks as bgzip writes them: gzip members
// with their own size in an extra field (SAM specification, section 4.1).
func BGZF(dst, text []byte) []byte {
	if len(text) == 0 {
		return append(dst, bgzfEnd...)
	}
	buf := bytes.NewBuffer(dst)
	w, err := flate.NewWriter(buf, gzipLevel)
	if err != nil {
		panic(err) // the level is a constant
	}
	for len(text) > 0 {
		piece := text[:min(len(text), bgzfText)]
		text = text[len(piece):]
		at := buf.Len()
		buf.Write(bgzfEnd[:18])
		w.Reset(buf)
		w.Write(piece)
		w.Close()
		var tail [8]byte
		binary.LittleEndian.PutUint32(tail[:], crc32.ChecksumIEEE(piece))
		binary.LittleEndian.PutUint32(tail[4:], uint32(len(piece)))
		buf.Write(tail[:])
		binary.LittleEndian.PutUint16(buf.Bytes()[at+16:], uint16(buf.Len()-at-1))
	}
	return buf.Bytes()
}
