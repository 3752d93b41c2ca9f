package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/zeebo/xxh3"

	"orcomgo/bins/commit"
	"orcomgo/compress/fmindex"
	"orcomgo/compress/general"
	"orcomgo/internal/testrun"
)

// nasty are values that counts and lengths get in forged files.
var nasty = []uint64{0, 1, 255, 1 << 14, 1 << 16, 1<<20 + 3, 1 << 26, math.MaxInt32, math.MaxUint32, 1 << 40, 1 << 47, math.MaxInt64,
	math.MaxUint64}

// forge puts a nasty number somewhere in b: as a uvarint in place of another one, or as bytes of a fixed width.
func forge(r *rand.Rand, b []byte) []byte {
	at, v := r.IntN(len(b)), nasty[r.IntN(len(nasty))]
	if r.IntN(3) > 0 {
		_, n := binary.Uvarint(b[at:])
		return bytes.Join([][]byte{b[:at], binary.AppendUvarint(nil, v), b[at+max(n, 1):]}, nil)
	}
	b = bytes.Clone(b)
	copy(b[at:], binary.LittleEndian.AppendUint64(nil, v)[:1<<r.IntN(4)])
	return b
}

// forgeries forge files of an archive under right checksums, by the name of the file. dir has them all.
var forgeries = map[string]func(r *rand.Rand, dir map[string][]byte){
	"dir.ctree": func(r *rand.Rand, dir map[string][]byte) {
		b := dir["dir.ctree"]
		at := len(b) - 12 - len(commit.TreeEnd) // hash, size and magic follow the listing
		size := int(binary.LittleEndian.Uint32(b[at+8:]))
		coded := forgeCoded(r, b[at-size:at])
		sum := binary.LittleEndian.AppendUint64(nil, xxh3.Hash(coded))
		sum = binary.LittleEndian.AppendUint32(sum, uint32(len(coded)))
		dir["dir.ctree"] = bytes.Join([][]byte{b[:at-size], coded, sum, []byte(commit.TreeEnd)}, nil)
	},
	"r.cmeta": func(r *rand.Rand, dir map[string][]byte) {
		was := dir["r.cmeta"]
		sections := dir["r.cdna"][:len(dir["r.cdna"])-len(was)-16]
		b := forge(r, was[:len(was)-16])
		sum := xxh3.Hash128(b).Bytes()
		setManifest(dir, sections, append(b, sum[:]...))
	},
	"r.cdna": func(r *rand.Rand, dir map[string][]byte) { // a section
		meta := dir["r.cmeta"]
		b := bytes.Clone(dir["r.cdna"][:len(dir["r.cdna"])-len(meta)-16])
		var labels []int
		for at := 25; at < len(b); at += 64 + int(binary.LittleEndian.Uint64(b[at+44:])) {
			labels = append(labels, at)
		}
		l := b[labels[r.IntN(len(labels)-1)]:]
		section := l[64:][:binary.LittleEndian.Uint64(l[44:])]
		if len(section) == 0 {
			return
		}
		copy(section, forge(r, section))
		was := bytes.Clone(l[52:60])
		binary.LittleEndian.PutUint64(l[52:], xxh3.Hash(section))
		binary.LittleEndian.PutUint32(l[60:], uint32(xxh3.Hash(l[:60])))
		meta = bytes.Replace(meta[:len(meta)-16], was, l[52:60], 1)
		sum := xxh3.Hash128(meta).Bytes()
		setManifest(dir, b, append(meta, sum[:]...))
	},
	"r.cfm": func(r *rand.Rand, dir map[string][]byte) {
		b := bytes.Clone(dir["r.cfm"])
		part := b[32:72] // the numbers of the header
		if r.IntN(3) == 0 {
			part = b[128:]
		}
		copy(part, forge(r, part))
		if _, all, err := fmindex.MainLen(b); err == nil && all <= int64(len(b)) {
			n := int64(binary.LittleEndian.Uint64(b[40:]))
			ranks := all - (n/192+1)*64 - (n/64+1)*4 - (n+1<<16-1)>>16*4
			sum := xxh3.Hash128(b[ranks:all]).Bytes()
			copy(b[96:], sum[:])
			sum = xxh3.Hash128(append(bytes.Clone(b[:112]), b[128:ranks]...)).Bytes()
			copy(b[112:], sum[:])
		}
		dir["r.cfm"] = b
	},
	"r.cpar": func(r *rand.Rand, dir map[string][]byte) {
		b := bytes.Clone(dir["r.cpar"])
		field := []struct{ at, width int }{{40, 8}, {48, 4}, {52, 4}, {56, 4}, {60, 2}, {40, 8}}[r.IntN(6)]
		value := nasty[r.IntN(len(nasty))]
		if r.IntN(2) == 0 {
			value = binary.LittleEndian.Uint64(b[field.at:])&(1<<(8*field.width-1)-1) + r.Uint64N(64) // not much more
		}
		var packets [][]byte
		for rest := b; len(rest) > 0; {
			n := bytes.Index(rest[1:], []byte(commit.ParityMagic)) + 1
			if n == 0 {
				n = len(rest)
			}
			packets, rest = append(packets, rest[:n]), rest[n:]
		}
		var sums []byte
		for _, p := range packets {
			copy(p[field.at:][:field.width], binary.LittleEndian.AppendUint64(nil, value))
			if p[62] == 0 {
				sums = append(sums, p[72:]...)
			}
		}
		h := xxh3.New()
		for _, part := range [][]byte{b[16:32], b[40:60], b[60:62], {0, 0}, sums} {
			h.Write(part)
		}
		for _, p := range packets {
			binary.LittleEndian.PutUint64(p[32:], h.Sum64())
			binary.LittleEndian.PutUint64(p[8:], xxh3.Hash(p[16:]))
		}
		dir["r.cpar"] = b
		damaged := bytes.Clone(dir["r.cdna"]) // so that it is used
		clear(damaged[r.IntN(len(damaged)):])
		dir["r.cdna"] = damaged
	},
}

