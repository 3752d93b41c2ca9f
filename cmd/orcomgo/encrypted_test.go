package main

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	crypt4gh "github.com/neicnordic/crypt4gh/keys"
	"github.com/neicnordic/crypt4gh/streaming"

	"orcomgo/bins/vfs"
	"orcomgo/compress"
	"orcomgo/internal/objectserver"
	"orcomgo/internal/testrun"
	"orcomgo/storage"
)

// newKeys writes the keys of me, which have a passphrase, and of you to dir/me.pub and so on, and returns the secret one of me.
func newKeys(t *testing.T, dir string) (secret [32]byte) {
	t.Helper()
	t.Setenv("C4GH_PASSPHRASE", "sesame")
	for _, who := range []string{"you", "me"} {
		public, mine, err := crypt4gh.GenerateKeyPair()
		var pub, sec bytes.Buffer
		if err = errors.Join(err, crypt4gh.WriteCrypt4GHX25519PublicKey(&pub, public)); who == "me" {
			err = errors.Join(err, crypt4gh.WriteCrypt4GHX25519PrivateKey(&sec, mine, []byte("sesame")))
		} else {
			err = errors.Join(err, crypt4gh.WriteOpenSSLX25519PrivateKey(&sec, mine))
		}
		if err != nil {
			t.Fatal(err)
		}
		put(t, dir, map[string][]byte{who + ".pub": pub.Bytes(), who + ".sec": sec.Bytes()})
		secret = mine
	}
	return secret
}

