package restoring

import (
	"io"
	"sync"

	"orcomgo/bins/vfs"
)

// sink is where the text of an input goes, or of a pair whose mates are interleaved, or of all inputs: files in a directory, a FIFO, or a
// stream.
type sink struct {
	stream io.Writer  // or
	file   *gzipFile  // that is stream
	files  []*outFile // by part; one unless the output is split

	part int // that is being written
	err  error

	// A FIFO is written by a goroutine of its own, so that readers may take the mates of pairs in any order, as far as the queue
	// reaches.
	queue chan queued
	ended chan struct{} // closed when it has ended
	once  sync.Once     // the queue is closed

	stop <-chan struct{} // closed when nothing is to be waited for any more
}

// queued is text that waits to be written.
type queued struct {
	segments []segment
	written  func() // called when the text is no longer needed
	last     bool   // the sink's text ends with it
}

// segment is text of a part of an output.
type segment struct {
	part int
	text []byte
}

// queueLength is how many slices of text may wait for the reader of a FIFO, besides the one that is being written.
const queueLength = 2

// live reports whether text that was written can't be taken back.
func (s *sink) live() bool { return s.stream != nil || s.queue != nil }

// begin starts the goroutine of FIFOs.
func (s *sink) begin() {
	for _, f := range s.files {
		if f.fifo && s.queue == nil {
			s.queue, s.ended = make(chan queued, queueLength), make(chan struct{})
			go s.serve()
		}
	}
}

// serve writes what is queued.
func (s *sink) serve() {
	defer close(s.ended)
	for q := range s.queue {
		if s.err == nil {
			s.err = s.put(q.segments, q.last)
		}
		q.written()
		if s.err != nil {
			return // write notices it
		}
	}
}

// write writes text, or queues it, and calls written when the text is no longer needed. last says that no more follows.
func (s *sink) write(segments []segment, last bool, written func()) error {
	if s.queue == nil {
		defer written()
		return s.put(segments, last)
	}
	select {
	case s.queue <- queued{segments, written, last}:
		return nil
	case <-s.ended:
		written()
		return s.err
	case <-s.stop:
		written()
		return vfs.ErrStopped
	}
}

// put writes text to the stream or the files.
func (s *sink) put(segments []segment, last bool) error {
	for _, g := range segments {
		if s.stream != nil {
			if len(g.text) > 0 {
				if _, err := s.stream.Write(g.text); err != nil {
					return err
				}
			}
			continue
		}
		for ; s.part < g.part; s.part++ {
			if err := s.files[s.part].finish(s.stop); err != nil {
				return err
			}
		}
		if err := s.files[g.part].write(g.text, s.stop); err != nil {
			return err
		}
	}
	switch {
	case last && s.file != nil:
		return s.file.end()
	case last && s.stream == nil:
		return s.files[s.part].finish(s.stop)
	}
	return nil
}

// finish waits until all is written, and completes the files.
func (s *sink) finish() error {
	if s.queue != nil {
		s.once.Do(func() { close(s.queue) })
		<-s.ended
		if s.err != nil {
			return s.err
		}
	}
	for _, f := range s.files {
		if err := f.finish(s.stop); err != nil {
			return err
		}
	}
	return nil
}

// abort removes the files that have not got their names. Before it is called for a FIFO, stop must be closed.
func (s *sink) abort() {
	if s == nil {
		return
	}
	if s.queue != nil {
		s.once.Do(func() { close(s.queue) })
		<-s.ended
	}
	s.file.abort()
	for _, f := range s.files {
		f.abort()
	}
}
