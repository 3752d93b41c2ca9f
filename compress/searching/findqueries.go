package searching

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"

	"orcomgo/compress/scan"
)

// MinQuery is the least number of bases of a query.
const MinQuery = 12

// maxVariants is how many sequences the letters of a query may stand for.
const maxVariants = 1024

// FindQuery is a sequence to be found, or several: what is found of any of them is found of the query.
type FindQuery struct {
	Name     string
	Variants [][]byte // of bases, 0 to 3
}

// meanings are the letters of IUPAC that stand for several bases, and U.
var meanings = map[byte]string{'U': "T", 'R': "AG", 'Y': "CT", 'S': "CG", 'W': "AT", 'K': "GT", 'M': "AC",
	'B': "CGT", 'D': "AGT", 'H': "ACT", 'V': "ACG", 'N': "ACGT"}

// ParseQuery returns the query of a text of bases in either case, which may have letters of IUPAC for several bases. The error says what
// else is in it.
func ParseQuery(name, text string) (FindQuery, error) {
	variants := [][]byte{{}}
	for i, letter := range []byte(text) {
		any, ok := meanings[letter&^0x20] // in upper case
		if !ok {
			any = string(letter)
		}
		if _, ok := scan.Code(any[0]); !ok {
			return FindQuery{}, fmt.Errorf("query %s: %q at base %d: expected the letters of bases", name, letter, i+1)
		}
		if len(variants)*len(any) > maxVariants {
			return FindQuery{}, fmt.Errorf("query %s: its letters stand for more than %d sequences", name, maxVariants)
		}
		for k, v := range variants {
			for _, base := range []byte(any[1:]) {
				c, _ := scan.Code(base)
				variants = append(variants, append(slices.Clone(v), c))
			}
			c, _ := scan.Code(any[0])
			variants[k] = append(v, c)
		}
	}
	if len(text) < MinQuery {
		return FindQuery{}, fmt.Errorf("query %s has %d bases: expected at least %d", name, len(text), MinQuery)
	}
	return FindQuery{name, variants}, nil
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
