package slicing

import (
	"slices"
	"sort"
	"sync"

	"orcomgo/bins"
	"orcomgo/compress/archive"
	"orcomgo/compress/columns"
)

// Cache loads the blocks that slices need, each once, and releases a block after the last
// slice that needs it.
type Cache struct {
	r       *bins.Reader
	keeps   []columns.Kept // by input
	letters []bool         // by input: reads are wanted as well; nil: of none
	blocks  [][]int        // by input: its blocks in order
	// ahead returns how many records from a slice's first one on have their names read ahead; nil: none.
	ahead   func(input int, from uint64) int
	mu      sync.Mutex
	Entries map[int]*cacheEntry
}

type cacheEntry struct {
	once sync.Once
	l    *columns.Block
	err  error
	uses int // how often slices still need it
}

// NewCache prepares for exactly the slices of specs, and for the names that are read ahead: those of ahead(input, from) records from a
// slice's first one on; nil for none.
func NewCache(r *bins.Reader, keeps []columns.Kept, letters []bool, specs []Spec, ahead func(input int, from uint64) int) *Cache {
	m := r.Meta()
	c := &Cache{r: r, keeps: keeps, letters: letters, ahead: ahead, Entries: make(map[int]*cacheEntry)}
	for i := range m.Inputs {
		c.blocks = append(c.blocks, m.BlocksOf(i))
	}
	for i := range specs {
		c.eachUse(&specs[i], func(block int) {
			e := c.Entries[block]
			if e == nil {
				e = new(cacheEntry)
				c.Entries[block] = e
			}
			e.uses++
		})
	}
	return c
}

// eachUse calls f with each block that a slice needs, as often as it needs it: for its records, and for the names that may be read ahead.
// The latter are of slices that can end before this one reads them.
func (c *Cache) eachUse(s *Spec, f func(block int)) {
	for _, input := range s.needed() {
		for _, b := range c.touched(input, s.From, s.Records) {
			f(b)
		}
	}
	if c.ahead == nil {
		return
	}
	for _, input := range s.Inputs() {
		for _, b := range c.touched(input, s.From, c.ahead(input, s.From)) {
			f(b)
		}
	}
}

// touched returns the blocks of an input that hold some of the n records at from.
func (c *Cache) touched(input int, from uint64, n int) []int {
	bs, m := c.blocks[input], c.r.Meta()
	end := func(i int) uint64 { return m.Blocks[bs[i]].FirstRecord + uint64(m.Blocks[bs[i]].Records) }
	lo := sort.Search(len(bs), func(i int) bool { return end(i) > from })
	hi := sort.Search(len(bs), func(i int) bool { return m.Blocks[bs[i]].FirstRecord >= from+uint64(n) })
	if lo >= hi {
		return nil
	}
	return bs[lo:hi]
}

// Acquire returns the n records at from of an input. What it returns shares memory with
// blocks; release must be called with each slice once they are no longer needed.
func (c *Cache) Acquire(input int, from uint64, n int) (*columns.Columns, error) {
	ls, err := c.loaded(input, from, n)
	if err != nil {
		return nil, err
	}
	return columns.Gather(input, from, n, ls, c.keeps[input])
}

// AcquireNames is acquire of the names alone.
func (c *Cache) AcquireNames(input int, from uint64, n int) (*columns.Columns, error) {
	ls, err := c.loaded(input, from, n)
	if err != nil {
		return nil, err
	}
	var k columns.Kept
	k[archive.Names] = c.keeps[input][archive.Names]
	return columns.Gather(input, from, n, ls, k)
}

// loaded returns the blocks that hold some of the n records at from.
func (c *Cache) loaded(input int, from uint64, n int) ([]*columns.Block, error) {
	var ls []*columns.Block
	for _, b := range c.touched(input, from, n) {
		c.mu.Lock()
		e := c.Entries[b]
		c.mu.Unlock()
		e.once.Do(func() { e.l, e.err = columns.LoadBlock(c.r, b, c.keeps[input], c.letters != nil && c.letters[input]) })
		if e.err != nil {
			return nil, e.err
		}
		ls = append(ls, e.l)
	}
	return ls, nil
}

// Release says that a slice needs its blocks no more.
func (c *Cache) Release(s *Spec) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.eachUse(s, func(block int) {
		e := c.Entries[block]
		if e.uses--; e.uses == 0 {
			delete(c.Entries, block)
		}
	})
}

// OfAll returns a value for each input.
func OfAll(meta *bins.Meta, is bool) []bool { return slices.Repeat([]bool{is}, len(meta.Inputs)) }