// TestEncrypted: each command reads and writes encrypted archives; other programs read them, and this one reads theirs; others than the
// readers get nothing.
func TestEncrypted(t *testing.T) {
	testrun.NoRace(t)
	dir := t.TempDir()
	t.Chdir(dir)
	secret := newKeys(t, dir)
	if err := os.Mkdir("in", 0o777); err != nil {
		t.Fatal(err)
	}
	text, _ := simulated(t, dir, 3000)
	reads := readFile(t, text)
	put(t, dir, map[string][]byte{"in/r.fastq": []byte(reads), "in/notes.txt": []byte("a note of nobody else\n")})
	fails := func(want string, args ...string) {
		t.Helper()
		if status, errs := runHere(args...); status != exitFailure || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: %d, %q, want %q", args, status, errs, want)
		}
	}
	mustRun(t, "archive", "--quiet", "in/", "plain/")
	mustRun(t, "archive", "--quiet", "--encrypt-to", "me.pub", "in/", "out/")
	mustRun(t, "archive", "--quiet", "--encrypt-to", "me.pub", "--key", "me.sec", "in/", "out/") // there already
	if text, err := exec.Command(playedBy(t, "orcomgo"), "plan", "--quiet", "--key", "me.sec", "in/", "out/").CombinedOutput(); err != nil {
		t.Errorf("plan: %v: %s", err, text)
	}
	mustRun(t, "index", "--quiet", "--key", "me.sec", "out/")
	query := strings.Split(reads, "\n")[1][:30]
	for _, args := range [][]string{
		{"verify", "--quiet", "--key", "me.sec", "out/"}, {"info", "--key", "me.sec", "out/"},
		{"find", "--quiet", "--key", "me.sec", query, "out/r"},
		{"report", "--quiet", "--key", "me.sec", "out/r", "-o", "page.html"}, {"protect", "--quiet", "--parity", "2%", "--key", "me.sec", "out/"},
		{"repair", "--quiet", "out/"}, {"repair", "--quiet", "--key", "me.sec", "out/"}, {"recipients", "out/"},
		{"unpack", "--quiet", "--key", "me.sec", "out/", "-o", "back"},
	} {
		mustRun(t, args...)
	}
	if readFile(t, "back/r.fastq") != reads || readFile(t, "back/notes.txt") != readFile(t, "in/notes.txt") {
		t.Error("other files than were archived")
	}

	// All that is stored is encrypted, and not much longer.
	for name, b := range contents(t, "out") {
		if !strings.HasPrefix(string(b), "crypt4gh") != strings.HasSuffix(name, ".cpar") {
			t.Errorf("%s begins with %q", name, b[:8])
		}
		plain, err := os.ReadFile(filepath.Join("plain", name))
		if err != nil || strings.HasSuffix(name, ".cpar") {
			continue
		}
		if n := len(b) - 124; n > len(plain)+28+len(plain)/1000 {
			t.Errorf("%s: %d bytes for %d", name, n, len(plain))
		}
		theirs, err := streaming.NewCrypt4GHReader(bytes.NewReader(b), secret, nil)
		if err != nil {
			t.Fatal(err)
		}
		// Of a side archive the times of two runs differ.
		if got, err := io.ReadAll(theirs); err != nil || !bytes.Equal(got, plain) && !strings.HasSuffix(name, ".ctree") {
			t.Errorf("%s: another program reads something else: %v", name, err)
		}
	}

	// What another program has encrypted is read, too.
	public, err := crypt4gh.ReadPublicKey(strings.NewReader(readFile(t, "me.pub")))
	var theirs bytes.Buffer
	w, err2 := streaming.NewCrypt4GHWriterWithoutPrivateKey(&theirs, [][32]byte{public}, nil)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, readFile(t, "plain/r.cdna"))
	if err := errors.Join(w.Close(), os.Mkdir("theirs", 0o777)); err != nil {
		t.Fatal(err)
	}
	put(t, dir, map[string][]byte{"theirs/r.cdna": theirs.Bytes()})
	mustRun(t, "unpack", "--quiet", "--key", "me.sec", "theirs/r", "-o", "back2")
	if readFile(t, "back2/r.fastq") != reads {
		t.Error("other reads than another program has encrypted")
	}

	// Bins, and what is made of them, for the same readers.
	mustRun(t, "bin", "--quiet", "--encrypt-to", "me.pub", "--key", "me.sec", "in/r.fastq", "bins/")
	fails("it is encrypted: --key KEY opens it", "pack", "--quiet", "bins/")
	mustRun(t, "pack", "--quiet", "--key", "me.sec", "bins/")
	if plain, b := readFile(t, "plain/r.cdna"), readFile(t, "bins/r.cdna"); len(b) < len(plain)+124 || b[:8] != "crypt4gh" {
		t.Error("pack did not encrypt as bin did")
	}
	mustRun(t, "bin", "--quiet", "in/r.fastq", "bins2/")
	mustRun(t, "pack", "--quiet", "--encrypt-to", "you.pub", "bins2/", "-o", "one.cdna")
	mustRun(t, "verify", "--quiet", "--key", "me.sec", "--key", "you.sec", "one.cdna")

	// Others.
	fails("and not for this --key", "unpack", "--quiet", "--key", "you.sec", "out/r", "-o", "none")
	fails("it is encrypted: --key KEY opens it", "info", "out/r")
	fails("it is encrypted: --key KEY opens it", "archive", "--quiet", "--force", "in/r.fastq", "out/")
	mustRun(t, "recipients", "--json", "--threads", "1", "--memory", "200MB", "--log", "log", "--key", "me.sec", "--add", "you.pub", "out/")
	mustRun(t, "repair", "--quiet", "out/")
	mustRun(t, "verify", "--quiet", "--key", "you.sec", "out/")
	mustRun(t, "verify", "--quiet", "--key", "me.sec", "out/")
	mustRun(t, "recipients", "--quiet", "--key", "me.sec", "--only", "you.pub", "out/")
	fails("and not for this --key", "unpack", "--quiet", "--key", "me.sec", "out/r", "-o", "none")
	fails("it is not encrypted", "recipients", "plain/r")
	fails("it is not encrypted", "recipients", "--key", "me.sec", "--add", "you.pub", "plain/r")
	fails("no public key", "archive", "--encrypt-to", "me.sec", "in/r.fastq", "none/")
	fails("no key can be read there", "verify", "--key", "me.pub", "out/r")
	t.Setenv("C4GH_PASSPHRASE", "mustard")
	fails("this is not its passphrase", "verify", "--key", "me.sec", "out/r")

	// What is stored is repaired without a key, and read by parity until then.
	for _, name := range []string{"r.cdna", "r.cfm", "in.ctree"} {
		was := readFile(t, filepath.Join("out", name))
		for _, at := range []int{3, 12, 40, len(was) / 2} {
			damaged := []byte(was)
			damaged[at] ^= 1
			put(t, dir, map[string][]byte{"out/" + name: damaged})
			if at != 40 { // where the header doesn't say any more that it is for this reader
				mustRun(t, "unpack", "--quiet", "--key", "you.sec", "out/", "-o", "back", "--force")
			}
			mustRun(t, "repair", "--quiet", "out/")
			if readFile(t, filepath.Join("out", name)) != was {
				t.Errorf("%s, byte %d: it was not repaired", name, at)
			}
		}
	}
	// So is an archive of one file, and what is within it.
	mustRun(t, "protect", "--quiet", "--key", "you.sec", "one.cdna")
	one := readFile(t, "one.cdna")
	for _, at := range []int{0, 12, 40, len(one) / 2} {
		damaged := []byte(one)
		damaged[at] ^= 1
		put(t, dir, map[string][]byte{"one.cdna": damaged})
		mustRun(t, "repair", "--quiet", "one.cdna")
		if readFile(t, "one.cdna") != one {
			t.Errorf("byte %d: one.cdna was not repaired", at)
		}
	}
	if _, err := os.Stat("none"); err == nil {
		t.Error("something was written for others")
	}
}

