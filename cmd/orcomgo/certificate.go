package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"orcomgo/bins/commit"
	"orcomgo/compress"
	"orcomgo/compress/tree"
)

// certificate is the statement of verify --certificate: what was decoded from disk, and the checksums that it had.
type certificate struct {
	Statement string             `json:"statement"`
	Version   string             `json:"version"` // of the program that verified
	Commit    string             `json:"commit"`
	Time      time.Time          `json:"time"` // when all had been compared
	Archives  []certifiedArchive `json:"archives"`
	// SHA256 is that of this statement with "" here, so that a change is noticed without a signature, too.
	SHA256 string `json:"sha256"`
}

// certifiedArchive is an archive or a side archive.
type certifiedArchive struct {
	Archive string           `json:"archive"`
	ID      string           `json:"id,omitempty"` // of an archive of reads
	Files   []fileSum        `json:"files"`        // that it consists of
	Inputs  []certifiedInput `json:"inputs"`
}

// fileSum is a file or a text.
type fileSum struct {
	Name   string `json:"name"`
	Bytes  uint64 `json:"bytes"`
	SHA256 string `json:"sha256"`
	MD5    string `json:"md5,omitempty"`
}

// certifiedInput is what an archive gives back of an input.
type certifiedInput struct {
	Text    fileSum                   `json:"text"`
	Records uint64                    `json:"records,omitempty"`
	Checked string                    `json:"checked"`        // as compress.FileStatus
	Every   bool                      `json:"every_byte"`     // the text is that of the input, byte for byte
	Exact   bool                      `json:"exact"`          // the file comes back as it was stored, and not only its text
	File    *compress.FileInformation `json:"file,omitempty"` // as it was stored, if that is recorded
}

// statement is what a certificate says of its archives.
const statement = "Each archive was decoded from disk, all of it, and each text that came back had the checksum below, which was taken " +
	"when the archive was made."

// bytes returns the certificate as it is written.
func (c *certificate) bytes() ([]byte, error) {
	text, err := json.MarshalIndent(c, "", "  ")
	return append(text, '\n'), err
}

// sum returns the checksum of what the certificate says.
func (c certificate) sum() (string, error) {
	c.SHA256 = ""
	text, err := c.bytes()
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}

// certify describes an archive that was verified, and all of whose files are OK.
func (o *verifyFlags) certify(ctx context.Context, a located, status []compress.FileStatus) (c certifiedArchive, err error) {
	c.Archive = filepath.Base(a.path())
	paths := []string{a.path() + commit.ParityExt}
	if a.tree != nil {
		paths = append(paths, a.path())
		c.Inputs, err = o.sideInputs(ctx, *a.tree, status)
	} else {
		paths = append(paths, a.path()+commit.PackedDataExt, a.path()+commit.PackedMetaExt)
		c.ID, c.Inputs, err = readInputs(a.archive, status)
	}
	for _, path := range paths {
		var sum fileSum
		if err == nil {
			sum, err = sumOfFile(path)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = nil
		case err != nil:
			return c, err
		default:
			c.Files = append(c.Files, sum)
		}
	}
	return c, err
}

// sideInputs describes the files of a side archive.
func (o *verifyFlags) sideInputs(ctx context.Context, t commit.Tree, status []compress.FileStatus) (list []certifiedInput, err error) {
	r, err := openTree(t, tree.Options{Threads: o.threads, Memory: uint64(o.memory)})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	sums, err := r.Sums(ctx, false)
	if err != nil {
		return nil, err
	}
	checked := make(map[string]string)
	for i := range status {
		checked[status[i].Name] = status[i].Checked
	}
	for i := range r.Entries {
		if e := &r.Entries[i]; e.Kind == tree.File && sums[i] != nil {
			list = append(list, certifiedInput{
				Text:    fileSum{Name: e.Path, Bytes: uint64(e.Size), SHA256: hex.EncodeToString(sums[i].SHA256[:])},
				Checked: checked[e.Path], Every: true, Exact: true,
			})
		}
	}
	return list, nil
}

// readInputs describes the inputs of an archive of reads.
func readInputs(e *commit.Entry, status []compress.FileStatus) (id string, list []certifiedInput, err error) {
	n, err := compress.Info(*e)
	if err != nil {
		return "", nil, err
	}
	if n.Stage != "packed" || !n.Verified {
		return "", nil, fmt.Errorf("%s: it has no checksums to certify: it is not packed, or was packed with --no-verify", e.Path())
	}
	for i := range n.Inputs {
		in := &n.Inputs[i]
		if f := in.File; f != nil && !f.Compressed && n.Lossless {
			f.MD5 = status[i].MD5
		}
		list = append(list, certifiedInput{
			Text:    fileSum{Name: in.Name, Bytes: in.OutBytes, SHA256: in.SHA256, MD5: status[i].MD5},
			Records: in.Records, Checked: status[i].Checked, Every: n.Lossless, File: in.File,
			Exact: n.Lossless && (in.Exact || in.File != nil && !in.File.Compressed),
		})
	}
	return n.ID, list, nil
}

