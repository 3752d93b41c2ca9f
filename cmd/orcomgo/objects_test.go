package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"orcomgo/cmd/simreads/sim"
	"orcomgo/internal/objectserver"
	"orcomgo/internal/testrun"
)

// TestObjectStorage: archives in object storage are those on a disk, byte for byte, and commands ask for few ranges of them.
func TestObjectStorage(t *testing.T) {
	testrun.NoRace(t)
	proxy := objectserver.NewProxy(t, objectserver.Start(t))
	program, dir := playedBy(t, "orcomgo"), t.TempDir()
	environ := append(os.Environ(), "AWS_ENDPOINT_URL="+proxy.URL, "AWS_ACCESS_KEY_ID=me", "AWS_SECRET_ACCESS_KEY=secret12")
	none := func() string { return "" }
	command := func(args ...string) (out string, requests, size int64, err error) {
		c := exec.CommandContext(t.Context(), program, args...)
		c.Dir, c.Env = dir, environ
		requests, size = proxy.Requests.Load(), proxy.Bytes.Load()
		text, err := c.CombinedOutput()
		return string(text), proxy.Requests.Load() - requests, proxy.Bytes.Load() - size, err
	}
	must := func(args ...string) (out string, requests, size int64) {
		t.Helper()
		out, requests, size, err := command(args...)
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return out, requests, size
	}
	fails := func(want string, args ...string) {
		t.Helper()
		if out, _, _, err := command(args...); err == nil || !strings.Contains(out, want) {
			t.Errorf("%v: %v, %q, want %q", args, err, out, want)
		}
	}
	reads := testrun.Pick[uint64](20_000, 60_000, 3_000_000)
	if err := os.Mkdir(filepath.Join(dir, "in"), 0o777); err != nil {
		t.Fatal(err)
	}
	draw, err := sim.New(sim.Config{Genome: sim.Invent(sim.GenomeConfig{Size: 200_000}), Reads: reads, Quality: sim.Levels8})
	if err != nil {
		t.Fatal(err)
	}
	text, _ := draw.All()
	put(t, dir, map[string][]byte{"in/r.fastq": text, "in/notes.txt": []byte("a note\n"), "two.fastq": []byte("@a\nACGT\n+\nIIII\n")})
	same := func(a, b string) {
		t.Helper()
		if x, y := readFile(t, filepath.Join(dir, a)), readFile(t, filepath.Join(dir, b)); x != y {
			t.Errorf("%s and %s differ", a, b)
		}
	}

	must("archive", "--quiet", "--slice-size", "1MiB", "in/r.fastq", "here/")
	must("archive", "--quiet", "--slice-size", "1MiB", "in/r.fastq", "s3://bucket/a/")
	for _, file := range []string{"r.cdna", "r.cmeta", "r.cpar"} {
		if err := objectserver.Fetch(proxy.URL, "bucket/a/"+file, filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
		same(file, "here/"+file)
	}
	if out, _, _ := must("archive", "in/r.fastq", "s3://bucket/a/"); !strings.Contains(out, "s3://bucket/a/r holds these inputs already") {
		t.Error(out)
	}
	fails("another", "archive", "--as", "r", "two.fastq", "s3://bucket/a/")

	stored := int64(len(readFile(t, filepath.Join(dir, "r.cdna"))))
	if out, requests, size := must("info", "s3://bucket/a/"); requests > 3 || size > 1e6 || !strings.Contains(out, "r.fastq") {
		t.Errorf("info: %d requests, %d bytes: %s", requests, size, out)
	}
	_, requests, size := must("unpack", "--quiet", "s3://bucket/a/", "-o", "back")
	t.Logf("unpack: %d requests, %d of %d bytes", requests, size, stored)
	if size > stored*11/10+200_000 {
		t.Errorf("unpack: %d bytes for %d", size, stored)
	}
	same("in/r.fastq", "back/r.fastq")
	_, requests, size = must("unpack", "--quiet", "--records", "15001-16000", "s3://bucket/a/r", "-o", "some")
	must("unpack", "--quiet", "--records", "15001-16000", "here/", "-o", "some-here")
	same("some/r.15001-16000.fastq", "some-here/r.15001-16000.fastq")
	t.Logf("1,000 records: %d requests, %d of %d bytes", requests, size, stored)
	if requests > 20 || size > stored/50+5<<18 { // 2 %, the shared sequence, the primer of qualities, and what info asks for
		t.Errorf("%d requests for 1,000 records, %d of %d bytes", requests, size, stored)
	}
	records := size
	must("verify", "--quiet", "s3://bucket/a/")
	if _, requests, size = must("verify", "--quiet", "--quick", "s3://bucket/a/"); size > stored*11/10+1<<20 {
		t.Errorf("verify: %d requests, %d of %d bytes", requests, size, stored)
	}
	must("index", "--quiet", "s3://bucket/a/")
	must("index", "--quiet", "here/")
	if _, _, size := must("unpack", "--quiet", "--records", "15001-16000", "s3://bucket/a/r", "-o", "again"); size > records+1<<12 {
		t.Errorf("1,000 records took %d bytes, and %d once there is an index", records, size)
	}
	query := strings.Split(readFile(t, filepath.Join(dir, "in/r.fastq")), "\n")[1][:40]
	remote, requests, _ := must("find", "--quiet", query, "s3://bucket/a/r")
	local, _, _ := must("find", "--quiet", query, "here/r")
	if remote = strings.ReplaceAll(remote, "s3://bucket/a/", ""); remote != strings.ReplaceAll(local, "here/", "") || requests > 20 {
		t.Errorf("find, %d requests: %s and %s", requests, remote, local)
	}

	remote, requests, size = must("find", "--quiet", "--reads", query, "s3://bucket/a/r")
	local, _, _ = must("find", "--quiet", "--reads", query, "here/r")
	t.Logf("find --reads: %d requests, %d of %d bytes", requests, size, stored)
	if remote != local || requests > testrun.Pick[int64](8, 8, 20) { // of long runs all slices have some
		t.Errorf("find --reads, %d requests: %.200s and %.200s", requests, remote, local)
	}

	many := []string{"find", "--quiet", "--count", "--within", "8", "--mismatches", "1"} // which is nearly everywhere
	for i := range 12 {
		many = append(many, query[i:i+12])
	}
	remote, _, _ = must(append(many, "s3://bucket/a/r")...)
	local, _, _ = must(append(many, "here/r")...)
	if strings.ReplaceAll(remote, "s3://bucket/a/", "") != strings.ReplaceAll(local, "here/", "") {
		t.Errorf("sequences that are nearly everywhere: %s and %s", remote, local)
	}

	// Of an index that is longer than the shared sequence, the ranks are not fetched if reads are asked for.
	rnd := rand.New(rand.NewPCG(3, 9))
	letters := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = "ACGT"[rnd.IntN(4)]
		}
		return b
	}
	genome, alone := letters(3_000_000), letters(1000)
	var long []byte
	for at := 0; at+1000 <= len(genome); at += 500 {
		long = fmt.Appendf(long, ">%d\n%s\n", at, genome[at:at+1000])
	}
	put(t, dir, map[string][]byte{"in/g.fasta": fmt.Appendf(long, ">alone\n%s\n", alone)})
	for _, place := range []string{"here", "s3://bucket/g/"} {
		must("archive", "--quiet", "in/g.fasta", place)
		must("index", "--quiet", strings.TrimSuffix(place, "/")+"/g")
	}
	stored, indexed := int64(len(readFile(t, filepath.Join(dir, "here/g.cdna")))), int64(len(readFile(t, filepath.Join(dir, "here/g.cfm"))))
	for _, query := range []string{string(genome[70_000:70_040]), string(alone[100:130])} {
		remote, requests, size = must("find", "--quiet", "--reads", query, "s3://bucket/g/g")
		local, _, _ = must("find", "--quiet", "--reads", query, "here/g")
		t.Logf("find --reads: %d requests, %d bytes, archive and index of %d and %d", requests, size, stored, indexed)
		if remote != local || local == "" || requests > 8 || size > stored+indexed*7/8 {
			t.Errorf("find --reads, %d requests, %d bytes: %.200s and %.200s", requests, size, remote, local)
		}
	}

	// Damage is repaired there.
	whole := []byte(readFile(t, filepath.Join(dir, "r.cdna")))
	damaged := bytes.Clone(whole)
	damaged[len(damaged)/2] ^= 1
	put(t, dir, map[string][]byte{"damaged": damaged})
	if err := objectserver.Store(proxy.URL, "bucket/a/r.cdna", damaged); err != nil {
		t.Fatal(err)
	}
	must("unpack", "--quiet", "s3://bucket/a/", "-o", "mended")
	same("in/r.fastq", "mended/r.fastq")
	must("repair", "--quiet", "s3://bucket/a/")
	if err := objectserver.Fetch(proxy.URL, "bucket/a/r.cdna", filepath.Join(dir, "repaired")); err != nil {
		t.Fatal(err)
	}
	same("repaired", "r.cdna")

	// An archive that is larger than --memory is partly read from there before it has its name.
	if testrun.Long() {
		must("archive", "--quiet", "--memory", "96MB", "--as", "r", "in/r.fastq", "little/")
		must("archive", "--quiet", "--memory", "96MB", "--as", "r", "in/r.fastq", "s3://bucket/little/")
		must("archive", "--quiet", "--memory", "96MB", "--parity", "5%", "in/r.fastq", "-o", "little/one.cdna")
		must("archive", "--quiet", "--memory", "96MB", "--parity", "5%", "in/r.fastq", "-o", "s3://bucket/little/one.cdna")
		for _, file := range []string{"r.cdna", "r.cmeta", "r.cpar", "one.cdna"} {
			if err := objectserver.Fetch(proxy.URL, "bucket/little/"+file, filepath.Join(dir, "is")); err != nil {
				t.Fatal(err)
			}
			same("is", "little/"+file)
		}
	}

	must("archive", "--quiet", "in/", "s3://bucket/dir/")
	must("verify", "--quiet", "s3://bucket/dir/")
	must("unpack", "--quiet", "s3://bucket/dir/", "-o", "in-back")
	same("in/r.fastq", "in-back/r.fastq")
	same("in/notes.txt", "in-back/notes.txt")

	// Of a process that is killed, at any request, no file is left that is not whole.
	in := testrun.Pick("two.fastq", "two.fastq", "in/r.fastq") // several parts
	must("archive", "--quiet", "--as", "r", in, "there/")
	for request, ended := int64(1), false; !ended; request++ {
		c := exec.Command(program, "archive", "--quiet", "--as", "r", in, fmt.Sprintf("s3://bucket/killed%d/", request))
		c.Dir, c.Env = dir, environ
		var seen atomic.Int64
		kill := func() string {
			if seen.Add(1) != request {
				return ""
			}
			c.Process.Kill()
			return "reset"
		}
		proxy.Fault.Store(&kill)
		ended = c.Run() == nil
		proxy.Fault.Store(&none)
		for _, file := range []string{"r.cdna", "r.cmeta", "r.cpar"} {
			if err := objectserver.Fetch(proxy.URL, fmt.Sprintf("bucket/killed%d/%s", request, file), filepath.Join(dir, "left")); err == nil {
				same("left", "there/"+file)
			} else if ended || !strings.Contains(err.Error(), "does not exist") {
				t.Error(err)
			}
		}
	}

	fails("no such", "info", "s3://bucket/none/")
	fails("on this machine", "bin", "in/r.fastq", "s3://bucket/bins/")
	fails("URL", "unpack", "here/", "-o", "ftp://x/")
	full := func() string { return "503" }
	proxy.Fault.Store(&full)
	fails("reduce your request rate", "info", "s3://bucket/a/")
}
