package binning

import (
	"errors"
	"io"
	"unsafe"

	"orcomgo/bins/bam"
	"orcomgo/bins/record"
)

// bam parses a record of BAM, with the header of the file if that precedes it. If w.header is set, the header is next. BAM without records
// is one record that has the header only. The error is as of package bam, or that of reading.
func (w *walker) bam() error {
	at := 0
	for w.header {
		n, err := bam.HeaderSize(w.text())
		if err == io.ErrUnexpectedEOF && w.readMore() {
			continue
		}
		if err != nil {
			return w.cut(err)
		}
		if at = n; !w.has(n) {
			w.name, w.seq, w.qual, w.textLen, w.header = nil, w.seq[:0], w.qual[:0], n, false
			w.form = record.Form{Plus: record.BAMFields, PlusText: string(bam.HeaderFields(w.text()[:n]))}
			return w.cut(nil)
		}
		break
	}
	n, ok := bam.RecordSize(w.text()[at:])
	for !ok || len(w.text()) < at+n {
		if !w.readMore() {
			return w.cut(io.ErrUnexpectedEOF)
		}
		n, ok = bam.RecordSize(w.text()[at:])
	}
	r, err := bam.Parse(w.text()[at+4:at+n], w.number)
	if err != nil {
		return err
	}
	var header []byte
	if w.header {
		header = w.text()[:at]
	}
	w.name, w.seq, w.qual = r.Name, r.AppendLetters(w.seq[:0]), r.AppendQualities(w.qual[:0])
	w.fields = r.AppendFields(w.fields[:0], header)
	w.form = record.Form{Plus: record.BAMFields, PlusText: w.keep(w.fields)}
	w.textLen, w.header = at+n, false
	return nil
}

// keep returns b as a string that shares memory with others: one by one they take several times as long.
func (w *walker) keep(b []byte) string {
	if cap(w.kept)-len(w.kept) < len(b) {
		w.kept = make([]byte, 0, max(len(b), 1<<16))
	}
	at := len(w.kept)
	w.kept = append(w.kept, b...)
	return unsafe.String(unsafe.SliceData(w.kept[at:]), len(b))
}

// cut returns the error of reading if there was one, else err.
func (w *walker) cut(err error) error {
	if w.err != nil && w.err != io.EOF {
		return w.err
	}
	return err
}

// isBAMError reports whether an error says that BAM is damaged, cut off, or not of the kind that is read.
func isBAMError(err error) bool {
	var unsuited *bam.UnsuitedError
	return errors.As(err, &unsuited) || errors.Is(err, bam.ErrCorrupt) || err == io.ErrUnexpectedEOF
}

// divideBAM sets where the records begin that follow so many bytes, from which text begins with one; 0 if that is not known.
func divideBAM(starts []int, text []byte, piece int) {
	at := 0
	for i := range starts {
		for at < (i+1)*piece {
			n, ok := bam.RecordSize(text[at:])
			if !ok || n > len(text)-at {
				return
			}
			at += n
		}
		starts[i] = at
	}
}
