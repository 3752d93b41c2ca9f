package records

import (
	"math"

	"orcomgo/compress/general"
	"orcomgo/internal/tasks"
)

// Layout is what records data consists of.
type Layout struct {
	// Bits is about how many bits Encode takes for a byte of the data: too many where fields follow from other fields.
	Bits float64

	Stride int // bytes of a record

	header int // bytes before the first record
	fields []field
}

// Find finds the records of data, and reports false if it does not seem to have any. It is much faster than Encode. The pool is as there.
func Find(data []byte, pool *tasks.Pool) (*Layout, bool) {
	list := general.Strides(data)
	tried, costs := make([][]field, len(list)), make([]float64, len(list))
	pool.Each(len(list), func(i int) { tried[i], costs[i] = split(data[len(data)%list[i]:], list[i]) })
	l := &Layout{Bits: math.Inf(1)}
	for i, s := range list {
		if cost := costs[i] / float64(s); cost < l.Bits {
			*l = Layout{cost, s, len(data) % s, tried[i]}
		}
	}
	return l, l.Stride > 0
}
