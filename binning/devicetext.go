//go:build cuda

package binning

import (
	"errors"

	"orcomgo/binning/inflate"
	"orcomgo/cudakern"
)

// Text returns memory of a lane. There is one for each text that the pipeline holds.
func (c *cuda) Text(n int) (TextBuffer, error) {
	t := &deviceText{cuda: c, lane: <-c.lanes}
	if err := t.Grow(n, 0); err != nil {
		t.Free()
		return nil, err
	}
	return t, nil
}

// deviceText is a TextBuffer in memory of a GPU; or of the host, where the GPU has not enough.
type deviceText struct {
	cuda *cuda
	lane *cudakern.Lane
	host *hostText

	regions *regions
	members [cudakern.Inflaters][]cudakern.Member // that are being inflated
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
	err := t.lane.GrowText(n, keep)
	if !errors.Is(err, cudakern.ErrMemory) {
		return err
	}
	t.cuda.notePoor(err)
	host := t.cuda.texts.get(n)
	if err := t.lane.ReadText(host.buf[:keep], 0); err != nil {
		return err
	}
	t.host = host
	return nil
}

func (t *deviceText) Fill(at, n int, f func(p []byte) (int, error)) (int, error) {
	if t.host != nil {
		return t.host.Fill(at, n, f)
	}
	p, err := t.cuda.ring.Get()
	if err != nil {
		return 0, err
	}
	n, err = f(p.Mem[:n])
	if err != nil {
		p.Release()
		return 0, err
	}
	return n, t.lane.Upload(p, n, at)
}

func (t *deviceText) Read(from, to int) ([]byte, error) {
	if t.host != nil {
		return t.host.Read(from, to)
	}
	p := make([]byte, to-from)
	return p, t.lane.ReadText(p, from)
}

func (t *deviceText) CountLines(from, to int) ([]int, error) {
	if t.host != nil {
		return t.host.CountLines(from, to)
	}
	return t.lane.CountLines(from, to)
}

// A mark is counted for each piece that a device counts.
const (
	_ = uint(fillPiece - cudakern.CountPiece)
	_ = uint(cudakern.CountPiece - fillPiece)
)

// Inflates implements memberText.
func (t *deviceText) Inflates() bool { return t.host == nil }

// regionSize is how many bytes of BGZF are copied to a device at once. Usual FASTQ has as many members in
// the regions together as warps run at once.
const regionSize = 24 << 20

// regions are the buffers for the compressed bytes of one input, pinned when they are first used.
type regions [cudakern.Inflaters][]byte

// Regions implements memberText.
func (t *deviceText) Regions() (_ [][]byte, release func(), err error) {
	r := <-t.cuda.regions
	release = func() { t.cuda.regions <- r }
	for i := range r {
		if r[i] == nil && err == nil {
			r[i], err = t.cuda.devices[0].Pin(regionSize)
		}
	}
	if errors.Is(err, cudakern.ErrMemory) {
		err = errLeaveBGZF
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	t.regions = r
	return r[:], release, nil
}

// Inflate implements memberText.
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
		return err
	}
	if err := f.UploadCompressed(t.regions[region][:n], 0); err != nil {
		return err
	}
	t.members[region] = t.members[region][:0]
	for _, m := range members {
		t.members[region] = append(t.members[region], cudakern.Member{From: m.From, Size: m.Size, To: uint32(at), Length: m.Length, CRC: m.CRC})
		at += int(m.Length)
	}
	return f.Inflate(t.members[region], at)
}

// Inflated implements memberText.
func (t *deviceText) Inflated(region int) (right int, lines []int, err error) {
	f, err := t.lane.Inflater(region)
	if err != nil {
		return 0, nil, err
	}
	bad, _, err := f.Inflated()
	if bad >= 0 {
		return bad, nil, err
	}
	return len(t.members[region]), nil, err
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

// blankTail returns where the blank lines at the end of the text begin, as the function of that
// name.
func (w *textWindow) blankTail() int {
	for size := windowSize; ; size *= 8 {
		from := max(0, w.n-size)
		p, err := w.text.Read(from, w.n)
		if err != nil {
			w.err = err
			return 0
		}
		w.from, w.p = from, p
		// What is before p counts for its first two bytes.
		if k := blankTail(p); k >= 2 || from == 0 {
			return from + k
		}
	}
}
