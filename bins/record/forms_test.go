package record

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"orcomgo/bins/parse"
)

var forms = []Forms{
	{},
	{Default: Form{CR: 15, Plus: PlusName}},
	{Default: Form{SeqWidth: 60, Tail: "\n"}, Exceptions: []FormException{
		{3, &Form{SeqWidth: 61, QualWidth: math.MaxUint32}},
		{4, &Form{SeqLines: []uint32{}, QualLines: []uint32{0, 9, 1 << 31}, NoNewline: true}},
		{90, &Form{Plus: PlusText, PlusText: "a\x00b", CR: 5}},
		{99, &Form{Plus: PlusText, Tail: "\n\r\n\n"}},
	}},
}

func TestFormsRoundTrip(t *testing.T) {
	for i := range forms {
		data := MarshalForms(nil, &forms[i])
		got, err := UnmarshalForms(data, 100)
		if err != nil || !reflect.DeepEqual(got, forms[i]) {
			t.Errorf("form %d: got %+v (%v)", i, got, err)
		}
		if (len(data) == 0) != forms[i].IsDefault() {
			t.Errorf("form %d takes %d bytes", i, len(data))
		}
		if len(forms[i].Exceptions) > 0 {
			if _, err := UnmarshalForms(data, 99); !errors.Is(err, parse.ErrCorrupt) {
				t.Errorf("form %d with a record too many: %v", i, err)
			}
		}
	}
	part := forms[2].Slice(4, 91)
	if len(part.Exceptions) != 2 || part.Exceptions[0].Read != 0 || part.Exceptions[1].Read != 86 || part.Default.SeqWidth != 60 {
		t.Errorf("Slice: %+v", part)
	}
	if l := forms[2].Of(90); l.PlusText != "a\x00b" {
		t.Errorf("Of: %+v", l)
	}
}

func FuzzForms(f *testing.F) {
	for i := range forms {
		f.Add(MarshalForms(nil, &forms[i]), 100)
	}
	f.Add(MarshalForms(nil, &Forms{Default: BAMForm, Fields: []string{"ab", ""}}), 2)
	f.Add(MarshalForms(nil, &Forms{Default: BAMForm}), 1<<32-1)
	f.Fuzz(func(t *testing.T, data []byte, records int) {
		l, err := UnmarshalForms(data, records&(1<<32-1))
		if err != nil {
			return
		}
		again, err := UnmarshalForms(MarshalForms(nil, &l), records&(1<<32-1))
		if err != nil || !reflect.DeepEqual(l, again) {
			t.Errorf("%+v became %+v (%v)", l, again, err)
		}
	})
}

func TestAppendRecord(t *testing.T) {
	for _, tt := range []struct {
		want string
		kind Kind
		l    Form
	}{
		{"@n\nACGTA\n+\nIJKLM\n", FASTQ, Form{}},
		{"@n\r\nACGTA\r\n+\r\nIJKLM\r\n", FASTQ, Form{CR: 15}},
		{"@n\nACGTA\n+n\nIJKLM", FASTQ, Form{Plus: PlusName, NoNewline: true}},
		{"@n\nAC\nGT\nA\n+x\nIJKL\nM\n\n", FASTQ, Form{Plus: PlusText, PlusText: "x", SeqWidth: 2, QualWidth: 4, Tail: "\n"}},
		{"@n\n\nACGTA\r\n+\nIJKLM\r\n\n", FASTQ, Form{SeqLines: []uint32{0, 11}, QualLines: []uint32{11, 0}}},
		{">n\nACGTA\n", FASTA, Form{}},
		{">n\nACGT\nA\n", FASTA, Form{SeqWidth: 4}},
	} {
		got, err := AppendRecord(nil, tt.kind, []byte("n"), []byte("ACGTA"), []byte("IJKLM"), &tt.l)
		if err != nil || string(got) != tt.want {
			t.Errorf("%+v: got %q (%v), want %q", tt.l, got, err, tt.want)
		}
	}
	for _, l := range []Form{{SeqLines: []uint32{4}}, {SeqLines: []uint32{12}}, {QualLines: []uint32{}}} {
		if got, err := AppendRecord(nil, FASTQ, []byte("n"), []byte("ACGTA"), []byte("IJKLM"), &l); !errors.Is(err, parse.ErrCorrupt) {
			t.Errorf("%+v: got %q (%v)", l, got, err)
		}
	}
}