// TestCrypt4GHProgram: the command crypt4gh decrypts what this program encrypts, and the other way round.
func TestCrypt4GHProgram(t *testing.T) {
	testrun.OnlyLong(t)
	source, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/neicnordic/crypt4gh").Output()
	if err != nil {
		t.Skip("the command is built from its module by Go: ", err)
	}
	module, dir := strings.TrimSpace(string(source)), t.TempDir()
	t.Chdir(dir)
	command := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v: %s", name, args, err, out)
		}
	}
	crypt4gh := func(args ...string) {
		t.Helper()
		command(filepath.Join(dir, "crypt4gh"), args...)
	}
	command("go", "build", "-C", module, "-o", filepath.Join(dir, "crypt4gh"), ".")
	t.Setenv("C4GH_PASSPHRASE", "sesame")
	crypt4gh("generate", "-n", "key", "-p", "sesame")
	r1, _ := simulated(t, dir, 3000)
	mustRun(t, "archive", "--quiet", "--as", "r", r1, "plain/")
	mustRun(t, "archive", "--quiet", "--encrypt-to", "key.pub.pem", "--as", "r", r1, "sealed/")
	plain, want := readFile(t, "plain/r.cdna"), readFile(t, r1)
	put(t, dir, map[string][]byte{"ours.c4gh": []byte(readFile(t, "sealed/r.cdna")), "theirs": []byte(plain)})
	crypt4gh("decrypt", "-f", "ours.c4gh", "-s", "key.sec.pem")
	if readFile(t, "ours") != plain {
		t.Error("crypt4gh decrypts something else")
	}
	crypt4gh("encrypt", "-f", "theirs", "-p", "key.pub.pem")
	put(t, dir, map[string][]byte{"r.cdna": []byte(readFile(t, "theirs.c4gh"))})
	mustRun(t, "unpack", "--quiet", "--key", "key.sec.pem", "r.cdna", "-o", "back")
	if readFile(t, "back/"+filepath.Base(r1)) != want {
		t.Error("other reads than crypt4gh has encrypted")
	}
}

