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
