package blocksort

import (
	"encoding/binary"
	"errors"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"orcomgo/compress/bwt"
	"orcomgo/compress/rangecoder"
	"orcomgo/compress/transform"
)

// A block in a stream: its size n (uvarint), twice the size of its body plus 1 if it is coded (uvarint), the hash of its text (8
// bytes), and the body. The body is the text, or, coded:
//
//	starting points of the transform    uvarints, as many as bwt.Starts(n)
//	bytes of the tree                   uvarint
//	the tree
//	part size                           uvarint, in units of partUnit
//	for each part: its bytes (uvarint), and these

const (
	partUnit = 1 << 16 // bytes: the size of all parts but the last one is a multiple of it
	maxUnits = MaxBlockSize / partUnit
	// A byte codes less than 2^16 symbols. A reader refuses a block of a larger size, which would take memory for nothing.
	symbolsPerByte = 1 << 16
	slackBytes     = 64
)

// partSize returns the symbols of a part of a block of n bytes: many enough to learn from, and so few that many threads have parts.
func partSize(n int) int { return max(min(n/64, 8<<20), 2<<20) / partUnit * partUnit }

// space is memory that blocks use one after another.
type space struct {
	pool        *spaces
	transformer bwt.Transformer // for small blocks
	transformed []byte
	lane        *transform.Lane
}

func (s *space) bytes(n int) []byte {
	if cap(s.transformed) < n {
		s.transformed = make([]byte, n)
	}
	return s.transformed[:n]
}

// spaces are those that no block uses.
type spaces struct {
	mutex       sync.Mutex
	free        []*space
	text        []byte                 // the largest that was decoded and read; nil while it is used
	accelerator *transform.Accelerator // of all of them; nil if none is used

	// Large blocks are transformed one after another, each by all threads, since that takes most of the memory.
	large     sync.Mutex
	transform bwt.Transformer
}

func (p *spaces) get() *space {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if n := len(p.free); n > 0 {
		s := p.free[n-1]
		p.free = p.free[:n-1]
		return s
	}
	return &space{pool: p, lane: p.accelerator.Lane()}
}

func (p *spaces) put(s *space) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.free = append(p.free, s)
}

// takeText returns n bytes of any value, for a text that is decoded.
func (p *spaces) takeText(n int) []byte {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if cap(p.text) < n {
		return make([]byte, n)
	}
	text := p.text[:n]
	p.text = nil
	return text
}

// putText gives the memory of a text back that was read.
func (p *spaces) putText(text []byte) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if cap(text) > cap(p.text) {
		p.text = text
	}
}

// close frees what the accelerator has. No block may be in work.
func (p *spaces) close() error {
	if p.accelerator == nil {
		return nil
	}
	var err error
	for _, s := range p.free {
		err = errors.Join(err, s.lane.Close())
	}
	err = errors.Join(err, p.accelerator.Close())
	p.free, p.accelerator = nil, nil
	return err
}

// hashOf returns the hash of the text of a block. It depends on the number of the block in its stream, so that blocks cannot be exchanged.
func hashOf(text []byte, index uint64) uint64 { return xxh3.HashSeed(text, index) }

// appendBlock appends a block of text, which is not empty, to dst.
func (s *space) appendBlock(dst, text []byte, index uint64, threads int) []byte {
	transformed := s.bytes(len(text))
	starts, err := s.transform(transformed, text, threads)
	if err != nil {
		panic(err) // MaxBlockSize is less than bwt.MaxLen
	}
	return appendTransformed(dst, text, transformed, starts, index, threads)
}

// appendTransformed appends a block of text, of which the transform is given, to dst.
func appendTransformed(dst, text, transformed []byte, starts []uint32, index uint64, threads int) []byte {
	body := codeBody(transformed, starts, threads)
	coded := uint64(1)
	if len(body) >= len(text) {
		body, coded = text, 0
	}
	dst = binary.AppendUvarint(dst, uint64(len(text)))
	dst = binary.AppendUvarint(dst, uint64(len(body))<<1|coded)
	dst = binary.LittleEndian.AppendUint64(dst, hashOf(text, index))
	return append(dst, body...)
}

