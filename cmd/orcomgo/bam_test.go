package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnalignedBAM: files of samtools come back, of single reads and of pairs, and as text what samtools makes of them.
func TestUnalignedBAM(t *testing.T) {
	dir := t.TempDir()
	r1, r2 := simulated(t, dir, 400)
	for name, from := range map[string][]string{"one": {"-0", r1}, "pairs": {"-1", r1, "-2", r2}} {
		file := filepath.Join(dir, name+".bam")
		samtools(t, append([]string{"import", "-r", "ID:x", "-o", file}, from...)...)
		want := []byte(samtools(t, "fastq", file))
		if n := bytes.Count(want, []byte{'\n'}); n < 1600 {
			t.Fatalf("%s: %d lines of samtools", name, n)
		}
		out := filepath.Join(dir, name)
		status, errs := runHere("archive", file, out)
		if status != 0 {
			t.Fatalf("%s: status %d: %s", name, status, errs)
		}
		restored := filepath.Join(dir, "r", name)
		mustRun(t, "unpack", "-q", out, "-o", restored+".bam-dir")
		was, err := os.ReadFile(file)
		is, err2 := os.ReadFile(filepath.Join(restored+".bam-dir", name+".bam"))
		if err != nil || err2 != nil || !bytes.Equal(was, is) {
			t.Errorf("%s: another file came back: %v, %v", name, err, err2)
		}
		mustRun(t, "unpack", "-q", "--text", out, "-o", restored)
		if b, err := os.ReadFile(filepath.Join(restored, name+".fastq")); err != nil || !bytes.Equal(b, want) {
			t.Errorf("%s: restored %d bytes, %v", name, len(b), err)
		}
		mustRun(t, "unpack", "-q", "--records", "3-4", out, "-o", restored)
		third := bytes.Join(bytes.SplitAfterN(want, []byte{'\n'}, 17)[8:16], nil)
		if b, err := os.ReadFile(filepath.Join(restored, name+".3-4.fastq")); err != nil || !bytes.Equal(b, third) {
			t.Errorf("%s: records 3 and 4 are %q, %v", name, b, err)
		}
		if status, text, _ := runOutput("unpack", "-q", out, "-o", "-"); status != 0 || text != string(want) {
			t.Errorf("%s: %d bytes on standard output", name, len(text))
		}
		status, text, _ := runOutput("info", out)
		if status != 0 || !strings.Contains(text, "which comes back as it was") {
			t.Errorf("%s: info: status %d: %s", name, status, text)
		}
		status, errs = runHere("archive", "--quality", "bin8", file, filepath.Join(dir, "less"+name))
		if status != 0 || !strings.Contains(errs, name+".bam: is unaligned BAM, read as FASTQ with these flags: its tags") {
			t.Errorf("%s: fewer qualities: status %d: %s", name, status, errs)
		}
		if status, errs := runHere("archive", file, out); status != 0 || !strings.Contains(errs, "nothing to do") {
			t.Errorf("%s again: status %d: %s", name, status, errs)
		}

		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		const end = 28 // bytes of the block that ends BGZF
		for _, cut := range []int{len(data) - end, len(data) - end - 1} {
			bad := filepath.Join(dir, "cut.bam")
			if err := os.WriteFile(bad, data[:cut], 0o666); err != nil {
				t.Fatal(err)
			}
			if status, errs := runHere("bin", bad, filepath.Join(dir, "cut")); status != 1 || !strings.Contains(errs, "is the file truncated?") {
				t.Errorf("%s, %d of %d bytes: status %d: %s", name, cut, len(data), status, errs)
			}
		}
	}

	sam := filepath.Join(dir, "aligned.sam")
	text := "@SQ\tSN:chr1\tLN:1000\nr\t0\tchr1\t5\t60\t4M\t*\t0\t0\tACGT\tIIII\n"
	if err := os.WriteFile(sam, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	samtools(t, "view", "-b", "-o", filepath.Join(dir, "aligned.bam"), sam)
	status, errs := runHere("archive", filepath.Join(dir, "aligned.bam"), filepath.Join(dir, "aligned"))
	const want = "is BAM of aligned reads (record 1), expected FASTQ or FASTA, which this makes: samtools collate"
	if status != 1 || !strings.Contains(errs, want) {
		t.Errorf("aligned: status %d: %s", status, errs)
	}
}

// bamRecord returns a record of BAM of a read of n bases.
func bamRecord(name string, flags uint16, n int, quality byte, tags string) []byte {
	le := binary.LittleEndian
	b := []byte("\xff\xff\xff\xff\xff\xff\xff\xff")
	b = append(b, byte(len(name)+1), 255, 0x48, 0x12, 0, 0)
	b = le.AppendUint32(le.AppendUint16(b, flags), uint32(n))
	b = append(b, "\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00"+name+"\x00"...)
	for i := range (n + 1) / 2 {
		b = append(b, byte(0x12+i%7*0x11))
	}
	if n%2 == 1 {
		b[len(b)-1] &= 0xf0
	}
	b = append(append(b, bytes.Repeat([]byte{quality}, n)...), tags...)
	return append(le.AppendUint32(nil, uint32(len(b))), b...)
}

// bamText returns inflated BAM of these records.
func bamText(records ...[]byte) []byte {
	header := "@HD\tVN:1.6\tSO:unknown\n@RG\tID:x\n"
	b := binary.LittleEndian.AppendUint32([]byte("BAM\x01"), uint32(len(header)))
	return append(append(append(b, header...), 0, 0, 0, 0), bytes.Join(records, nil)...)
}

// writeGzip writes text compressed to a file.
func writeGzip(t *testing.T, path string, text []byte) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(text)
	z.Close()
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestBAMRecords: BAM with all types of tags, and with odd records, comes back, also from a directory; damaged BAM is refused.
func TestBAMRecords(t *testing.T) {
	dir := t.TempDir()
	array := func(tag string, element byte, n uint32, data string) string {
		return tag + "B" + string(element) + string(binary.LittleEndian.AppendUint32(nil, n)) + data
	}
	numbers := "XAAqXccXXCCxXss12XSS12Xii1234XII1234Xff1234"
	strings3 := "RGZx\x00XEZ\x00XHH1AE3\x00CBZline\nend\x00"
	arrays := array("ip", 'C', 3, "abc") + array("mv", 'c', 2, "\x05\x01") + array("sa", 's', 1, "ab") + array("sx", 'S', 0, "") +
		array("X1", 'i', 1, "abcd") + array("X2", 'I', 2, "abcdefgh") + array("X3", 'f', 1, "\x00\x00\x80\x3f")
	types := []string{"Aq", "c\xff", "C\xff", "s12", "S12", "i1234", "I1234", "f1234", "Z\x00", "Ztext\x00", "H1A\x00", "H\x00"}
	for i, element := range "cCsSiIf" {
		types = append(types, array("", byte(element), 0, ""), array("", byte(element), 2, "12345678"[:2*[]int{1, 1, 2, 2, 4, 4, 4}[i]]))
	}
	var many, mixed []byte // the most tags that the format is asked for, and few of all types
	for i := range 65_535 {
		many = append(append(many, 'A'+byte(i/10%26), '0'+byte(i%10)), types[i%len(types)]...)
		if i < 2*len(types) {
			mixed = many
		}
	}
	headed := func(text, references string, records ...[]byte) []byte {
		b := binary.LittleEndian.AppendUint32([]byte("BAM\x01"), uint32(len(text)))
		return append(append(append(b, text...), references...), bytes.Join(records, nil)...)
	}
	record := bamRecord("r1", 4, 9, 30, numbers+strings3+arrays)
	for name, text := range map[string][]byte{
		"all": bamText(record, bamRecord("r2", 4, 8, 93, arrays+numbers), bamRecord("*", 516, 4, 255, string(mixed)),
			bamRecord("e", 4, 0, 0, "")),
		"many":      bamText(record, bamRecord("m", 4, 3, 3, string(many)), bamRecord("*", 4, 0, 0, string(many[:len(mixed)]))),
		"mate":      bamText(bamRecord("p", 77, 5, 2, "RGZx\x00"), bamRecord("p", 141, 6, 3, "RGZx\x00"), bamRecord("q", 77, 5, 2, "")),
		"none":      bamText(),
		"no @":      headed("", "\x00\x00\x00\x00", record),
		"odd":       headed("@HD\x00\xff\r\n\n@CO", "\x00\x00\x00\x00", record, bamRecord("", 4, 1, 255, "")),
		"reference": headed("@CO\tpadded\n\x00\x00", "\x01\x00\x00\x00\x02\x00\x00\x00c\x00\x05\x00\x00\x00", record),
		"half":      bamText(record, bamRecord("cut", 4, 4, 20, "RGZno end")),
	} {
		file := filepath.Join(dir, name, name+".bam")
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		writeGzip(t, file, text)
		for _, from := range []string{file, filepath.Dir(file)} {
			out, restored := filepath.Join(dir, name+"-out"), filepath.Join(dir, name+"-restored")
			os.RemoveAll(out)
			os.RemoveAll(restored)
			if status, errs := runHere("archive", "-q", from, out); status != 0 {
				t.Fatalf("%s: status %d: %s", from, status, errs)
			}
			mustRun(t, "verify", "-q", out)
			mustRun(t, "unpack", "-q", out, "-o", restored)
			if got := inflated(t, filepath.Join(restored, name+".bam")); !bytes.Equal(got, text) {
				t.Errorf("%s: came back as %q", from, got)
			}
		}
	}
	whole := bamText(record, record)
	header := len(bamText())
	long := bytes.Clone(whole)
	long[header] += 200
	for name, c := range map[string]struct {
		text []byte
		want string
	}{
		"cut":    {whole[:len(whole)-1], "is the file truncated"},
		"header": {whole[:20], "is the file truncated"},
		"short":  {append(bytes.Clone(whole), 3, 0, 0, 0, 1, 2, 3), "the BAM data is damaged: record 3 is too short"},
		"long":   {long, "is the file truncated"},
		"high":   {bamText(record, bamRecord("h", 4, 4, 94, "")), "the BAM data is damaged: record 2 has qualities above 93"},
		"line":   {bamText(bamRecord("a\nb", 4, 4, 30, "")), "the BAM data is damaged: record 1 has no valid name"},
		"place":  {bamText(record, bamRecord("a", 0, 4, 30, "")), "is BAM of aligned reads (record 2)"},
	} {
		file := filepath.Join(dir, name+".bam")
		writeGzip(t, file, c.text)
		status, errs := runHere("archive", file, filepath.Join(dir, name+"-bad"))
		if status != 1 || !strings.Contains(errs, c.want) {
			t.Errorf("%s: status %d: %s", name, status, errs)
		}
	}
}

// TestSamtoolsBAM: what samtools makes of SAM comes back, and is the very file, from all its levels and without compression. Damage of BGZF
// is told, or comes back as it was.
func TestSamtoolsBAM(t *testing.T) {
	dir := t.TempDir()
	line := func(name string, flags int, seq, quals string, tags ...string) string {
		return strings.Join(append([]string{name, fmt.Sprint(flags), "*\t0\t0\t*\t*\t0\t0", seq, quals}, tags...), "\t") + "\n"
	}
	head, all := "@HD\tVN:1.6\tSO:unknown\n", []string{"XA:A:q", "Xc:i:-3", "XC:i:200", "Xs:i:-3000", "XS:i:60000", "Xi:i:-100000",
		"XI:i:4000000000", "Xf:f:1.5", "XZ:Z:a text", "YZ:Z:", "XH:H:1AE3"}
	for _, element := range "cCsSiIf" {
		all = append(all, fmt.Sprintf("A%c:B:%c,1,2,3", element, element), fmt.Sprintf("E%c:B:%c", element, element))
	}
	for name, text := range map[string]string{
		"types":     head + line("a", 4, "ACGTN", "IIIII", all...) + line("b", 4, "ACG", "III"),
		"reads":     head,
		"qualities": head + line("a", 4, "ACGTN", "*", all...) + line("b", 4, "ACG", "III") + line("c", 4, "A", "*"),
		"names":     head + line("*", 4, "ACGTN", "IIIII") + line(strings.Repeat("n", 254), 4, "A", "I"),
		"sequences": head + line("a", 4, "*", "*", all...) + line("b", 516, "ACG", "III") + line("c", 4, "*", "*"),
		"header":    "@CO\tno @HD\n" + line("a", 4, "ACGTN", "IIIII"),
		"references": head + "@SQ\tSN:chr1\tLN:1000\n@CO\t\u00fcn\u00ef\n" + line("p", 77, "=ACMGRSVTWYHKDBN", strings.Repeat("~", 16)) +
			line("p", 141, "A", "!") + line("s", 1037, "A", "5"),
	} {
		sam := filepath.Join(dir, "x.sam")
		if err := os.WriteFile(sam, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		in, out, restored := filepath.Join(dir, name), filepath.Join(dir, name+"-out"), filepath.Join(dir, name+"-restored")
		if err := os.Mkdir(in, 0o777); err != nil {
			t.Fatal(err)
		}
		for _, level := range []string{"0", "1", "6", "9"} {
			samtools(t, "view", "-O", "bam,level="+level, "-o", filepath.Join(in, level+".bam"), sam)
		}
		mustRun(t, "archive", "-q", in, out)
		mustRun(t, "unpack", "-q", out, "-o", restored)
		for _, level := range []string{"0", "1", "6", "9"} {
			was, err := os.ReadFile(filepath.Join(in, level+".bam"))
			is, err2 := os.ReadFile(filepath.Join(restored, level+".bam"))
			if err != nil || err2 != nil || !bytes.Equal(was, is) {
				t.Errorf("%s, level %s: another file came back: %v, %v", name, level, err, err2)
			}
		}
	}

	whole, err := os.ReadFile(filepath.Join(dir, "types", "6.bam"))
	if err != nil {
		t.Fatal(err)
	}
	changed := func(at int, by byte) []byte {
		b := bytes.Clone(whole)
		b[at] ^= by
		return b
	}
	end := whole[len(whole)-28:]
	for name, c := range map[string]struct {
		data []byte
		want string // "": comes back
	}{
		"end":     {whole[:len(whole)-28], "the bgzip end-of-file block is missing: is the file truncated?"},
		"cut":     {whole[:len(whole)/2], "is the file truncated?"},
		"data":    {changed(60, 4), "the gzip data is damaged"},
		"sum":     {changed(len(whole)-28-8, 1), "the gzip data is damaged: the checksum differs"},
		"after":   {append(bytes.Clone(whole), "more"...), "trailing garbage after the gzip data"},
		"long":    {changed(16, 0x70), ""}, // the size of a block, which gzip does not read
		"two":     {append(bytes.Clone(whole), end...), ""},
		"between": {append(bytes.Clone(end), whole...), ""},
	} {
		file, out, restored := filepath.Join(dir, name+".bam"), filepath.Join(dir, name+"-bad"), filepath.Join(dir, "bad")
		if err := os.WriteFile(file, c.data, 0o666); err != nil {
			t.Fatal(err)
		}
		if c.want != "" {
			if status, errs := runHere("archive", file, out); status != 1 || !strings.Contains(errs, c.want) {
				t.Errorf("%s: status %d: %s", name, status, errs)
			}
			continue
		}
		mustRun(t, "archive", "-q", file, out)
		mustRun(t, "unpack", "-q", out, "-o", restored)
		if got, err := os.ReadFile(filepath.Join(restored, name+".bam")); err != nil || !bytes.Equal(got, c.data) {
			t.Errorf("%s: another file came back: %v", name, err)
		}
	}
}
