//go:build cuda

package binning

import (
	"context"
	"errors"

	"orcomgo/binning/inflate"
	"orcomgo/cudakern"
)

// Text returns memory of a lane. The pipeline holds no more texts at a time than there are lanes.
func (c *cuda) Text(ctx context.Context, n int) (TextBuffer, error) {
	t := &deviceText{ctx: ctx, cuda: c}
	select {
	case t.lane = <-c.lanes:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := t.Grow(n, 0); err != nil {
		t.Free()
		return nil, err
	}
	return t, nil
}

// deviceText is a TextBuffer in the memory of a lane, or in memory of the host if the GPU has too little.
type deviceText struct {
	ctx  context.Context // ends waiting for a piece of the ring, and for regions
	cuda *cuda
	lane *cudakern.Lane
	host *hostText // nil while the text is on the GPU
	end  textCopy

	regions *regions                              // of the last call of Regions
	members [cudakern.Inflaters][]cudakern.Member // that are being inflated, by region
}

func (t *deviceText) Room() int {
	if t.host != nil {
		return t.host.Room()
	}
	return t.lane.TextRoom()
}

func (t *deviceText) Grow(n, keep int) error {
	if t.host != nil {
		return t.host.Grow(n, keep)
	}
	if n > t.lane.TextRoom() {
		t.end.cut(keep)
	}
	err := t.lane.GrowText(n, keep)
	if !errors.Is(err, cudakern.ErrMemory) {
		return deviceError(err)
	}
	t.cuda.notePoor(err)
	host := t.cuda.texts.get(n)
	if err := t.lane.ReadText(host.buf[:keep], 0); err != nil {
		host.Free()
		return deviceError(err)
	}
	t.host = host
	return nil
}

func (t *deviceText) Fill(at, n int, f func(p []byte) (int, error)) (int, error) {
	if t.host != nil {
		return t.host.Fill(at, n, f)
	}
	p, err := t.cuda.ring.Get(t.ctx)
	if err != nil {
		return 0, deviceError(err)
	}
	n, err = f(p.Mem[:n])
	if err != nil {
		p.Release()
		return 0, err
	}
	t.end.keep(p.Mem[:n], at)
	return n, deviceError(t.lane.Upload(p, n, at))
}

// FillSize implements TextBuffer: a piece of the ring.
func (t *deviceText) FillSize() int {
	if t.host != nil {
		return t.host.FillSize()
	}
	return t.cuda.pieceSize
}

func (t *deviceText) Read(from, to int) ([]byte, error) {
	if t.host != nil {
		return t.host.Read(from, to)
	}
	p := make([]byte, to-from)
	if t.end.read(p, from) {
		return p, nil
	}
	return p, deviceError(t.lane.ReadText(p, from))
}

func (t *deviceText) CountLines(from, to int) ([]int, error) {
	if t.host != nil {
		return t.host.CountLines(from, to)
	}
	counts, err := t.lane.CountLines(from, to)
	return counts, deviceError(err)
}

// CountLines of a lane counts the lines of pieces of the same size as CountLines of a TextBuffer. An index other than 0 does not compile.
var _ = [1]int{}[fillPiece-cudakern.CountPiece]

func (t *deviceText) Inflates() bool { return t.host == nil }

// regionSize is how many bytes of BGZF are copied to a device at once: the fourth part of a block of 256 MB, of common FASTQ. A warp
// inflates a member; the members of all regions together are most of the warps that run at once.
const regionSize = 20 << 20

// pinnedAtOnce is how many regions a text makes at most, so that the first block need not wait for all of them, and what the CPU has
// used for blocks before it is free by then.
const pinnedAtOnce = 2

// regions are the buffers for the compressed bytes of one input. They are pinned when they are first
// needed, by the first device; every device can copy from them.
type regions [cudakern.Inflaters][]byte

func (t *deviceText) Regions() (_ [][]byte, release func(), err error) {
	c := t.cuda
	var r *regions
	select {
	case r = <-c.regions:
	default:
		select {
		case r = <-c.regions:
		case r = <-c.newRegions:
		case <-t.ctx.Done():
			return nil, nil, t.ctx.Err()
		}
	}
	release = func() {
		if r[0] != nil {
			c.regions <- r
		} else {
			c.newRegions <- r
		}
	}
	n := 0
	for ; n < len(r) && r[n] != nil; n++ {
	}
	for k := n + pinnedAtOnce; n < min(k, len(r)) && err == nil; n++ {
		r[n], err = c.device.Pin(regionSize)
	}
	if errors.Is(err, cudakern.ErrMemory) {
		err = errLeaveBGZF
	}
	if err != nil {
		release()
		if err != errLeaveBGZF {
			err = deviceError(err)
		}
		return nil, nil, err
	}
	t.regions = r
	return r[:n], release, nil
}

func (t *deviceText) Inflate(region int, members []inflate.Member, at int) error {
	f, err := t.lane.Inflater(region)
	n := int(members[len(members)-1].End())
	if err == nil {
		err = f.RoomForCompressed(n)
	}
	if errors.Is(err, cudakern.ErrMemory) {
		return errLeaveBGZF
	}
	if err != nil {
		return deviceError(err)
	}
	if err := f.UploadCompressed(t.regions[region][:n], 0); err != nil {
		return deviceError(err)
	}
	to := t.members[region][:0]
	for _, m := range members {
		to = append(to, cudakern.Member{From: m.From, Size: m.Size, To: uint32(at), Length: m.Length, CRC: m.CRC})
		at += int(m.Length)
	}
	t.members[region] = to
	if err = f.Inflate(to, at); err == nil {
		return nil
	}
	f.Inflated() // waits for the upload, after which the region may be used for other bytes
	if errors.Is(err, cudakern.ErrMemory) {
		return errLeaveBGZF
	}
	return deviceError(err)
}

func (t *deviceText) Inflated(region int) (right int, lines []int, err error) {
	f, err := t.lane.Inflater(region)
	if err != nil {
		return 0, nil, deviceError(err)
	}
	bad, _, err := f.Inflated()
	if err != nil {
		return 0, nil, deviceError(err)
	}
	if bad >= 0 {
		return bad, nil, nil
	}
	return len(t.members[region]), nil, nil
}

func (t *deviceText) Host(n int) []byte {
	if t.host != nil {
		return t.host.Host(n)
	}
	return nil
}

func (t *deviceText) Free() {
	if t.host != nil {
		t.host.Free()
	}
	t.cuda.lanes <- t.lane
}
