package gzexact

import (
	"encoding/binary"

	"orcomgo/bins/parse"
	"orcomgo/compress/rangecoder"
)

// task is the coding of a frame, or its decoding.
type task struct {
	frame     *frame
	template  *template
	file      int64     // coding: how many bytes of the file are read behind the frame
	code      []byte    // the description of the frame
	bits      bitWriter // decoding: the frame
	predictor predictor // as it is behind the frame
	most      int       // coding: bytes of code, or 0 if there may be any number; with more it is given up and err set
	wrong     int       // coding: how often the predictor was wrong
	err       error
	done      chan struct{} // closed when that is set
}

// run has up to so many tasks of next, until that returns nil, run side by side, and calls write with each, in order. code gets the task
// before, too; if the frame is carried on, that has ended.
func run(threads int, next func() (*task, error), code func(t, before *task), write func(t *task) error) error {
	var tasks []*task
	var last *task
	t, err := next()
	for err == nil && t != nil || len(tasks) > 0 {
		if err == nil && t != nil && len(tasks) < max(threads, 1) {
			t.start(last, code)
			tasks, last = append(tasks, t), t
			t, err = next()
			continue
		}
		first := tasks[0]
		tasks = tasks[1:]
		if <-first.done; err == nil {
			err = first.err
		}
		if err == nil {
			err = write(first)
		}
	}
	return err
}

func (t *task) start(before *task, code func(t, before *task)) {
	t.done = make(chan struct{})
	go func() {
		defer close(t.done)
		if t.frame.carriedOn {
			<-before.done
		}
		code(t, before)
	}()
}

func (t *task) session(before *task, c *rangecoder.Coder) *session {
	s := &session{coding: coding{Coder: *c}, frame: t.frame, template: t.template}
	s.init()
	if t.frame.carriedOn {
		z := before.predictor.(*zlib)
		z.rebase(s.text, before.frame.to-s.from)
		s.predictor, before.predictor = z, nil
	} else {
		s.predictor = t.frame.writer.predictor()
	}
	return s
}

// Flags of a frame: its lowest three bits are where in a byte it begins.
const (
	frameInside    = 8
	frameCarriedOn = 16
)

// encode sets code and predictor.
func (t *task) encode(before *task) {
	f := t.frame
	s := t.session(before, rangecoder.EncodeTo(nil))
	flags := f.bit | frameInside*byte(boolBit(f.inside)) | frameCarriedOn*byte(boolBit(f.carriedOn))
	t.code = append(t.code[:0], f.writer.family<<4|f.writer.level, f.writer.rules, flags)
	for _, v := range [...]int{f.to - f.from, f.history} {
		t.code = binary.AppendUvarint(t.code, uint64(v))
	}
	s.Enc.Reset(t.code)
	s.most = t.most
	t.err = s.run()
	t.code, t.predictor, t.wrong = s.Enc.Finish(), s.predictor, s.wrong
}

// parseFrame parses what is before the stream of a frame, and returns the stream and how many bytes of text the frame has.
func parseFrame(code []byte) (f *frame, size int, stream []byte, err error) {
	c := parse.Cursor{Rest: code}
	w, rules, flags := c.Byte(), c.Byte(), c.Byte()
	f = &frame{writer: writer{w >> 4, w & 15, rules}, bit: flags & 7, inside: flags&frameInside != 0, carriedOn: flags&frameCarriedOn != 0}
	size, f.history = c.Int(frameTextMost+maxBlockText), c.Int(windowSize)
	if c.Failed() || !f.writer.valid() || flags >= frameCarriedOn<<1 || !f.inside && f.bit != 0 ||
		f.carriedOn && !(f.inside && f.writer.isSequential()) {
		return nil, 0, nil, errDamaged
	}
	return f, size, c.Rest, nil
}

// decode sets bits and predictor, given the description of the frame and its text.
func (t *task) decode(before *task) {
	if t.frame.carriedOn && before.err != nil {
		t.err = before.err
		return
	}
	s := t.session(before, rangecoder.DecodeFrom(t.code))
	s.bits.n = int(t.frame.bit)
	if t.err = s.run(); t.err == nil && s.Dec.Err() != nil {
		t.err = errDamaged
	}
	t.bits, t.predictor = s.bits, s.predictor
}
