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
	groupColumn  = "group" // of a table of groups
)

// ReadSheet returns the samples of a sheet as the pipelines of nf-core take it: a table with a header, of which the columns sample,
// fastq_1 and fastq_2 are read (fastq_2 is empty or missing for reads without mates). Rows of the same sample are its lanes, in their
// order. Columns are separated by tabs where the header has any, else by commas. Paths are relative to the current directory.
//
// The error names the sheet and the line. It is about the sheet alone: no file that it names is opened.
func ReadSheet(path string) ([]Sample, error) { return readTable(path, readSheet) }

// readTable calls read for the content of a file. Errors name the file.
func readTable[T any](path string, read func(in io.Reader) (T, error)) (content T, err error) {
	f, err := os.Open(path)
	if err != nil {
		return content, fmt.Errorf("%s: %w", path, vfs.Cause(err))
	}
	defer f.Close()
	if content, err = read(f); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return content, err
}

func readSheet(r io.Reader) ([]Sample, error) {
	t, err := openTable(r, "sample, fastq_1 and fastq_2")
	if err != nil {
		return nil, err
	}
	if !t.has(sampleColumn) || !t.has(firstColumn) {
		return nil, fmt.Errorf("the first line has the columns %q, expected sample, fastq_1 and, for pairs, fastq_2", t.header)
	}
	var list []Sample
	err = t.rows(func(cell func(column string) string) error {
		name, first := cell(sampleColumn), cell(firstColumn)
		switch {
		case name == "" || first == "":
			return errors.New("expected a name in the column sample and a file in fastq_1")
		case commit.CheckName(name) != nil:
			return fmt.Errorf("the sample %q can't be the name of an archive", name)
		}
		i := slices.IndexFunc(list, func(s Sample) bool { return s.Name == name })
		if i < 0 {
			i = len(list)
			list = append(list, Sample{Name: name})
		}
		list[i].add(first, cell(secondColumn))
		return nil
	})
	if err == nil && len(list) == 0 {
		err = errors.New("the sheet has no samples: there is nothing after its first line")
	}
	return list, err
}

// ReadGroups returns the groups of samples that a table has in the columns sample and group, by the samples' names. A sample without a
// group is left out. Columns are separated as those of a sheet. The error names the table and the line.
func ReadGroups(path string) (map[string]string, error) { return readTable(path, readGroups) }

func readGroups(r io.Reader) (map[string]string, error) {
	t, err := openTable(r, "sample and group")
	if err != nil {
		return nil, err
	}
	if !t.has(sampleColumn) || !t.has(groupColumn) {
		return nil, fmt.Errorf("the first line has the columns %q, expected sample and group", t.header)
	}
	groups := make(map[string]string)
	return groups, t.rows(func(cell func(column string) string) error {
		name, group := cell(sampleColumn), cell(groupColumn)
		before, twice := groups[name]
		switch {
		case name == "":
			return errors.New("expected a name in the column sample")
		case group != "" && commit.CheckName(group) != nil:
			return fmt.Errorf("the group %q can't be the name of an archive", group)
		case twice && before != group:
			return fmt.Errorf("the sample %q is in two groups", name)
		}
		groups[name] = group
		return nil
	})
}

// table is a table with a header.
type table struct {
	csv    *csv.Reader
	header []string
}

// openTable reads the header of a table. expected says for messages which columns it should have.
func openTable(r io.Reader, expected string) (*table, error) {
	in := bufio.NewReader(r)
	if mark, _ := in.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		in.Discard(3) // spreadsheets write it before UTF-8
	}
	t := &table{csv: csv.NewReader(in)}
	t.csv.FieldsPerRecord = -1
	head, _ := in.Peek(in.Size())
	if first, _, _ := bytes.Cut(head, []byte{'\n'}); bytes.IndexByte(first, '\t') >= 0 {
		t.csv.Comma, t.csv.LazyQuotes = '\t', true
	}
	var err error
	t.header, err = t.csv.Read()
	if err == io.EOF {
		return nil, fmt.Errorf("the sheet is empty, expected a line with the columns %s", expected)
	}
	if err != nil {
		return nil, csvError(err)
	}
	return t, nil
}

// has reports whether the table has a column.
func (t *table) has(column string) bool { return slices.Contains(t.header, column) }

// rows calls f for each row, with its text in a column, "" if it has none there. Errors of f get the number of the line.
func (t *table) rows(f func(cell func(column string) string) error) error {
	for {
		row, err := t.csv.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return csvError(err)
		}
		err = f(func(column string) string {
			i := slices.Index(t.header, column)
			if i < 0 || i >= len(row) {
				return ""
			}
			return strings.TrimSpace(row[i])
		})
		if err != nil {
			line, _ := t.csv.FieldPos(0)
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// csvError says in which line a table is malformed.
func csvError(err error) error {
	var at *csv.ParseError
	if errors.As(err, &at) {
		return fmt.Errorf("line %d: %w", at.Line, at.Err)
	}
	return vfs.Cause(err)
}
