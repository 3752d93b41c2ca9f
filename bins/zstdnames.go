package bins

import "github.com/klauspost/compress/zstd"

const (
	// leastZstd is how many bytes of names a chunk has at least that is stored as a zstd frame.
	leastZstd = 1 << 11
	// zstdSample is how many bytes of a chunk of names are coded in both ways to choose one.
	zstdSample = 1 << 16
)

// smallerByZstd reports whether a sample of the names takes at least a twentieth less as a zstd frame than coded as names. That is so
// where names resemble ones of many lines before, as in files of sorted small RNA.
func (c *coder) smallerByZstd(names []byte) bool {
	if len(names) < leastZstd {
		return false
	}
	size := min(len(names), zstdSample)
	sample := names[(len(names)-size)/2:][:size]
	c.buf = c.entropy.AppendNames(c.buf[:0], sample)
	coded := len(c.buf)
	c.buf = c.appendZstd(c.buf[:0], sample)
	return 20*len(c.buf) <= 19*coded
}

// encodeZstd codes a chunk of names in place as a zstd frame, or as names if that does not make it shorter.
func (c *coder) encodeZstd(chunk []byte) ([]byte, uint8) {
	c.buf = c.appendZstd(c.buf[:0], chunk)
	if len(c.buf) < len(chunk) {
		return chunk[:copy(chunk, c.buf)], chunkZstd
	}
	return c.encodeNames(chunk)
}

func (c *coder) appendZstd(dst, names []byte) []byte {
	if c.zstd == nil {
		var err error
		c.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
			zstd.WithWindowSize(nameChunk), zstd.WithLowerEncoderMem(true))
		if err != nil {
			panic(err) // the options are constants
		}
	}
	return c.zstd.EncodeAll(names, dst)
}