// TestNothingReadable: nothing that archive and bin write, temporary files included, can be compressed, as what is readable could.
func TestNothingReadable(t *testing.T) {
	testrun.NoRace(t)
	dir := t.TempDir()
	newKeys(t, dir)
	testTuning = noneHeld
	defer func() { testTuning, vfs.Record = tuning{}, nil }()
	in := filepath.Join(dir, "in")
	if err := os.Mkdir(in, 0o777); err != nil {
		t.Fatal(err)
	}
	r1, _ := simulated(t, dir, 10_000)
	put(t, in, map[string][]byte{"r.fastq": []byte(readFile(t, r1)), "notes.txt": []byte(strings.Repeat("a note\n", 1000))})
	writes := func(args ...string) (data, names []byte) {
		vfs.Record = func(op vfs.Op) {
			if op.File == nil {
				return
			}
			if !strings.HasSuffix(op.File.Name(), ".cpar") && !bytes.HasPrefix(op.Data, []byte("crypt4gh")) { // headers are equal
				data = append(data, op.Data...)
			}
			names = append(names, op.Data...)
		}
		mustRun(t, args...)
		vfs.Record = nil
		return data, names
	}
	ratio := func(b []byte) float64 {
		var out bytes.Buffer
		w, err := flate.NewWriter(&out, 9)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(b)
		w.Close()
		return float64(out.Len()) / float64(len(b))
	}
	for _, command := range []string{"archive", "bin"} {
		from := in
		if command == "bin" {
			from = filepath.Join(in, "r.fastq")
		}
		plain, names := writes(command, "--quiet", from, filepath.Join(dir, command+".plain"))
		if r := ratio(plain); r > 0.98 || !bytes.Contains(names, []byte("r.fastq")) {
			t.Errorf("%s: this test finds nothing: %.3f", command, r)
		}
		sealed, names := writes(command, "--quiet", "--encrypt-to", filepath.Join(dir, "me.pub"), from, filepath.Join(dir, command+".sealed"))
		if r := ratio(sealed); r < 0.999 || len(sealed) < len(plain)/2 || bytes.Contains(names, []byte("r.fastq")) {
			t.Errorf("%s: %d bytes where %d are readable, which compress to %.4f", command, len(sealed), len(plain), r)
		}
	}
}

// TestEncryptedDamage: an encrypted archive without parity that was changed anywhere is restored, or there is an error.
func TestEncryptedDamage(t *testing.T) {
	testrun.NoRace(t)
	dir := t.TempDir()
	newKeys(t, dir)
	r1, _ := simulated(t, dir, 500)
	out, rnd := filepath.Join(dir, "out"), rand.New(rand.NewPCG(3, 9))
	mustRun(t, "archive", "--quiet", "--parity", "none", "--encrypt-to", filepath.Join(dir, "me.pub"), "--as", "r", r1, out)
	mustRun(t, "info", "--key", filepath.Join(dir, "me.sec"), out) // sets the key for what follows
	files, want, restored := contents(t, out), readFile(t, r1), 0
	if len(files) != 2 {
		t.Fatal(len(files))
	}
	for range testrun.Pick(50, 200, 2000) {
		damaged := map[string][]byte{}
		for name, b := range files {
			b = bytes.Clone(b)
			switch at := rnd.IntN(len(b)); rnd.IntN(4) {
			case 0:
				b = b[:at]
			case 1:
				b = slices.Insert(b, at, byte(rnd.Uint32()))
			default:
				b[at] ^= 1 << rnd.IntN(8)
			}
			if name == "r.cdna" || rnd.IntN(2) == 0 {
				damaged["out/"+name] = b
			}
		}
		put(t, dir, damaged)
		var text bytes.Buffer
		_, err := compress.Unpack(context.Background(), filepath.Join(out, "r"), compress.UnpackOptions{Stream: &text, Threads: 1})
		if err == nil && text.String() != want || !strings.HasPrefix(want, text.String()) {
			t.Fatalf("other text: %v", err)
		}
		if err == nil {
			restored++
		}
	}
	if restored > 10 { // nothing is made of a byte or two of the header
		t.Errorf("%d restored", restored)
	}
}

