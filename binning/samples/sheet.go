package samples

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"orcomgo/bins/commit"
	"orcomgo/bins/vfs"
)

// The columns of a sheet; others are ignored.
const (
	sampleColumn = "sample"
	firstColumn  = "fastq_1"
	secondColumn = "fastq_2"
)

// ReadSheet returns the samples of a sheet as the pipelines of nf-core take it: a table with a header, of which the columns sample,
// fastq_1 and fastq_2 are read (fastq_2 is empty or missing for reads without mates). Rows of the same sample are its lanes, in their
// order. Columns are separated by tabs where the header has any, else by commas. Paths are relative to the current directory.
//
// The error names the sheet and the line. It is about the sheet alone: no file that it names is opened.
func ReadSheet(path string) ([]Sample, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, vfs.Cause(err))
	}
	defer f.Close()
	list, err := readSheet(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
}

func readSheet(r io.Reader) ([]Sample, error) {
	in := bufio.NewReader(r)
	if mark, _ := in.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		in.Discard(3) // spreadsheets write it before UTF-8
	}
	table := csv.NewReader(in)
	table.FieldsPerRecord = -1
	if head, _ := in.Peek(in.Size()); bytes.IndexByte(firstLine(head), '\t') >= 0 {
		table.Comma, table.LazyQuotes = '\t', true
	}
	header, err := table.Read()
	if err == io.EOF {
		return nil, errors.New("the sheet is empty, expected a line with the columns sample, fastq_1 and fastq_2")
	}
	if err != nil {
		return nil, csvError(err)
	}
	sample, first, second := slices.Index(header, sampleColumn), slices.Index(header, firstColumn), slices.Index(header, secondColumn)
	if sample < 0 || first < 0 {
		return nil, fmt.Errorf("the first line has the columns %q, expected sample, fastq_1 and, for pairs, fastq_2", header)
	}
	var list []Sample
	for {
		row, err := table.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, csvError(err)
		}
		line, _ := table.FieldPos(0)
		cell := func(i int) string {
			if i < 0 || i >= len(row) {
				return ""
			}
			return strings.TrimSpace(row[i])
		}
		name := cell(sample)
		switch {
		case name == "" || cell(first) == "":
			return nil, fmt.Errorf("line %d: expected a name in the column sample and a file in fastq_1", line)
		case commit.CheckName(name) != nil:
			return nil, fmt.Errorf("line %d: the sample %q can't be the name of an archive", line, name)
		}
		i := slices.IndexFunc(list, func(s Sample) bool { return s.Name == name })
		if i < 0 {
			i = len(list)
			list = append(list, Sample{Name: name})
		}
		list[i].add(cell(first), cell(second))
	}
	if len(list) == 0 {
		return nil, errors.New("the sheet has no samples: there is nothing after its first line")
	}
	return list, nil
}

func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	return line
}

// csvError says in which line a table is malformed.
func csvError(err error) error {
	var at *csv.ParseError
	if errors.As(err, &at) {
		return fmt.Errorf("line %d: %w", at.Line, at.Err)
	}
	return vfs.Cause(err)
}