// sumOfFile returns size and checksum of a file.
func sumOfFile(path string) (s fileSum, err error) {
	f, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return fileSum{Name: filepath.Base(path), Bytes: uint64(n), SHA256: hex.EncodeToString(h.Sum(nil))}, err
}

// writeCertificate writes the statement about archives, and its signature if there is a key.
func (o *verifyFlags) writeCertificate(s *streams, archives []certifiedArchive) error {
	p := programVersion()
	c := certificate{Statement: statement, Version: p.Version, Commit: p.Commit, Archives: archives,
		Time: time.Now().UTC().Truncate(time.Second)}
	var err error
	if c.SHA256, err = c.sum(); err != nil {
		return err
	}
	text, err := c.bytes()
	if err != nil {
		return err
	}
	files := []newFile{{path: o.certificate, content: text}}
	if o.signer != nil {
		signature, err := signSSH(o.signer, text)
		if err != nil {
			return fmt.Errorf("%s: %w", o.sign, err)
		}
		files = append(files, newFile{path: o.certificate + signatureExt, content: signature})
	}
	if err := writeNew(files, false); err != nil || o.quiet || o.json {
		return err
	}
	fmt.Fprintf(s.err, "%s: the certificate of %s\n", oneLine(o.certificate), plural(uint64(len(archives)), "archive"))
	return nil
}

// readCertificate reads a certificate and, if there is one, its signature. signedBy is the fingerprint of the key.
func readCertificate(path string) (c certificate, signedBy string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return c, "", err
	}
	fail := func(why string) (certificate, string, error) { return c, "", fmt.Errorf("%s: %s", oneLine(path), why) }
	if err := json.Unmarshal(text, &c); err != nil || c.Statement == "" {
		return fail("it is no certificate of orcomgo verify")
	}
	written, err := c.bytes()
	if err != nil {
		return c, "", err
	}
	if sum, err := c.sum(); err != nil || sum != c.SHA256 || !bytes.Equal(written, text) {
		return fail("it is not as it was written: its own SHA-256 differs")
	}
	signature, err := os.ReadFile(path + signatureExt)
	if errors.Is(err, fs.ErrNotExist) {
		return c, "", nil
	} else if err != nil {
		return c, "", err
	}
	if signedBy, err = checkSSH(signature, text); err != nil {
		return fail(fmt.Sprintf("the signature in %s is not of it: %v", oneLine(path+signatureExt), err))
	}
	return c, signedBy, nil
}

// compareCertificate returns an error unless archives, which were verified, are those that a certificate is of.
func (o *verifyFlags) compareCertificate(s *streams, archives []certifiedArchive) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%s: %s", oneLine(o.check), fmt.Sprintf(format, args...))
	}
	there := make(map[string]certifiedArchive)
	for _, a := range archives {
		there[a.Archive] = a
	}
	for _, want := range o.certified.Archives {
		now, ok := there[want.Archive]
		if !ok {
			return fail("%s, of which it is, is not among what was verified", oneLine(want.Archive))
		}
		delete(there, want.Archive)
		if what := difference(want, now); what != "" {
			return fail("%s is not what it is of: %s", oneLine(want.Archive), what)
		}
	}
	for name := range there {
		return fail("it says nothing of %s", oneLine(name))
	}
	if !o.quiet && !o.json {
		fmt.Fprintf(s.err, "%s: all is as it says, of %s, %s\n", oneLine(o.check), o.certified.Time.Format(time.RFC3339),
			cmp.Or(o.signedBy, "not signed"))
	}
	return nil
}

// difference says in what an archive is not what a certificate says; "" if it is.
func difference(want, now certifiedArchive) string {
	if want.ID != now.ID {
		return "its ID is another"
	}
	for i := range want.Files {
		if i >= len(now.Files) || want.Files[i] != now.Files[i] {
			return fmt.Sprintf("%s was changed or is missing", oneLine(want.Files[i].Name))
		}
	}
	was, err := json.Marshal(want)
	is, err2 := json.Marshal(now)
	if err := errors.Join(err, err2); err != nil {
		return err.Error()
	}
	if !bytes.Equal(was, is) {
		return "its inputs are others"
	}
	return ""
}
