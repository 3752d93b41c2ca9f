package compress

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// Progress is told how far a stage has come: done of total, in bytes of text. It is called
// from any goroutine and must be cheap.
type Progress func(stage string, done, total uint64)

// meter adds up the progress of one stage.
type meter struct {
	report Progress
	stage  string
	done   atomic.Uint64
	total  uint64
	silent atomic.Bool // nothing is reported: a stage before this one still runs
}

func newMeter(report Progress, stage string, total uint64) *meter {
	m := &meter{report: report, stage: stage, total: total}
	m.add(0)
	return m
}

func (m *meter) add(n uint64) {
	if done := m.done.Add(n); m.report != nil && !m.silent.Load() {
		m.report(m.stage, done, m.total)
	}
}

// sliceMeter adds up the progress of a slice while its qualities and bases are coded or decoded.
type sliceMeter struct {
	m *meter
	// sizes returns how many bytes the slice counts in m, and how many qualities and bases it has. It is called when the first of these
	// are coded: while pack writes a slice, nothing is known of it before.
	sizes func() (bytes, units uint64)

	mu              sync.Mutex
	bytes           uint64 // once all is not 0
	all, done, told uint64 // units: 0 until they are known; of them; of bytes
}

// size asks for the sizes, once.
func (s *sliceMeter) size() {
	if s.all == 0 {
		s.bytes, s.all = s.sizes()
		s.all = max(s.all, 1)
	}
}

// coded notes that n more qualities or bases are coded. Safe for concurrent use.
func (s *sliceMeter) coded(n int) {
	s.mu.Lock()
	s.size()
	s.done = min(s.done+uint64(n), s.all)
	// What follows takes time, too.
	now := share(s.bytes-s.bytes/16, s.done, s.all)
	more := now - min(now, s.told)
	s.told += more
	s.mu.Unlock()
	if more > 0 {
		s.m.add(more)
	}
}

// end notes that all of the slice is done. It is called once.
func (s *sliceMeter) end() {
	s.mu.Lock()
	s.size()
	more := s.bytes - s.told
	s.told = s.bytes
	s.mu.Unlock()
	s.m.add(more)
}

// share returns total * part / whole; 0 of nothing.
func share(total, part, whole uint64) uint64 {
	if whole == 0 {
		return 0
	}
	hi, lo := bits.Mul64(total, part)
	q, _ := bits.Div64(hi, lo, whole) // part <= whole, so the quotient fits
	return q
}