// TestEncryptedPlaces: records are the same wherever the archive is, encrypted or not.
func TestEncryptedPlaces(t *testing.T) {
	testrun.NoRace(t)
	proxy := objectserver.NewProxy(t, objectserver.Start(t))
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": proxy.URL, "AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "secret12"} {
		t.Setenv(name, value)
	}
	storage.MountS3(t.Context())
	storage.MountWeb(t.Context(), "http")
	dir := t.TempDir()
	t.Chdir(dir)
	newKeys(t, dir)
	web := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer web.Close()
	simulated(t, dir, testrun.Pick[uint64](5000, 20_000, 20_000))
	for _, place := range []string{"here/", "s3://bucket/plain/"} {
		mustRun(t, "archive", "--quiet", "--slice-size", "1MB", "-1", "r1.fastq", "-2", "r2.fastq", "--as", "r", place)
	}
	for _, place := range []string{"sealed/", "s3://bucket/sealed/"} {
		mustRun(t, "archive", "--quiet", "--slice-size", "1MB", "--encrypt-to", "me.pub", "-1", "r1.fastq", "-2", "r2.fastq", "--as", "r", place)
	}
	requests, size := proxy.Requests.Load(), proxy.Bytes.Load()
	mustRun(t, "info", "--key", "me.sec", "s3://bucket/sealed/r")
	if requests, size = proxy.Requests.Load()-requests, proxy.Bytes.Load()-size; requests > 3 || size > 1e6 {
		t.Errorf("info: %d requests, %d bytes", requests, size)
	}
	query := strings.Split(readFile(t, "r1.fastq"), "\n")[1][:30]
	mustRun(t, "index", "--quiet", "here/")
	_, local, _ := runOutput("find", "--quiet", "--reads", query, "here/r")
	mustRun(t, "index", "--quiet", "--key", "me.sec", "s3://bucket/sealed/")
	mustRun(t, "verify", "--quiet", "--key", "me.sec", "s3://bucket/sealed/r")
	requests = proxy.Requests.Load()
	_, remote, errs := runOutput("find", "--quiet", "--reads", "--key", "me.sec", query, "s3://bucket/sealed/r")
	if requests = proxy.Requests.Load() - requests; requests > 20 {
		t.Errorf("find --reads: %d requests", requests)
	}
	if remote != local || local == "" {
		t.Errorf("find --reads: %q %s, local %q", remote, errs, local)
	}
	var all []*compress.Reader
	for _, path := range []string{"here/", "s3://bucket/plain/r", "sealed/r", "s3://bucket/sealed/r", web.URL + "/sealed/r.cdna"} {
		r, err := compress.Open(path, compress.ReaderOptions{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		all = append(all, r)
	}
	rnd, records := rand.New(rand.NewPCG(5, 8)), all[0].Inputs()[0].Records
	for range testrun.Pick(50, 200, 10_000) {
		from := rnd.Uint64N(records)
		q := compress.Query{Inputs: [][]int{nil, {0}, {1}}[rnd.IntN(3)], Want: compress.Want(rnd.IntN(8)),
			Records: []compress.RecordRange{{From: from, To: from + 1 + rnd.Uint64N(20)}}}
		var want []compress.Record
		for i, r := range all {
			n := 0
			for got, err := range r.Records(t.Context(), q) {
				if err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					got.Name, got.Bases, got.Quals = bytes.Clone(got.Name), bytes.Clone(got.Bases), bytes.Clone(got.Quals)
					want = append(want, got)
				}
				if n >= len(want) || got.Input != want[n].Input || got.Number != want[n].Number || !bytes.Equal(got.Name, want[n].Name) ||
					!bytes.Equal(got.Bases, want[n].Bases) || !bytes.Equal(got.Quals, want[n].Quals) {
					t.Fatalf("place %d, %+v: record %d differs", i, q, n)
				}
				n++
			}
			if n != len(want) || n == 0 {
				t.Fatalf("place %d, %+v: %d records, want %d", i, q, n, len(want))
			}
		}
	}
}
