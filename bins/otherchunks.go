package bins

import (
	"errors"

	"github.com/klauspost/compress/huff0"
	"github.com/klauspost/compress/zstd"
)

// otherDecoder decodes the chunks of names and qualities that are zstd frames, or of huff0, which only version 1 of the format has.
type otherDecoder struct {
	zstd *zstd.Decoder
	huff huff0.Scratch
}

func newOtherDecoder() *otherDecoder {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(2*nameChunk), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return &otherDecoder{zstd: z}
}

var errChunkLen = errors.New("it expands to another length")

// decode expands a chunk of huff0 or zstd to fill dst.
func (d *otherDecoder) decode(dst, stored []byte, method uint8) error {
	var out []byte
	if method == chunkZstd {
		var err error
		if out, err = d.zstd.DecodeAll(stored, dst[:0:len(dst)]); err != nil {
			return err
		}
	} else {
		s, rest, err := huff0.ReadTable(stored, &d.huff)
		if err != nil {
			return err
		}
		if out, err = s.Decoder().Decompress4X(dst[:0:len(dst)], rest); err != nil {
			return err
		}
	}
	if copy(dst, out) != len(dst) || len(out) != len(dst) { // dst is out, or out did not fit
		return errChunkLen
	}
	return nil
}