func codeBody(transformed []byte, starts []uint32, threads int) []byte {
	var body []byte
	for _, s := range starts {
		body = binary.AppendUvarint(body, uint64(s))
	}
	var counts [256]int
	for _, s := range transformed {
		counts[s]++
	}
	t := newTree(&counts)
	c := rangecoder.EncodeTo(nil, adaptation)
	t.transmit(c)
	table := c.Enc.Finish()
	body = binary.AppendUvarint(body, uint64(len(table)))
	body = append(body, table...)
	size := partSize(len(transformed))
	body = binary.AppendUvarint(body, uint64(size/partUnit))
	parts := make([][]byte, (len(transformed)+size-1)/size)
	var group errgroup.Group
	group.SetLimit(max(threads, 1))
	for i := range parts {
		group.Go(func() error {
			part := transformed[i*size : min((i+1)*size, len(transformed))]
			c := rangecoder.EncodeTo(make([]byte, 0, len(part)/4), adaptation)
			newModel(t, len(part)).code(c, part)
			parts[i] = c.Enc.Finish()
			return nil
		})
	}
	group.Wait() // no error
	for _, p := range parts {
		body = binary.AppendUvarint(body, uint64(len(p)))
		body = append(body, p...)
	}
	return body
}

// Encode returns text as a stream of one block, or of blocks of MaxBlockSize bytes: what a Writer makes of it. It works in one thread.
// A text is not copied, and what the transform takes is garbage before its result is coded, so that a text of more than a few kilobytes has
// about 12 times its own memory in use at most, and 2 times while it is coded, beside 5 MB of models.
func Encode(text []byte) []byte {
	stream := slices.Clone(magic[:])
	for index := uint64(0); len(text) > 0; index++ {
		block := text[:min(len(text), MaxBlockSize)]
		transformed := make([]byte, len(block))
		starts, err := bwt.Transform(transformed, block, 1)
		if err != nil {
			panic(err) // MaxBlockSize is less than bwt.MaxLen
		}
		stream = appendTransformed(stream, block, transformed, starts, index, 1)
		text = text[len(block):]
	}
	return append(stream, 0)
}

// header is what is before the body of a block.
type header struct {
	size, body int
	coded      bool
	hash       uint64
}

// check reports whether a block may have the header.
func (h *header) check(limit int) error {
	switch {
	case h.size > limit:
		return ErrBlockSize
	case !h.coded && h.body != h.size, h.coded && h.body >= h.size, uint64(h.size) > uint64(h.body+slackBytes)*symbolsPerByte:
		return ErrCorrupt
	}
	return nil
}

// decodeBlock returns the text of block number index.
func (s *space) decodeBlock(h *header, body []byte, index uint64, threads int) ([]byte, error) {
	text := body
	if h.coded {
		var err error
		if text, err = s.decodeBody(h.size, body, threads); err != nil {
			return nil, err
		}
	}
	if hashOf(text, index) != h.hash {
		return nil, ErrCorrupt
	}
	return text, nil
}

func (s *space) decodeBody(n int, body []byte, threads int) ([]byte, error) {
	ok := true
	number := func(limit int) int {
		v, size := binary.Uvarint(body)
		if size <= 0 || v > uint64(limit) {
			ok = false
			return 0
		}
		body = body[size:]
		return int(v)
	}
	take := func(size int) []byte {
		if size > len(body) {
			ok = false
			return nil
		}
		b := body[:size:size]
		body = body[size:]
		return b
	}
	starts := make([]uint32, bwt.Starts(n))
	for i := range starts {
		starts[i] = uint32(number(n - 1))
	}
	table := take(number(len(body)))
	size := number(maxUnits) * partUnit
	if !ok || size == 0 {
		return nil, ErrCorrupt
	}
	parts := make([][]byte, (n+size-1)/size)
	for i := range parts {
		parts[i] = take(number(len(body)))
	}
	if !ok || len(body) > 0 {
		return nil, ErrCorrupt
	}
	t := &tree{}
	c := rangecoder.DecodeFrom(table, adaptation)
	if !t.transmit(c) || c.Dec.Err() != nil {
		return nil, ErrCorrupt
	}
	transformed := s.bytes(n)
	var group errgroup.Group
	group.SetLimit(max(threads, 1))
	for i, p := range parts {
		group.Go(func() error {
			part := transformed[i*size : min((i+1)*size, n)]
			if len(part) > (len(p)+slackBytes)*symbolsPerByte {
				return ErrCorrupt
			}
			c := rangecoder.DecodeFrom(p, adaptation)
			newModel(t, len(part)).code(c, part)
			if c.Dec.Err() != nil || c.Dec.Left() > 0 {
				return ErrCorrupt
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	text := s.pool.takeText(n)
	if err := s.inverse(text, transformed, starts, threads); err != nil {
		return nil, ErrCorrupt
	}
	return text, nil
}
