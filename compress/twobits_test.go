package compress

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"orcomgo/bins/commit"
	"orcomgo/bins/record"
	"orcomgo/compress/archive"
	"orcomgo/internal/testrun"
)

// randomAssembly returns FASTA of sequences that share stretches, in lines of width letters: so that it is coded in two bits a base.
func randomAssembly(r *rand.Rand, records, width int) string {
	var b strings.Builder
	longest := min(3000, 300_000/records)
	genome := randomBases(r, 20000)
	for i := range records {
		n := r.Intn(longest)
		at := r.Intn(len(genome) - n)
		letters := []byte(genome[at : at+n])
		for range r.Intn(4) {
			at := r.Intn(n + 1)
			run := letters[at : at+r.Intn(n-at+1)]
			switch r.Intn(4) {
			case 0:
				copy(run, bytes.ToLower(run))
			case 1:
				copy(run, bytes.Repeat([]byte("N"), len(run)))
			case 2:
				if len(run) > 0 {
					run[0] = "RYKMn-"[r.Intn(6)]
				}
			}
		}
		fmt.Fprintf(&b, ">NODE_%d_length_%d\n", i+1, n)
		for len(letters) > 0 {
			k := min(width, len(letters))
			b.Write(letters[:k])
			b.WriteString("\n")
			letters = letters[k:]
		}
	}
	return b.String()
}

// oddAssemblies returns FASTA whose text is unusual. All have a sequence that makes them assemblies.
func oddAssemblies() map[string]string {
	r := rand.New(rand.NewSource(11))
	plain := randomAssembly(r, 8, 60) + ">long\n" + wrap(randomBases(r, 1000), 60)
	return map[string]string{
		"lines of 60":          plain,
		"lines of 1":           randomAssembly(r, 2, 1) + ">long\n" + wrap(randomBases(r, 1000), 1),
		"CR LF":                strings.ReplaceAll(plain, "\n", "\r\n"),
		"some CR LF":           strings.Replace(plain, "\n", "\r\n", 7),
		"no final newline":     strings.TrimSuffix(plain, "\n"),
		"blank lines":          plain + "\n\n\r\n",
		"blank lines within":   strings.Replace(plain, "\n", "\n\n", 9),
		"lines of all lengths": ">a\nAC\nGGG\n\nT\n>b\n" + wrap(randomBases(r, 800), 70) + wrap(randomBases(r, 90), 11) + ">c\nACGT\nAC\nACGT\n",
		"empty records":        ">\n>a\n\n>b\n>\n\n" + plain + ">last\n",
		"empty names":          strings.ReplaceAll(plain, "NODE", ""),
		"lower case":           strings.ToLower(plain),
		"all N":                ">n\n" + wrap(strings.Repeat("N", 5000), 80),
		"one line of 1 MB":     ">x\n" + randomBases(r, 1<<20) + "\n>y\nACGT\n",
		"IUPAC":                ">x\n" + wrap(strings.Repeat("ACGTRYKMSWBDHVNacgtrykmn.-*", 50), 50),
		"many names":           plain + randomAssembly(r, 1536, 60),
	}
}

// wrap returns letters in lines.
func wrap(letters string, width int) string {
	var b strings.Builder
	for len(letters) > 0 {
		n := min(width, len(letters))
		b.WriteString(letters[:n] + "\n")
		letters = letters[n:]
	}
	return b.String()
}

