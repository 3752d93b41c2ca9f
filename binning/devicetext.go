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

	members []cudakern.Member // that are being inflated
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

// regionSize is how many bytes of BGZF are copied to a device at once. A region of usual FASTQ has a
// member for each of the warps that run at once.
const regionSize = 32 << 20

// Regions implements memberText.
func (t *deviceText) Regions() (regions [2][]byte, release func(), err error) {
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
		return regions, nil, err
	}
	return *r, release, nil
}

// Inflate implements memberText.
func (t *deviceText) Inflate(region []byte, members []inflate.Member, at int) error {
	n := int(members[len(members)-1].End())
	if err := t.lane.RoomForCompressed(n); errors.Is(err, cudakern.ErrMemory) {
		return errLeaveBGZF
	} else if err != nil {
		return err
	}
	if err := t.lane.UploadCompressed(region[:n], 0); err != nil {
		return err
	}
	t.members = t.members[:0]
	for _, m := range members {
		t.members = append(t.members, cudakern.Member{From: m.From, Size: m.Size, To: uint32(at), Length: m.Length, CRC: m.CRC})
		at += int(m.Length)
	}
	return t.lane.Inflate(t.members, at)
}

// Inflated implements memberText.
func (t *deviceText) Inflated() (right int, lines []int, err error) {
	bad, _, err := t.lane.Inflated()
	if bad >= 0 {
		return bad, nil, err
	}
	return len(t.members), nil, err
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
