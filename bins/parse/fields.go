package parse

import "encoding/binary"

// Fields codes the fields of a format in either direction, so that one function says what they are: each method reads a field into the
// variable that it is given, or appends what that holds. A variable must not be of a structure that others read meanwhile.
type Fields struct {
	In  *Cursor // that fields are taken from; nil: they are appended to Out
	Out []byte
}

// Reading reports whether fields are read, and nothing failed.
func (f *Fields) Reading() bool { return f.In != nil && !f.In.Failed() }

// Fail says that what was read is wrong. It does nothing where fields are appended.
func (f *Fields) Fail(format string, args ...any) {
	if f.In != nil {
		f.In.Fail(format, args...)
	}
}

// Number codes a number, as Cursor.Uvarint, that is at most limit.
func Number[T ~int | ~int64 | ~uint32 | ~uint64](f *Fields, v *T, limit uint64) {
	if f.In != nil {
		*v = T(f.In.AtMost(limit))
	} else {
		f.Out = binary.AppendUvarint(f.Out, uint64(*v))
	}
}

// Varint codes a signed number, as Cursor.Varint.
func (f *Fields) Varint(v *int64, limit int64) {
	if f.In != nil {
		*v = f.In.Varint(limit)
	} else {
		f.Out = binary.AppendVarint(f.Out, *v)
	}
}

// Byte codes a byte that is at most limit.
func Byte[T ~uint8](f *Fields, v *T, limit T) {
	if f.In != nil {
		*v = T(f.In.ByteAtMost(byte(limit)))
	} else {
		f.Out = append(f.Out, byte(*v))
	}
}

// Bytes codes bytes of a fixed number.
func (f *Fields) Bytes(v []byte) {
	if f.In != nil {
		f.In.Copy(v)
	} else {
		f.Out = append(f.Out, v...)
	}
}

// Uint64 codes a number of eight bytes, as Cursor.Uint64.
func (f *Fields) Uint64(v *uint64) {
	if f.In != nil {
		*v = f.In.Uint64()
	} else {
		f.Out = binary.LittleEndian.AppendUint64(f.Out, *v)
	}
}

// Text codes a text after its length.
func (f *Fields) Text(v *string) {
	if f.In != nil {
		*v = f.In.Text()
	} else {
		f.Out = AppendBlock(f.Out, *v)
	}
}

// Flags codes, as Number, the sum of 1, 2, 4 and so on for those that are set.
func (f *Fields) Flags(list ...*bool) {
	sum := uint64(0)
	for i, set := range list {
		if *set {
			sum |= 1 << i
		}
	}
	Number(f, &sum, 1<<len(list)-1)
	for i, set := range list {
		if f.In != nil {
			*set = sum>>i&1 != 0
		}
	}
}

// List codes how many elements there are, called what and of at least size bytes each, and the elements.
func List[T any](f *Fields, l *[]T, size int, what string, element func(v *T)) {
	if f.In != nil {
		*l = make([]T, f.In.Count(size, what))
	} else {
		f.Out = binary.AppendUvarint(f.Out, uint64(len(*l)))
	}
	for i := range *l {
		if element(&(*l)[i]); f.In != nil && f.In.Failed() {
			return
		}
	}
}