// forgeCoded forges the text of a general stream.
func forgeCoded(r *rand.Rand, stream []byte) []byte {
	text, err := general.Decode(stream, 1<<28)
	if err != nil {
		panic(err)
	}
	return general.Encode(forge(r, text))
}

// setManifest makes both copies of the manifest meta.
func setManifest(dir map[string][]byte, sections, meta []byte) {
	tail := append(binary.LittleEndian.AppendUint64(nil, uint64(len(meta))), commit.PackedDataEnd...)
	dir["r.cmeta"], dir["r.cdna"] = meta, bytes.Join([][]byte{sections, meta, tail}, nil)
}

// TestForgedFiles: commands that read archives whose counts and lengths were forged end with an error or not, without a panic, within
// 1.2 times --memory and 10 s.
func TestForgedFiles(t *testing.T) {
	testrun.NotShort(t)
	if runtime.GOOS != "linux" {
		t.Skip("the peak of a process is read from /proc")
	}
	const bound = 96 << 20
	base := t.TempDir()
	in, made := filepath.Join(base, "dir"), filepath.Join(base, "made")
	r1, _ := simulated(t, base, 2000)
	if err := os.Mkdir(in, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(r1, filepath.Join(in, "r.fastq")); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		side := bytes.Repeat([]byte(fmt.Sprintln("a table\t", i, "\tof rows")), 200*(i+1))
		if err := os.WriteFile(filepath.Join(in, fmt.Sprintf("side%d.tsv", i)), side, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, "archive", "-q", in, made)
	mustRun(t, "index", "-q", made)
	whole := filesOf(t, made)
	rng := rand.New(rand.NewPCG(1, 2))
	for name, forge := range forgeries {
		t.Run(name, func(t *testing.T) {
			for draw := range testrun.Pick(0, 2, 200) {
				files := make(map[string][]byte)
				for file, b := range whole {
					if file == name || filepath.Ext(file) != commit.ParityExt { // else parity would mend it
						files[file] = b
					}
				}
				forge(rng, files)
				dir, out := filepath.Join(t.TempDir(), fmt.Sprint(draw)), filepath.Join(t.TempDir(), fmt.Sprint(draw))
				if err := os.Mkdir(dir, 0o777); err != nil {
					t.Fatal(err)
				}
				for name, b := range files {
					if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
						t.Fatal(err)
					}
				}
				commands := [][]string{{"verify", dir}, {"unpack", dir, "-o", out}, {"info", dir}, {"repair", dir}}
				if name == "r.cfm" {
					commands = [][]string{{"find", "ACGTACGTACGTACGTACGTACGT", dir}, {"unpack", "--records", "5-9", dir + "/r", "-o", out}}
				}
				for _, args := range commands {
					if problem := forgedRun(t, bound, args); problem != "" {
						kept := filepath.Join(os.TempDir(), fmt.Sprintf("forged-%s-%d", name, draw))
						os.Rename(dir, kept)
						t.Fatalf("orcomgo %s: %s: the archive is in %s", strings.Join(args, " "), problem, kept)
					}
				}
				os.RemoveAll(dir)
			}
		})
	}
}

// filesOf returns the files in a directory.
func filesOf(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string][]byte)
	for _, e := range list {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// forgedRun runs orcomgo and returns what is wrong with how it ended, "" for nothing.
func forgedRun(t *testing.T, bound int, args []string) string {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Args = append([]string{peakCommand}, args...)
	if args[0] != "info" {
		cmd.Args = append(cmd.Args, "-q", "-t", "2", "--memory", fmt.Sprintf("%dMiB", bound>>20))
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	began := time.Now()
	out, _ := cmd.Output()
	var peak, code int
	switch _, err := fmt.Sscan(string(out), &peak, &code); {
	case err != nil || cmd.ProcessState.ExitCode() > 1:
		return fmt.Sprintf("%v: %s", cmd.ProcessState, &errs)
	case peak-code > bound*12/10:
		return fmt.Sprintf("a peak of %d MB: %s", (peak-code)/1e6, &errs)
	case time.Since(began) > 10*time.Second:
		return fmt.Sprintf("%v: %s", time.Since(began), &errs)
	}
	return ""
}
