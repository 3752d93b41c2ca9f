package report

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Limits of what is kept about names. Beyond them a figure says that there is more.
const (
	maxForms  = 16   // forms that are described
	maxFields = 24   // of a name; the last one takes the rest
	maxValues = 1000 // different values of a field that are counted
	maxSpelt  = 40   // bytes of a value; longer ones are cut
)

// separators divide names into fields.
const separators = ":/ \t_.|=#"

var isSeparator = func() (t [256]bool) {
	for _, c := range separators {
		t[c] = true
	}
	return t
}()

// nameCounts counts the fields of names, by their form: the separators between the fields.
type nameCounts struct {
	forms map[string]*formCounts
	more  bool // there are more than maxForms
	key   []byte
	parts [maxFields][]byte
}

type formCounts struct {
	records uint64
	fields  []fieldCounts
}

// fieldCounts are the values of a field.
type fieldCounts struct {
	values   map[string]uint64 // how often each occurs; nil once there are too many
	many     bool
	numbers  bool // all are numbers of at most 18 digits
	min, max uint64
}

// cut divides a name into n.parts and sets n.key to the separators between them, each after one more field.
func (n *nameCounts) cut(name []byte) (fields int) {
	n.key = n.key[:0]
	from := 0
	for i, c := range name {
		if isSeparator[c] && fields < maxFields-1 {
			n.parts[fields] = name[from:i]
			fields++
			from = i + 1
			n.key = append(n.key, c)
		}
	}
	n.parts[fields] = name[from:]
	return fields + 1
}

func (n *nameCounts) add(name []byte) {
	fields := n.cut(name)
	f := n.forms[string(n.key)]
	if f == nil {
		if f = n.form(string(n.key), fields); f == nil {
			return
		}
	}
	f.records++
	for i := range f.fields {
		f.fields[i].add(n.parts[i])
	}
}

// form returns a form that may be new, or nil if there are too many.
func (n *nameCounts) form(key string, fields int) *formCounts {
	if f := n.forms[key]; f != nil || n.more {
		return f
	}
	if len(n.forms) == maxForms {
		n.forms, n.more = nil, true
		return nil
	}
	if n.forms == nil {
		n.forms = make(map[string]*formCounts)
	}
	f := &formCounts{fields: make([]fieldCounts, fields)}
	for i := range f.fields {
		f.fields[i].numbers = true
		f.fields[i].min = ^uint64(0)
	}
	n.forms[key] = f
	return f
}

func (f *fieldCounts) add(value []byte) {
	if f.numbers {
		if v, ok := number(value); ok {
			f.min, f.max = min(f.min, v), max(f.max, v)
		} else {
			f.numbers = false
		}
	}
	if f.many {
		return
	}
	if len(value) > maxSpelt {
		value = value[:maxSpelt]
	}
	f.count(string(value), 1)
}

// number returns the value of 1 to 18 digits.
func number(b []byte) (v uint64, ok bool) {
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = 10*v + uint64(c-'0')
	}
	return v, true
}

// count notes that a value occurs n more times.
func (f *fieldCounts) count(value string, n uint64) {
	if f.many {
		return
	}
	if f.values == nil {
		f.values = make(map[string]uint64)
	}
	f.values[value] += n
	if len(f.values) > maxValues {
		f.values, f.many = nil, true
	}
}

func (n *nameCounts) merge(d *nameCounts) {
	if d.more {
		n.forms, n.more = nil, true
	}
	for key, g := range d.forms {
		f := n.form(key, len(g.fields))
		if f == nil {
			return
		}
		f.records += g.records
		for i := range f.fields {
			f.fields[i].merge(&g.fields[i])
		}
	}
}

func (f *fieldCounts) merge(g *fieldCounts) {
	f.numbers = f.numbers && g.numbers
	f.min, f.max = min(f.min, g.min), max(f.max, g.max)
	if g.many {
		f.values, f.many = nil, true
	}
	for v, n := range g.values {
		f.count(v, n)
	}
}

// NameForm describes the names that have the same separators between their fields.
type NameForm struct {
	Records uint64      `json:"records"`
	Pattern string      `json:"pattern"` // fields as {1}, {2} and so on, and the separators between them
	Fields  []NameField `json:"fields"`
}

// NameField describes a field of names.
type NameField struct {
	Number int    `json:"number"`          // counted from 1
	Label  string `json:"label,omitempty"` // what it is, in names as sequencers of Illumina write them
	Kind   string `json:"kind"`            // "constant", "number" or "text"
	Min    uint64 `json:"min"`             // of numbers
	Max    uint64 `json:"max"`
	Values int    `json:"values"`        // how many different ones there are; 0: more than MoreThan
	More   int    `json:"more_than"`     // 0, or how many different values there are at least, less one
	Cut    bool   `json:"cut,omitempty"` // a value was cut after 40 bytes, so that different ones may count as one
	// Common are the most frequent values, most frequent first, 5 at most.
	Common []NameValue `json:"common,omitempty"`
}

// NameValue is a value of a field.
type NameValue struct {
	Value   string `json:"value"`
	Records uint64 `json:"records"`
}

// result returns the forms, the most frequent one first; nil if there are no names or too many forms.
func (n *nameCounts) result() (forms []NameForm) {
	for key, f := range n.forms {
		form := NameForm{Records: f.records}
		var pattern strings.Builder
		labels := illuminaLabels(key)
		for i := range f.fields {
			pattern.WriteString("{" + strconv.Itoa(i+1) + "}")
			if i < len(key) {
				pattern.WriteByte(key[i])
			}
			field := f.fields[i].result()
			field.Number, field.Label = i+1, labels[i]
			form.Fields = append(form.Fields, field)
		}
		form.Pattern = pattern.String()
		forms = append(forms, form)
	}
	slices.SortFunc(forms, func(a, b NameForm) int {
		return cmp.Or(cmp.Compare(b.Records, a.Records), strings.Compare(a.Pattern, b.Pattern))
	})
	return forms
}

func (f *fieldCounts) result() NameField {
	r := NameField{Kind: "text", Values: len(f.values)}
	switch {
	case f.many:
		r.More = maxValues
	case len(f.values) == 1:
		r.Kind = "constant"
	}
	if f.numbers {
		r.Min, r.Max = f.min, f.max
		if r.Kind == "text" {
			r.Kind = "number"
		}
	}
	for _, v := range slices.SortedFunc(maps.Keys(f.values), func(a, b string) int {
		return cmp.Or(cmp.Compare(f.values[b], f.values[a]), strings.Compare(a, b))
	}) {
		r.Cut = r.Cut || len(v) == maxSpelt
		if len(r.Common) < 5 {
			r.Common = append(r.Common, NameValue{v, f.values[v]})
		}
	}
	return r
}

// illuminaLabels returns what the fields of a form are, by the separators between them: instrument:run:flow cell:lane:tile:x:y, then
// for newer software read:filtered:control:index after a space. Fields before the first of six colons in a row are not described.
func illuminaLabels(key string) (labels [maxFields]string) {
	at := strings.Index(key, "::::::")
	if at < 0 {
		return labels
	}
	copy(labels[at:], []string{"instrument", "run", "flow cell", "lane", "tile", "x", "y"})
	if strings.HasPrefix(key[at+6:], " :::") {
		copy(labels[at+7:], []string{"read", "filtered", "control", "index"})
	}
	return labels
}
