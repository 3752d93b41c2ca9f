package binning

import "sync"

// filling stores bytes of a text in parts of fillPiece, each by one of several goroutines. Where a text is stored through larger pieces of
// memory, parts next to each other are written to the same piece, and the goroutine that writes the last of them has it stored. So a few
// large copies go to a device. Each call of its driver takes time, and goroutines wait for each other there.
type filling struct {
	text   TextBuffer
	at, n  int
	parts  int         // of a piece
	pieces []partPiece // none: parts are stored by Fill
}

// piecer is the part of a TextBuffer by which bytes go to it through pieces of memory.
type piecer interface {
	// PieceParts returns how many parts of fillPiece a piece has; 1 or less if Fill does as well now, and then Piece is not called.
	PieceParts() int
	// Piece returns a piece, and waits for one that is not in use. Call either Store or Release of it.
	Piece() (textPiece, error)
}

// textPiece is memory through which bytes of a text go.
type textPiece interface {
	Bytes() []byte
	// Store stores the first n bytes in the text, from offset at on. It returns before that is done.
	Store(n, at int) error
	// Release gives the piece back without storing anything.
	Release()
}

// partPiece is a piece that parts are being written to.
type partPiece struct {
	mu    sync.Mutex
	piece textPiece // nil before it is needed, and after it was passed on
	err   error     // of getting it
	left  int       // parts that have not been written
}

// newFilling returns a filling of n bytes from offset at on, for which there must be room.
func newFilling(text TextBuffer, at, n int) *filling {
	l := &filling{text: text, at: at, n: n, parts: text.PieceParts()}
	if l.parts > 1 {
		count := l.count()
		l.pieces = make([]partPiece, (count+l.parts-1)/l.parts)
		for i := range l.pieces {
			l.pieces[i].left = min(l.parts, count-i*l.parts)
		}
	}
	return l
}

// count returns how many parts there are.
func (l *filling) count() int { return (l.n + fillPiece - 1) / fillPiece }

// fill stores a part: f is called to write it to p. Several goroutines may fill parts, each part once. Parts must be started in their
// order.
func (l *filling) fill(part int, f func(p []byte) error) error {
	from := part * fillPiece
	n := min(fillPiece, l.n-from)
	if l.pieces == nil {
		_, err := l.text.Fill(l.at+from, n, func(p []byte) (int, error) { return len(p), f(p) })
		return err
	}
	i := part / l.parts
	piece := &l.pieces[i]
	bytes, err := piece.bytes(l.text)
	if err != nil {
		return err
	}
	first := i * l.parts * fillPiece
	if err := f(bytes[from-first:][:n]); err != nil {
		return err
	}
	return piece.written(min(l.parts*fillPiece, l.n-first), l.at+first)
}

// end gives back pieces of which some parts were not written because of an error. No call of fill may be in progress.
func (l *filling) end() {
	for i := range l.pieces {
		if p := l.pieces[i].piece; p != nil {
			p.Release()
		}
	}
}

// bytes returns the memory of the piece. The first caller waits until one is free, and others wait for it. This ends: a goroutine that has
// a piece goes on to those of its parts that no other one fills, and needs no other piece for them.
func (p *partPiece) bytes(text TextBuffer) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.piece == nil && p.err == nil {
		p.piece, p.err = text.Piece()
	}
	if p.err != nil {
		return nil, p.err
	}
	return p.piece.Bytes(), nil
}

// written notes that a part was written. After the last one it stores the n bytes of all at an offset of the text.
func (p *partPiece) written(n, at int) error {
	p.mu.Lock()
	p.left--
	last, piece := p.left == 0, p.piece
	if last {
		p.piece = nil
	}
	p.mu.Unlock()
	if !last {
		return nil
	}
	return piece.Store(n, at)
}
