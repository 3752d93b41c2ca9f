package searching

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"

	"orcomgo/compress/scan"
)

// MinQuery is the least number of bases of a query.
const MinQuery = 12

// FindQuery is a sequence to be found.
type FindQuery struct {
	Name  string
	Bases []byte // 0 to 3
}

// ParseQuery returns the query of a text of A, C, G and T in either case. The error says what else is in it.
func ParseQuery(name, text string) (FindQuery, error) {
	q := FindQuery{Name: name, Bases: make([]byte, len(text))}
	for i := range len(text) {
		c, ok := scan.Code(text[i])
		if !ok {
			return q, fmt.Errorf("query %s: %q at base %d: only A, C, G and T can be searched", name, text[i], i+1)
		}
		q.Bases[i] = c
	}
	if len(text) < MinQuery {
		return q, fmt.Errorf("query %s has %d bases: expected at least %d", name, len(text), MinQuery)
	}
	return q, nil
}

// ReadQueries reads queries from FASTA, plain or compressed with gzip; file is its name for errors. A name ends at the first space; a
// sequence may have several lines.
func ReadQueries(r io.Reader, file string) ([]FindQuery, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	if head, _ := in.Peek(2); bytes.Equal(head, []byte("\x1f\x8b")) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		in = bufio.NewReaderSize(z, 1<<16)
	}
	var all []FindQuery
	var bases strings.Builder
	name, line, started := "", 0, 0
	end := func() error {
		if started == 0 {
			return nil
		}
		q, err := ParseQuery(name, bases.String())
		if err != nil {
			return fmt.Errorf("%s: record %d: %w", file, len(all)+1, err)
		}
		all = append(all, q)
		bases.Reset()
		return nil
	}
	for {
		text, err := in.ReadString('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		line++
		text = strings.TrimRight(text, "\r\n \t")
		switch {
		case strings.HasPrefix(text, ">"):
			if err := end(); err != nil {
				return nil, err
			}
			started, name = line, strings.TrimPrefix(text, ">")
			if fields := strings.Fields(name); len(fields) > 0 {
				name = fields[0]
			}
		case text != "" && started == 0:
			return nil, fmt.Errorf("%s: line %d: expected > and a name, as FASTA begins, not %.20q", file, line, text)
		default:
			bases.WriteString(text)
		}
		if err == io.EOF {
			break
		}
	}
	if err := end(); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: there is no record of FASTA in it", file)
	}
	return all, nil
}
