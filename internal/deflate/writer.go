package deflate

import "encoding/binary"

// Writer appends to a stream, the lowest bits of a byte first.
type Writer struct {
	Out     []byte // whole bytes
	Pending uint64 // the bits behind them, up to 31
	N       int    // how many these are
}

// Put appends the n low bits of v, which has no others; n is at most 32.
func (w *Writer) Put(v, n int) {
	w.Pending |= uint64(v) << (w.N & 63)
	if w.N += n; w.N >= 32 {
		w.Out = binary.LittleEndian.AppendUint32(w.Out, uint32(w.Pending))
		w.Pending >>= 32
		w.N -= 32
	}
}

// Flush appends the whole bytes of what is pending.
func (w *Writer) Flush() {
	for ; w.N >= 8; w.N -= 8 {
		w.Out = append(w.Out, byte(w.Pending))
		w.Pending >>= 8
	}
}

// Padded appends all bits, and zeros up to the end of a byte, and returns Out.
func (w *Writer) Padded() []byte {
	w.N = (w.N + 7) &^ 7
	w.Flush()
	return w.Out
}

// Bytes appends whole bytes, where the next byte begins.
func (w *Writer) Bytes(b []byte) { w.Out = append(w.Padded(), b...) }

// Symbols are the codes to write for symbols: the bits, above how many there are.
type Symbols [288]uint32

// SymbolsOf returns the canonical code of lengths.
func SymbolsOf(lengths []uint8) (s Symbols) {
	var c Code
	c.Init(lengths)
	c.Each(func(symbol, code, n int) { s[symbol] = uint32(code<<4 | n) })
	return s
}

// Symbol appends the code of a symbol.
func (w *Writer) Symbol(s *Symbols, symbol int) { w.Put(int(s[symbol]>>4), int(s[symbol]&15)) }
