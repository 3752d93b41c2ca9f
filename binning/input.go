package binning

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"orcomgo/bins/record"
)

// input is an input that has been opened.
type input struct {
	index   int
	spec    InputSpec
	info    record.Input
	src     *source
	cutter  cutter
	records uint64
	ended   bool
	last    *blockTask // the block of this input that was started last
}

// sniffLen is how many bytes of text are searched for signs of wrapped FASTQ.
const sniffLen = 1 << 20

// openInput opens an input and looks at its first text. If wrapped is set, FASTQ is read as
// wrapped over lines. It is also if the first text does not have four lines a record; then the
// RecordError says where.
func (r *run) openInput(ctx context.Context, i int, wrapped bool) (in *input, strict *RecordError, err error) {
	spec := r.Inputs[i]
	src, err := r.openSource(ctx, spec.Path, &r.read[i])
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			src.close()
		}
	}()
	head := make([]byte, sniffLen)
	n, err := src.Read(head)
	if err != nil && err != io.EOF {
		return nil, nil, err
	}
	head = head[:n]
	ended := err == io.EOF
	in = &input{index: i, spec: spec, src: src}
	blockSize := int(r.Options.BlockSize)
	size := blockSize
	if src.plain {
		size = int(min(src.size, int64(blockSize))) + 1
	} else if src.named {
		size = int(min(src.likely(), int64(blockSize)))
	}
	kind := record.FASTQ // of an empty input
	if src.isBAM && src.fastq == nil {
		kind, wrapped = record.BAM, true
	} else if n > 0 {
		var ok bool
		if kind, ok = record.KindOf(head[0]); !ok {
			return nil, nil, &RecordError{File: src.path, Record: 1, Expected: "'@' (FASTQ) or '>' (FASTA)", Found: showByte(head[0])}
		}
	}
	if !readings[kind].fourLines {
		wrapped = true
	} else if !wrapped {
		if bad, at := sniff(head, ended); bad != nil {
			strict = &RecordError{File: src.path, Record: at, Expected: bad.expected, Found: bad.found, structural: true}
			wrapped = true
		}
	}
	if wrapped && kind != record.BAM {
		in.spec.Interleaved = false
	}
	in.info = record.Input{Name: inputName(spec.Path, kind), Kind: kind, Mate: spec.Mate, First: spec.First,
		Further: spec.Further, Lead: spec.Lead, Interleaved: in.spec.Interleaved}
	if wrapped && n > 0 {
		c := newRecordCutter(src, kind, blockSize, size, head, ended)
		if in.spec.Interleaved {
			c.each = 2
		}
		if r.Threads > 1 {
			c.parallel(r.pool, r.piecesAhead)
		}
		in.cutter = c
	} else {
		c := &lineCutter{src: src, kind: kind, each: 4, blockSize: blockSize, size: size, left: head, eof: ended}
		if in.spec.Interleaved {
			c.each = 8
		}
		if src.gzip != nil && src.named && !ended {
			more, err := src.startBGZF(n)
			if err != nil {
				return nil, nil, err
			}
			c.left, c.ahead, c.size = append(head, more...), len(more), size+memberSlack
		}
		in.cutter = c
	}
	return in, strict, nil
}

// sniff looks in the first text of an input for a record that does not have four lines. It
// returns what is wrong with that record, and its number.
func sniff(text []byte, ended bool) (*mismatch, uint64) {
	p := parser{text: text, last: ended, quals: true}
	if ended {
		p.text = text[:recordsEnd(text)]
	}
	p.start(0, len(p.text), make([]uint32, 4*newlineRoom))
	var r parsed
	at := 0
	for n := uint64(1); at < len(p.text); n++ {
		if !ended {
			// The last record may be incomplete.
			from, lines := at, 0
			for ; lines < 4; lines++ {
				n := indexNewline(p.text[from:])
				if n < 0 {
					break
				}
				from += n + 1
			}
			if lines < 4 {
				break
			}
		}
		if bad := p.next(at, &r); bad != nil {
			return bad, n
		}
		if checkContent(text[r.seq:][:r.seqLen], text[r.qual:][:r.seqLen]) != nil {
			break // as wrapped FASTQ it would be as wrong
		}
		at = r.end
	}
	return nil, 0
}

// open opens all inputs.
func (r *run) open(ctx context.Context, wrapped []*RecordError) error {
	if err := checkTwice(r.Inputs); err != nil {
		return err
	}
	names := make(map[string]string)
	for i, spec := range r.Inputs {
		if m := spec.Mate; m >= 0 && (m >= len(r.Inputs) || m == i || r.Inputs[m].Mate != i || r.Inputs[m].First == spec.First) {
			return fmt.Errorf("%s: its mate is not the other one of a pair", spec.Path)
		}
		if n := spec.Lead; spec.Further && (spec.Mate >= 0 || n < 0 || n >= len(r.Inputs) || r.Inputs[n].Mate < 0 || !r.Inputs[n].First) {
			return fmt.Errorf("%s: it belongs to an input that has no first mates", spec.Path)
		}
		in, strict, err := r.openInput(ctx, i, wrapped[i] != nil)
		if err != nil {
			return err
		}
		if strict != nil {
			wrapped[i] = strict
		}
		r.inputs = append(r.inputs, in)
		if other, ok := names[in.info.Name]; ok {
			return fmt.Errorf("%s: %s would be restored under the same name, %s", spec.Path, other, in.info.Name)
		}
		names[in.info.Name] = spec.Path
	}
	return nil
}

// checkTwice returns an error for a file that is given twice, before any is opened: a FIFO would wait for another writer. A file of several
// names may be given by each, but not a pipe or FIFO, of which each name would get a part of the text.
func checkTwice(inputs []InputSpec) error {
	first := make(map[string]string)
	var pipes []fs.FileInfo
	var paths []string // of pipes
	for _, in := range inputs {
		if info, err := StatInput(in.Path); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
			same := func(other fs.FileInfo) bool { return os.SameFile(info, other) }
			if k := slices.IndexFunc(pipes, same); k >= 0 && paths[k] != in.Path {
				return fmt.Errorf("%s: this input is given twice: %s is the same file", in.Path, paths[k])
			}
			pipes, paths = append(pipes, info), append(paths, in.Path)
		}
		name := RestoredName(in.Path)
		switch other, ok := first[name]; {
		case !ok:
			first[name] = in.Path
		case other == in.Path:
			return fmt.Errorf("%s: this input is given twice", in.Path)
		case SameFile(other, in.Path):
			return fmt.Errorf("%s: this input is given twice: %s is the same file", in.Path, other)
		}
	}
	return nil
}

// StatInput is os.Stat, also for standard input.
func StatInput(path string) (fs.FileInfo, error) {
	if path == "-" {
		return os.Stdin.Stat()
	}
	return os.Stat(path)
}

// SameFile reports whether two paths lead to one file or directory.
func SameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func (r *run) closeInputs() {
	r.cancel()
	for _, in := range r.inputs {
		if f := in.src.sums; f != nil && f.done != nil {
			<-f.done // it uses the file
		}
		in.src.close()
	}
}
