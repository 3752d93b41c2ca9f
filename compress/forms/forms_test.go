package forms

import (
	"bytes"
	"fmt"
	"orcomgo/bins/record"
	"testing"
)

func TestFormsColumn(t *testing.T) {
	many := record.Forms{Default: record.Form{Plus: record.PlusText, PlusText: "d"}}
	for i := range uint32(1000) {
		form := record.Form{Plus: record.PlusText, PlusText: fmt.Sprintf("x.%d", i)}
		many.Exceptions = append(many.Exceptions, record.FormException{Read: i, Form: &form})
	}
	cases := map[string]record.Forms{
		"plain":   {},
		"CRLF":    {Default: record.Form{CR: 15}},
		"no end":  {Exceptions: []record.FormException{{Read: 999, Form: &record.Form{NoNewline: true}}}},
		"wrapped": {Default: record.Form{SeqWidth: 60, QualWidth: 60}},
		"lines": {Exceptions: []record.FormException{{Read: 3, Form: &record.Form{SeqLines: []uint32{6, 0, 9}, QualLines: []uint32{}}},
			{Read: 4, Form: &record.Form{Tail: "\n\r\n"}}}},
		"texts": many,
	}
	for name, l := range cases {
		data := Encode(&l, nil)
		if (name == "plain") != (len(data) == 0) {
			t.Errorf("%s: %d bytes", name, len(data))
		}
		got, err := Decode(data, 1000, nil, 1<<30)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.Equal(record.MarshalForms(nil, &got), record.MarshalForms(nil, &l)) {
			t.Errorf("%s: came back as %+v", name, got)
		}
	}
	if n := len(Encode(&many, nil)); n > 400 {
		t.Errorf("1000 numbered texts take %d bytes", n)
	}
}

func FuzzDecodeForms(f *testing.F) {
	f.Add([]byte(nil), 10)
	for _, l := range []record.Forms{
		{Default: record.Form{Plus: record.PlusText, PlusText: "x"}},
		{Default: record.Form{CR: 15, SeqWidth: 60, QualLines: []uint32{1, 2}},
			Exceptions: []record.FormException{{Read: 2, Form: &record.Form{Plus: record.PlusText, PlusText: "abc"}}}},
	} {
		f.Add(Encode(&l, nil), 10)
	}
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		if n < 0 || n > 1<<20 {
			return
		}
		l, err := Decode(data, n, nil, 1<<30)
		if err != nil {
			return
		}
		again, err := Decode(Encode(&l, nil), n, nil, 1<<30)
		if err != nil || !bytes.Equal(record.MarshalForms(nil, &again), record.MarshalForms(nil, &l)) {
			t.Fatalf("written again: %v", err)
		}
	})
}
