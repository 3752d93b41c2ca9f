package seqs

import (
	"math/bits"

	rc "orcomgo/compress/rangecoder"
)

// knownPlaces codes which of the places that reads had before the next read has, if it has one of them. Places of the same number of
// reads, but for a factor of two, are a class. The class of the next place is coded; in its class each place is as likely as the others.
// Groups of places, as those of reads of one length, have classes of their own.
type knownPlaces struct {
	all    []knownPlace
	groups []*placeGroup
	slots  []uint32 // encoding: a hash table of numbers in all, plus 1; its size is a power of two
}

// knownPlace is where some reads begin.
type knownPlace struct {
	start uint32 // see startOf
	rev   bool
	group uint16
	reads uint32
	at    uint32 // index in its class
}

// placeOf returns the place of a read of n bases that begins there.
func (p *knownPlace) placeOf(n int) (pos uint32, rev bool) { return posOf(p.start, p.rev, n), p.rev }

// placeGroup is the places of a group, by class.
type placeGroup struct {
	known   [knownContexts]rc.Prob // that the next place is one of them
	class   [knownContexts]rc.Tree // of the next place, if it is: how many classes it is below the highest one that has places
	members [1 << classBits][]uint32
	highest int
}

// classBits is the logarithm of the number of classes: class c has places of at least 2^c reads.
const classBits = 5

// knownContexts is how many contexts code may be given.
const knownContexts = 8

// code codes in a context which of the places of a group the next one is, by its number, and counts that; -1 is a new one.
func (k *knownPlaces) code(c *rc.Coder, group, context, i int) int {
	g := k.group(group)
	if len(g.members[g.highest]) == 0 || c.Adapt(rc.BitOf(i >= 0), &g.known[context], shortMemory) == 0 {
		return -1
	}
	class := 0
	if !c.Decoding() {
		class = g.highest + 1 - bits.Len32(k.all[i].reads)
	}
	class = g.highest - int(g.class[context].Code(c, uint32(class), shortMemory))
	if class < 0 || len(g.members[class]) == 0 { // in a corrupt stream
		class = g.highest
	}
	list := g.members[class]
	at := uint32(0)
	if !c.Decoding() {
		at = k.all[i].at
	}
	i = int(list[codeBelow(c, at, uint32(len(list)))])
	p := &k.all[i]
	if p.reads++; bits.Len32(p.reads)-1 > class {
		last := list[len(list)-1]
		list[p.at], k.all[last].at = last, p.at
		g.members[class] = list[:len(list)-1]
		g.highest = max(g.highest, class+1)
		p.at = uint32(len(g.members[class+1]))
		g.members[class+1] = append(g.members[class+1], uint32(i))
	}
	return i
}

// group returns a group, which is made when it is asked for first.
func (k *knownPlaces) group(i int) *placeGroup {
	for len(k.groups) <= i {
		k.groups = append(k.groups, nil)
	}
	if k.groups[i] == nil {
		g := new(placeGroup)
		rc.FillProbs(g.known[:])
		for j := range g.class {
			g.class[j] = rc.NewTree(classBits)
		}
		k.groups[i] = g
	}
	return k.groups[i]
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

// add adds a place, of one read, and returns its number.
func (k *knownPlaces) add(encoding bool, p knownPlace) int {
	list := &k.group(int(p.group)).members[0]
	p.reads, p.at = 1, uint32(len(*list))
	*list = append(*list, uint32(len(k.all)))
	k.all = append(k.all, p)
	if encoding {
		if 2*len(k.all) > len(k.slots) {
			k.slots = make([]uint32, max(4*len(k.all), 64))
			k.slots = k.slots[:1<<(bits.Len(uint(len(k.slots)))-1)]
			for i := range k.all {
				k.slots[k.slot(k.all[i].start, k.all[i].rev, k.all[i].group)] = uint32(i + 1)
			}
		} else {
			k.slots[k.slot(p.start, p.rev, p.group)] = uint32(len(k.all))
		}
	}
	return len(k.all) - 1
}

// slot returns the slot of a place, or the empty one where it belongs. There is an empty one.
func (k *knownPlaces) slot(start uint32, rev bool, group uint16) int {
	h := uint64(start)<<17 | uint64(rc.BitOf(rev))<<16 | uint64(group)
	for at := int(h * 0x9e3779b97f4a7c15 >> (64 - bits.Len(uint(len(k.slots)-1)))); ; at = (at + 1) & (len(k.slots) - 1) {
		if k.slots[at] == 0 {
			return at
		}
		if p := &k.all[k.slots[at]-1]; p.start == start && p.rev == rev && p.group == group {
			return at
		}
	}
}

// find returns the number of a place, -1 if it is not known. Encoding only.
func (k *knownPlaces) find(start uint32, rev bool, group uint16) int {
	if len(k.slots) == 0 {
		return -1
	}
	return int(k.slots[k.slot(start, rev, group)]) - 1
}
