package sim

import (
	"bytes"

	"github.com/klauspost/compress/gzip"

	"orcomgo/internal/deflate"
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

// BGZF is the Encoding that cuts each chunk into blocks as bgzip writes them.
func BGZF(dst, text []byte) []byte {
	if len(text) == 0 {
		return append(dst, deflate.BGZFEnd...)
	}
	return deflate.AppendBGZF(dst, text)
}
