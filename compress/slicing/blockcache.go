package slicing

import (
	"slices"
	"sort"

	"orcomgo/bins"
	"orcomgo/compress/columns"
	"orcomgo/compress/workers"
	"orcomgo/internal/tasks"
)

// Cache loads the blocks that slices need, each once, and releases a block after the last
// slice that needs it. Its methods are called by tasks of a pool.
type Cache struct {
	r       *bins.Reader
	pool    workers.Pool
	keeps   []columns.Kept // by input
	letters []bool         // by input: reads are wanted as well; nil: of none
	blocks  [][]int        // by input: its blocks in order
	// ahead returns how many records from a slice's first one on have their names read ahead; nil: none.
	ahead func(input int, from uint64) int
	// Last is called with each block that no slice needs any more; nil: nothing is.
	Last   func(block int)
	loaded tasks.Cache[int, *columns.Block]
}

// NewCache prepares for exactly the slices of specs, and for the names that are read ahead: those of ahead(input, from) records from a
// slice's first one on; nil for none.
func NewCache(r *bins.Reader, pool workers.Pool, keeps []columns.Kept, letters []bool, specs []Spec,
	ahead func(input int, from uint64) int) *Cache {
	m := r.Meta()
	c := &Cache{r: r, pool: pool, keeps: keeps, letters: letters, ahead: ahead}
	for i := range m.Inputs {
		c.blocks = append(c.blocks, m.BlocksOf(i))
	}
	for i := range specs {
		c.eachUse(&specs[i], c.loaded.Expect)
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

// Acquire returns the n records at from of an input, or only some of their columns: see columns.Kept.Wanted. What it returns shares memory
// with blocks; Release must be called with each slice once they are no longer needed.
func (c *Cache) Acquire(input int, from uint64, n int, only columns.Kept) (*columns.Columns, error) {
	var all []*columns.Block
	for _, b := range c.touched(input, from, n) {
		l, err := c.loaded.Get(b, c.pool.WaitOutside, func() (*columns.Block, error) {
			return columns.LoadBlock(c.r, b, c.keeps[input], c.letters != nil && c.letters[input])
		})
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return columns.Gather(input, from, n, all, c.keeps[input].Wanted(only))
}

// Release says that a slice needs its blocks no more.
func (c *Cache) Release(s *Spec) {
	c.eachUse(s, func(block int) {
		if c.loaded.Release(block) && c.Last != nil {
			c.Last(block)
		}
	})
}

// OfAll returns a value for each input.
func OfAll(meta *bins.Meta, is bool) []bool { return slices.Repeat([]bool{is}, len(meta.Inputs)) }
