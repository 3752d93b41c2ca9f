package tasks

import (
	"container/list"
	"sync"
	"sync/atomic"
)

// Once is a value that several goroutines need: the first that asks for it computes it, and the others wait.
type Once[V any] struct {
	taken atomic.Bool
	done  chan struct{} // closed when value and err are set
	value V
	err   error
}

// NewOnce returns a value that is still to be computed.
func NewOnce[V any]() *Once[V] { return &Once[V]{done: make(chan struct{})} }

// Get returns what compute returned when it was called first. wait returns when that channel is closed, or an error.
func (o *Once[V]) Get(wait func(done <-chan struct{}) error, compute func() (V, error)) (V, error) {
	if o.taken.CompareAndSwap(false, true) {
		o.value, o.err = compute()
		close(o.done)
	} else if err := wait(o.done); err != nil {
		var none V
		return none, err
	}
	return o.value, o.err
}

// Cache has a Once for each key. The zero value is empty.
type Cache[K comparable, V any] struct {
	mu      sync.Mutex
	entries map[K]*list.Element
	recent  list.List // of cacheEntry, that which was got last first
	uses    map[K]int
}

type cacheEntry[K comparable, V any] struct {
	key  K
	once *Once[V]
}

// Get is that of the Once of a key, which is made if it is not there.
func (c *Cache[K, V]) Get(key K, wait func(done <-chan struct{}) error, compute func() (V, error)) (V, error) {
	c.mu.Lock()
	e := c.entries[key]
	if e == nil {
		if c.entries == nil {
			c.entries = make(map[K]*list.Element)
		}
		e = c.recent.PushFront(cacheEntry[K, V]{key, NewOnce[V]()})
		c.entries[key] = e
	}
	c.mu.Unlock()
	v, err := e.Value.(cacheEntry[K, V]).once.Get(wait, compute)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recent.MoveToFront(e) // others may have been got meanwhile, and it may have been dropped
	return v, err
}

// Has reports whether that of a key is there.
func (c *Cache[K, V]) Has(key K) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries[key] != nil
}

// Drop removes that of a key, if there is one.
func (c *Cache[K, V]) Drop(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
}

// remove is Drop. c.mu must be locked.
func (c *Cache[K, V]) remove(key K) {
	if e := c.entries[key]; e != nil {
		delete(c.entries, key)
		c.recent.Remove(e)
	}
}

// Expect announces a use of a key: see Release.
func (c *Cache[K, V]) Expect(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.uses == nil {
		c.uses = make(map[K]int)
	}
	c.uses[key]++
}

// Release ends a use of a key, and reports whether it is the last one that was announced: then what the key has is dropped.
func (c *Cache[K, V]) Release(key K) (last bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.uses[key]--; c.uses[key] > 0 {
		return false
	}
	delete(c.uses, key)
	c.remove(key)
	return true
}

// Shrink calls drop with all values that are computed, that which was got last first, and removes those for which it returns true.
func (c *Cache[K, V]) Shrink(drop func(age int, v V) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	age := 0
	for e := c.recent.Front(); e != nil; {
		entry := e.Value.(cacheEntry[K, V])
		e = e.Next()
		select {
		case <-entry.once.done:
			if drop(age, entry.once.value) {
				c.remove(entry.key)
			}
			age++
		default:
		}
	}
}
