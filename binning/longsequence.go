package binning

import (
	"bytes"
	"sync/atomic"

	"orcomgo/bins/record"
	"orcomgo/internal/largepages"
)

// The lines of a long sequence are parsed, and compared, by several threads, as long as all have the length of the first one.

// longSequence is how many bytes of lines are worth several threads.
const longSequence = 1 << 20

// linesTask is how many bytes of lines, about, one call of a task parses.
const linesTask = 256 << 10

// evenLines advances over lines of the sequence that are as long as the one before, if these are many.
func (w *walker) evenLines() {
	if w.run == nil || !w.endedInLF {
		return
	}
	first := w.seqLines[len(w.seqLines)-1]
	width := int(first >> 1)
	end := lineEndOf(first&1 != 0)
	stride := width + len(end)
	// More and more lines are tried, since the sequence may end soon.
	for size := w.longSequence; width > 0 && w.next < maxRecord; size = min(2*size, 32*w.longSequence) {
		w.fillTo(w.next + size + stride)
		text := w.text()[w.next:]
		lines := min(len(text), size+stride) / stride
		if lines*stride < w.longSequence {
			return
		}
		at := len(w.seq)
		if need := at + lines*width; cap(w.seq) < need {
			w.seq = w.moved(w.seq, 2*need)
		}
		w.seq = w.seq[:at+lines*width]
		seq := w.seq[at:]
		good := w.eachLine(lines, stride, func(i int) bool {
			line := text[i*stride:][:stride]
			if checkContent(line[:width], nil) != nil {
				return false
			}
			copy(seq[i*width:], line[:width])
			return string(line[width:]) == end
		})
		w.seq = w.seq[:at+good*width]
		for range good {
			w.seqLines = append(w.seqLines, first)
		}
		if w.next += good * stride; good < lines {
			return
		}
	}
}

// moved returns a copy of bytes with room for n.
func (w *walker) moved(b []byte, n int) []byte {
	to := largepages.AskForMany(make([]byte, len(b), n))
	w.copy(to, b)
	return to
}

// copy copies src to dst, by several threads if it is long: most of the time is that of memory which is used for the first time.
func (w *walker) copy(dst, src []byte) {
	if w.run == nil || len(src) < w.longSequence {
		copy(dst, src)
		return
	}
	w.run((len(src)+linesTask-1)/linesTask, func(i int) { copy(dst[i*linesTask:], src[i*linesTask:min((i+1)*linesTask, len(src))]) })
}

// eachLine calls good for lines 0 to n-1 of so many bytes, until it returns false, and returns how many of the first ones are good.
func (w *walker) eachLine(n, stride int, good func(i int) bool) int {
	task := max(linesTask/stride, 1)
	var least atomic.Int64
	least.Store(int64(n))
	run := w.run
	if run == nil || n*stride < w.longSequence {
		run, task = serial, max(n, 1)
	}
	run((n+task-1)/task, func(k int) {
		for i := k * task; i < min((k+1)*task, n); i++ {
			if int64(i) >= least.Load() {
				return
			}
			if good(i) {
				continue
			}
			for at := least.Load(); int64(i) < at && !least.CompareAndSwap(at, int64(i)); at = least.Load() {
			}
			return
		}
	})
	return int(least.Load())
}

func lineEndOf(cr bool) string {
	if cr {
		return "\r\n"
	}
	return "\n"
}

// givesBack reports whether the record, rendered from its parts, is its text. memory is for that.
func (w *walker) givesBack(memory *[]byte) bool {
	text := w.text()[:w.textLen]
	width := int(w.form.SeqWidth)
	if w.kind != record.FASTA || w.form.SeqLines != nil || width == 0 || len(w.seq) <= width {
		var err error
		*memory, err = record.AppendRecord((*memory)[:0], w.kind, w.name, w.seq, w.qual, &w.form)
		return err == nil && bytes.Equal(*memory, text)
	}
	// All lines but the last, and then the record without their letters.
	end := lineEndOf(w.form.CR&2 != 0)
	stride, lines := width+len(end), (len(w.seq)-1)/width
	head := len(w.name) + 1 + len(lineEndOf(w.form.CR&1 != 0))
	if len(text) < head+lines*stride {
		return false
	}
	good := w.eachLine(lines, stride, func(i int) bool {
		line := text[head+i*stride:][:stride]
		return bytes.Equal(line[:width], w.seq[i*width:][:width]) && string(line[width:]) == end
	})
	if good < lines {
		return false
	}
	var err error
	*memory, err = record.AppendRecord((*memory)[:0], w.kind, w.name, w.seq[lines*width:], nil, &w.form)
	return err == nil && len(*memory) == len(text)-lines*stride && bytes.Equal((*memory)[:head], text[:head]) &&
		bytes.Equal((*memory)[head:], text[head+lines*stride:])
}
