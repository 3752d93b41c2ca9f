package restoring

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/flate"
	"golang.org/x/sync/errgroup"

	"orcomgo/compress/workers"
)

// BGZF is gzip in members of up to 64 KiB, each with its length in an extra field, so that readers can decompress members side by side
// and index them (SAM/BAM Format Specification, section 4.1). bgzip and samtools write it, and gzip reads it.

const (
	bgzfText   = 0xff00 // bytes of text in a member, as in bgzip: what does not compress still fits
	bgzfHeader = 18
	bgzfLevel  = 6
	bgzfTask   = 64 // members that one task compresses
)

// bgzfEnd is the empty member at the end of a BGZF file, by which readers see that it is whole.
const bgzfEnd = "\x1f\x8b\x08\x04\x00\x00\x00\x00\x00\xff\x06\x00BC\x02\x00\x1b\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// flateWriters are compressors that are used again.
var flateWriters = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, bgzfLevel)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}}

// bgzfMembers returns text as members of BGZF, without the end of a file; nothing for no text. Equal text gives equal bytes. It is
// called by a task of the pool, whose other places compress as well.
func bgzfMembers(ctx context.Context, pool workers.Pool, text []byte) ([]byte, error) {
	const each = bgzfText * bgzfTask
	parts := make([][]byte, (len(text)+each-1)/each)
	g, ctx := errgroup.WithContext(ctx)
	for i := range parts {
		g.Go(func() error {
			return pool.Do(ctx, func() (err error) {
				parts[i], err = appendMembers(nil, text[i*each:min((i+1)*each, len(text))])
				return err
			})
		})
	}
	var err error
	pool.ReleaseWhile(func() { err = g.Wait() })
	return bytes.Join(parts, nil), err
}

// appendMembers appends text as members of BGZF.
func appendMembers(dst, text []byte) ([]byte, error) {
	w := flateWriters.Get().(*flate.Writer)
	defer flateWriters.Put(w)
	b := bytes.NewBuffer(dst)
	b.Grow(len(text)/3 + 1024)
	for len(text) > 0 {
		n := min(len(text), bgzfText)
		at := b.Len()
		b.WriteString(bgzfEnd[:bgzfHeader])
		w.Reset(b)
		if _, err := w.Write(text[:n]); err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		var tail [8]byte
		binary.LittleEndian.PutUint32(tail[:], crc32.ChecksumIEEE(text[:n]))
		binary.LittleEndian.PutUint32(tail[4:], uint32(n))
		b.Write(tail[:])
		binary.LittleEndian.PutUint16(b.Bytes()[at+bgzfHeader-2:], uint16(b.Len()-at-1))
		text = text[n:]
	}
	return b.Bytes(), nil
}
