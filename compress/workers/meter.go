package workers

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// Progress is told how far a stage has come: done of total, in bytes of text. It is called
// from any goroutine and must be cheap.
type Progress func(stage string, done, total uint64)

// Meter adds up the progress of one stage.
type Meter struct {
	report Progress
	stage  string
	done   atomic.Uint64
	total  uint64
	all    uint64 // what done will be
}

// NewMeter returns the Meter of a stage of so many bytes. besides is how much more is added, for work that counts as some of these bytes.
func NewMeter(report Progress, stage string, total, besides uint64) *Meter {
	m := &Meter{report: report, stage: stage, total: total, all: total + besides}
	m.Add(0)
	return m
}

func (m *Meter) Add(n uint64) {
	if done := m.done.Add(n); m.report != nil {
		m.report(m.stage, Share(m.total, min(done, m.all), m.all), m.total)
	}
}

// SliceMeter adds up the progress of a slice while its qualities and bases are coded or decoded.
type SliceMeter struct {
	M *Meter
	// sizes returns how many bytes the slice counts in m, and how many qualities and bases it has. It is called when the first of these
	// are coded: while pack writes a slice, nothing is known of it before.
	Sizes func() (bytes, units uint64)

	mu              sync.Mutex
	bytes           uint64 // once all is not 0
	all, done, told uint64 // units: 0 until they are known; of them; of bytes
}

// size asks for the sizes, once.
func (s *SliceMeter) size() {
	if s.all == 0 {
		s.bytes, s.all = s.Sizes()
		s.all = max(s.all, 1)
	}
}

// Coded notes that n more qualities or bases are coded. Safe for concurrent use.
func (s *SliceMeter) Coded(n int) {
	s.mu.Lock()
	s.size()
	s.done = min(s.done+uint64(n), s.all)
	// What follows takes time, too.
	now := Share(s.bytes-s.bytes/64, s.done, s.all)
	more := now - min(now, s.told)
	s.told += more
	s.mu.Unlock()
	if more > 0 {
		s.M.Add(more)
	}
}

// End notes that all of the slice is done. It is called once.
func (s *SliceMeter) End() {
	s.mu.Lock()
	s.size()
	more := s.bytes - s.told
	s.told = s.bytes
	s.mu.Unlock()
	s.M.Add(more)
}

// Share returns total * part / whole; 0 of nothing.
func Share(total, part, whole uint64) uint64 {
	if whole == 0 {
		return 0
	}
	hi, lo := bits.Mul64(total, part)
	q, _ := bits.Div64(hi, lo, whole) // part <= whole, so the quotient fits
	return q
}
