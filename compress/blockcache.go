package compress

import (
	"slices"
	"sort"
	"sync"

	"orcomgo/bins"
	"orcomgo/compress/archive"
)

// blockCache loads the blocks that slices need, each once, and releases a block after the last
// slice that needs it.
type blockCache struct {
	r       *bins.Reader
	keeps   []keeps // by input
	letters []bool  // by input: reads are wanted as well; nil: of none
	blocks  [][]int // by input: its blocks in order
	// ahead returns how many records from a slice's first one on have their names read ahead; nil: none.
	ahead   func(input int, from uint64) int
	mu      sync.Mutex
	entries map[int]*cacheEntry
}

type cacheEntry struct {
	once sync.Once
	l    *loaded
	err  error
	uses int // how often slices still need it
}

// newBlockCache prepares for exactly the slices of specs, and for the names that are read ahead: those of ahead(input, from) records from a slice's first one on; nil for none.
func newBlockCache(r *bins.Reader, keeps []keeps, letters []bool, specs []sliceSpec, ahead func(input int, from uint64) int) *blockCache {
	m := r.Meta()
	c := &blockCache{r: r, keeps: keeps, letters: letters, ahead: ahead, entries: make(map[int]*cacheEntry)}
	for i := range m.Inputs {
		c.blocks = append(c.blocks, m.BlocksOf(i))
	}
	for i := range specs {
		c.eachUse(&specs[i], func(block int) {
			e := c.entries[block]
			if e == nil {
				e = new(cacheEntry)
				c.entries[block] = e
			}
			e.uses++
		})
	}
	return c
}

// eachUse calls f with each block that a slice needs, as often as it needs it: for its records, and for the names that may be read ahead.
// The latter are of slices that can end before this one reads them.
func (c *blockCache) eachUse(s *sliceSpec, f func(block int)) {
	for _, input := range s.needed() {
		for _, b := range c.touched(input, s.from, s.records) {
			f(b)
		}
	}
	if c.ahead == nil {
		return
	}
	for _, input := range s.inputs() {
		for _, b := range c.touched(input, s.from, c.ahead(input, s.from)) {
			f(b)
		}
	}
}

// touched returns the blocks of an input that hold some of the n records at from.
func (c *blockCache) touched(input int, from uint64, n int) []int {
	bs, m := c.blocks[input], c.r.Meta()
	end := func(i int) uint64 { return m.Blocks[bs[i]].FirstRecord + uint64(m.Blocks[bs[i]].Records) }
	lo := sort.Search(len(bs), func(i int) bool { return end(i) > from })
	hi := sort.Search(len(bs), func(i int) bool { return m.Blocks[bs[i]].FirstRecord >= from+uint64(n) })
	if lo >= hi {
		return nil
	}
	return bs[lo:hi]
}

// acquire returns the n records at from of an input. What it returns shares memory with
// blocks; release must be called with each slice once they are no longer needed.
func (c *blockCache) acquire(input int, from uint64, n int) (*columns, error) {
	ls, err := c.loaded(input, from, n)
	if err != nil {
		return nil, err
	}
	return gather(input, from, n, ls, c.keeps[input])
}

// acquireNames is acquire of the names alone.
func (c *blockCache) acquireNames(input int, from uint64, n int) (*columns, error) {
	ls, err := c.loaded(input, from, n)
	if err != nil {
		return nil, err
	}
	var k keeps
	k[archive.Names] = c.keeps[input][archive.Names]
	return gather(input, from, n, ls, k)
}

// loaded returns the blocks that hold some of the n records at from.
func (c *blockCache) loaded(input int, from uint64, n int) ([]*loaded, error) {
	var ls []*loaded
	for _, b := range c.touched(input, from, n) {
		c.mu.Lock()
		e := c.entries[b]
		c.mu.Unlock()
		e.once.Do(func() { e.l, e.err = loadBlock(c.r, b, c.keeps[input], c.letters != nil && c.letters[input]) })
		if e.err != nil {
			return nil, e.err
		}
		ls = append(ls, e.l)
	}
	return ls, nil
}

// release says that a slice needs its blocks no more.
func (c *blockCache) release(s *sliceSpec) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.eachUse(s, func(block int) {
		e := c.entries[block]
		if e.uses--; e.uses == 0 {
			delete(c.entries, block)
		}
	})
}

// ofAll returns a value for each input.
func ofAll(meta *bins.Meta, is bool) []bool { return slices.Repeat([]bool{is}, len(meta.Inputs)) }
