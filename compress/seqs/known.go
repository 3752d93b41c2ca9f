package seqs

import (
	"math/bits"

	rc "orcomgo/compress/rangecoder"
)

// knownValues codes values of which many came before. In a group, such as that of reads of one length, the values that came as often, but
// for a factor of two, are a class. The class of the next value is coded; in its class each value is as likely as the others.
type knownValues struct {
	groups map[uint32]*valueGroup
	number map[knownKey]*knownValue // encoding
}

type knownKey struct {
	group uint32
	value uint64
}

// knownValue is a value, how often it came, and where it is in the list of its class.
type knownValue struct {
	value     uint64
	times, at uint32
}

// valueGroup has the values of a group, by class: class c has those that came 2^c times or more.
type valueGroup struct {
	known   rc.Prob // that the next value is one of them
	class   rc.Tree // how many classes below the highest one it is
	members [1 << classBits][]*knownValue
	highest int
}

const classBits = 5

func newKnownValues() *knownValues {
	return &knownValues{make(map[uint32]*valueGroup), make(map[knownKey]*knownValue)}
}

// code codes whether the next value of a group is a known one, and decodes it if it is.
func (k *knownValues) code(c *rc.Coder, group uint32, value uint64) (_ uint64, known bool) {
	g := k.groups[group]
	if g == nil {
		return value, false
	}
	v := k.number[knownKey{group, value}]
	if c.Adapt(rc.BitOf(v != nil), &g.known, shortMemory) == 0 {
		return value, false
	}
	class, at := 0, uint32(0)
	if !c.Decoding() {
		class, at = g.highest+1-bits.Len32(v.times), v.at
	}
	class = g.highest - int(g.class.Code(c, uint32(class), shortMemory))
	if class < 0 || len(g.members[class]) == 0 { // in a corrupt stream
		class = g.highest
	}
	list := g.members[class]
	v = list[codeBelow(c, at, uint32(len(list)))]
	if v.times++; bits.Len32(v.times)-1 > class {
		last := list[len(list)-1]
		list[v.at], last.at = last, v.at
		g.members[class] = list[:len(list)-1]
		g.highest = max(g.highest, class+1)
		g.put(class+1, v)
	}
	return v.value, true
}

// put appends a value to the list of a class.
func (g *valueGroup) put(class int, v *knownValue) {
	v.at = uint32(len(g.members[class]))
	g.members[class] = append(g.members[class], v)
}

// add adds a value that came once.
func (k *knownValues) add(c *rc.Coder, group uint32, value uint64) {
	g := k.groups[group]
	if g == nil {
		g = &valueGroup{known: rc.NewProb, class: rc.NewTree(classBits)}
		k.groups[group] = g
	}
	v := &knownValue{value: value, times: 1}
	g.put(0, v)
	if !c.Decoding() {
		k.number[knownKey{group, value}] = v
	}
}

// codeBelow codes v, which is less than n, as likely as any other number that is. It codes what 16 bits can't tell in bits.
func codeBelow(c *rc.Coder, v, n uint32) uint32 {
	low := max(bits.Len32(n-1)-16, 0)
	m := (n-1)>>low + 1 // 2^16 at most
	hi := v >> low
	if c.Decoding() {
		hi = uint32((uint64(c.Dec.Point()+1)*uint64(m) - 1) >> 16)
	}
	from, to := uint32(uint64(hi)<<16/uint64(m)), uint32(uint64(hi+1)<<16/uint64(m))
	if c.Decoding() {
		c.Dec.DecodePart(from, to-from)
	} else {
		c.Enc.EncodePart(from, to-from)
	}
	return min(hi<<low|c.Uniform(v&(1<<low-1), low), n-1)
}