// isTwoBit reports whether an input of an archive is in two bits a base.
func isTwoBit(t *testing.T, dir string, input int) bool {
	t.Helper()
	r, err := archive.OpenEntry(entryOf(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return r.Manifest().Inputs[input].TwoBit
}

func TestOddAssemblies(t *testing.T) {
	for name, text := range oddAssemblies() {
		t.Run(name, func(t *testing.T) {
			if testrun.Short() && name != "many names" {
				t.Skip("the threads do the same for the others")
			}
			t.Parallel()
			ins := []input{{name: "x.fa", text: text, mate: -1}}
			dir := binTo(t, ins, record.Options{})
			packTo(t, dir, PackOptions{Threads: 2, TwoBit: true})
			if !isTwoBit(t, dir, 0) {
				t.Fatal("it is not in two bits a base")
			}
			sameFiles(t, unpackAll(t, dir, UnpackOptions{Threads: 2}), texts(ins))
			var stream bytes.Buffer
			if _, err := Unpack(context.Background(), dir, UnpackOptions{Stream: &stream}); err != nil || stream.String() != text {
				t.Fatalf("the stream has %d bytes of %d: %v", stream.Len(), len(text), err)
			}
			comparesRecords(t, ins, dir)
		})
	}
}

// comparesRecords compares the records that an archive gives with those of one of the default options.
func comparesRecords(t *testing.T, ins []input, dir string) {
	t.Helper()
	other := binTo(t, ins, record.Options{})
	packTo(t, other, PackOptions{})
	var lists [2][]string
	for i, path := range []string{dir, other} {
		r, err := Open(path, ReaderOptions{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for rec, err := range r.Records(context.Background(), Query{}) {
			if err != nil {
				t.Fatal(err)
			}
			lists[i] = append(lists[i], fmt.Sprintf("%d %q %q", rec.Number, rec.Name, rec.Bases))
		}
	}
	if got, want := strings.Join(lists[0], "\n"), strings.Join(lists[1], "\n"); got != want || len(lists[0]) == 0 {
		t.Errorf("%d records, not those %d of the default level", len(lists[0]), len(lists[1]))
	}
}

// An archive of assemblies and reads, in small blocks and slices: all that can be asked for is what the default level gives.
func TestAssembliesAndReads(t *testing.T) {
	r := rand.New(rand.NewSource(12))
	reads, _ := simulated(12, testrun.Pick(150, 300, 300), true)
	sequences := testrun.Pick(40, 100, 100)
	ins := []input{
		{name: "a.fa", text: randomAssembly(r, sequences, 60), mate: -1},
		{name: "reads.fastq", text: reads, mate: -1},
		{name: "b.fa", text: randomAssembly(r, sequences*3/5, 80), mate: -1},
		{name: "short.fa", text: ">1\nACGTAGCATCGATCAGTACG\n>2\nACGATCAGCTACGACTAGC\n", mate: -1},
	}
	for _, o := range []record.Options{{}, {DropNames: true}, {ReadsOnly: true}} {
		if testrun.Race && o != (record.Options{}) {
			break
		}
		o.BlockSize = 40 << 10
		var outs [2]map[string]string
		for i, twoBit := range []bool{true, false} {
			dir := binTo(t, ins, o)
			packTo(t, dir, PackOptions{Threads: 2, TwoBit: twoBit, SliceText: 40 << 10})
			if got := []bool{isTwoBit(t, dir, 0), isTwoBit(t, dir, 1), isTwoBit(t, dir, 2), isTwoBit(t, dir, 3)}; got[0] != twoBit ||
				got[1] || got[2] != got[0] || got[3] {
				t.Fatalf("%v are in two bits a base", got)
			}
			outs[i] = unpackAll(t, dir, UnpackOptions{Threads: 2})
			part := unpackAll(t, dir, UnpackOptions{Threads: 2, Records: &RecordRange{From: 17, To: 60}})
			for name, text := range part {
				outs[i]["part of "+name] = text
			}
		}
		sameFiles(t, outs[0], outs[1])
	}
}

// Sequences of an order that is free, and mates, are coded as reads.
func TestNoAssemblies(t *testing.T) {
	testrun.NoRace(t)
	r := rand.New(rand.NewSource(13))
	text := randomAssembly(r, 30, 60)
	for _, x := range []struct {
		what string
		ins  []input
		o    record.Options
		two  bool
	}{
		{"default level", []input{{name: "x.fa", text: text, mate: -1}}, record.Options{}, false},
		{"order any", []input{{name: "x.fa", text: text, mate: -1}}, record.Options{OrderAny: true}, true},
		{"mates", []input{{"x.fa", text, 1, true}, {"y.fa", text, 0, false}}, record.Options{}, true},
	} {
		dir := binTo(t, x.ins, x.o)
		packTo(t, dir, PackOptions{TwoBit: x.two})
		if isTwoBit(t, dir, 0) {
			t.Errorf("%s: it is in two bits a base", x.what)
		}
	}
}

// What is found in an assembly is what a scan of all letters finds.
func TestFindInAssemblies(t *testing.T) {
	testrun.NoRace(t)
	r := rand.New(rand.NewSource(14))
	reads, _ := simulated(14, 60, true)
	ins := []input{{name: "a.fa", text: randomAssembly(r, 20, 60), mate: -1}}
	for range 2 {
		dir := binTo(t, ins, record.Options{BlockSize: 20 << 10})
		packTo(t, dir, PackOptions{Threads: 2, TwoBit: true})
		e, err := commit.One(dir)
		if err != nil {
			t.Fatal(err)
		}
		comparesWithScan(t, e, r, 6, true)
		ins = append(ins, input{name: "reads.fastq", text: reads, mate: -1})
	}
}
