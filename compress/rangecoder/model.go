package rangecoder

// Bit is an adaptive probability that the next bit is 1, in 1/65536.
// The zero value is not valid; start from NewBit.
type Bit uint16

// NewBit is the even start of a Bit.
const NewBit Bit = 1 << (ProbBits - 1)

// Update moves the probability towards bit by 1/2^rate of the distance; 1 <= rate <= 10.
// The result stays inside 1..65535.
func (b *Bit) Update(bit int, rate uint) {
	if bit != 0 {
		*b += (65535 - *b) >> rate
	} else {
		*b -= *b >> rate
	}
}

// P returns the probability as Encode and Decode take it, kept away from certainty.
func (b Bit) P() uint32 {
	p := uint32(b)
	if p < 16 {
		return 16
	}
	if p > 65520 {
		return 65520
	}
	return p
}

// EncodeBit writes bit under the model b and updates it.
func (e *Encoder) EncodeBit(bit int, b *Bit, rate uint) {
	e.Encode(bit, b.P())
	b.Update(bit, rate)
}

// DecodeBit reads a bit under the model b and updates it.
func (d *Decoder) DecodeBit(b *Bit, rate uint) int {
	bit := d.Decode(b.P())
	b.Update(bit, rate)
	return bit
}

// Tree is an adaptive model of symbols of a fixed number of bits: a binary tree of Bits.
type Tree struct {
	bits int
	node []Bit
}

// NewTree returns a model of symbols 0 .. 2^bits-1; 1 <= bits <= 16.
func NewTree(bits int) *Tree {
	t := &Tree{bits: bits, node: make([]Bit, 1<<bits)}
	for i := range t.node {
		t.node[i] = NewBit
	}
	return t
}

// Encode writes sym and updates the tree.
func (t *Tree) Encode(e *Encoder, sym uint32, rate uint) {
	n := uint32(1)
	for i := t.bits - 1; i >= 0; i-- {
		b := sym >> i & 1
		e.EncodeBit(int(b), &t.node[n], rate)
		n = n<<1 | b
	}
}

// Decode reads a symbol and updates the tree.
func (t *Tree) Decode(d *Decoder, rate uint) uint32 {
	n := uint32(1)
	for i := 0; i < t.bits; i++ {
		n = n<<1 | uint32(d.DecodeBit(&t.node[n], rate))
	}
	return n - 1<<t.bits
}

// Number is an adaptive model of unsigned numbers up to 2^32-1: the bit length by a
// tree, the leading bits below the top one by context, the rest evenly (Elias gamma with adaptive bits).
type Number struct {
	length *Tree
	lead   [33][8]Bit
}

// NewNumber returns a fresh model.
func NewNumber() *Number {
	n := &Number{length: NewTree(6)}
	for i := range n.lead {
		for j := range n.lead[i] {
			n.lead[i][j] = NewBit
		}
	}
	return n
}

// Encode writes v and updates the model.
func (m *Number) Encode(e *Encoder, v uint32, rate uint) {
	n := 0
	for x := v; x != 0; x >>= 1 {
		n++
	}
	m.length.Encode(e, uint32(n), rate)
	ctx := 1
	for i := n - 2; i >= 0; i-- {
		b := int(v >> i & 1)
		if ctx < 8 {
			e.EncodeBit(b, &m.lead[n][ctx], rate)
			ctx = ctx<<1 | b
		} else {
			e.EncodeBits(v&(1<<(i+1)-1), i+1)
			break
		}
	}
}

// Decode reads a number and updates the model.
func (m *Number) Decode(d *Decoder, rate uint) uint32 {
	n := int(m.length.Decode(d, rate))
	if n > 32 {
		n = 32 // only a corrupt stream says so; the checksum above will tell
	}
	if n == 0 {
		return 0
	}
	v, ctx := uint32(1), 1
	for i := n - 2; i >= 0; i-- {
		if ctx < 8 {
			b := d.DecodeBit(&m.lead[n][ctx], rate)
			ctx = ctx<<1 | b
			v = v<<1 | uint32(b)
		} else {
			v = v<<(i+1) | d.DecodeBits(i+1)
			break
		}
	}
	return v
}
