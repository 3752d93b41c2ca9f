package main

import (
	"os"
	"slices"

	"github.com/spf13/pflag"

	"orcomgo/bins/crypt"
	"orcomgo/bins/vfs"
)

// encryption is the flags --encrypt-to and --key.
type encryption struct{ readers, keys []string }

// define defines the flags that a command has.
func (e *encryption) define(f *pflag.FlagSet, c *command) {
	if slices.Contains([]*command{&archiveCommand, &binCommand, &packCommand}, c) {
		f.StringArrayVar(&e.readers, "encrypt-to", nil, "encrypt for the holder of a public `KEY` (Crypt4GH); may be repeated")
	}
	if c.group != selfGroup {
		f.StringArrayVar(&e.keys, "key", nil, "read what is encrypted by a secret `KEY`; may be repeated")
	}
}

// begin reads the keys.
func (e *encryption) begin(s *streams) error {
	if vfs.Secrets != nil || vfs.Encrypt != nil { // of another run of this process, which tests have
		vfs.Secrets, vfs.Encrypt = nil, nil
	}
	for _, path := range e.keys {
		key, err := keyOf(path, func(file []byte) (crypt.Key, error) {
			return crypt.SecretKey(file, func() ([]byte, error) {
				if text, ok := os.LookupEnv("C4GH_PASSPHRASE"); ok {
					return []byte(text), nil
				}
				return passphrase(s, path)
			})
		})
		if err != nil {
			return err
		}
		vfs.Secrets = append(vfs.Secrets, key)
	}
	readers, err := publicKeys(e.readers)
	if err != nil || len(readers) == 0 {
		return err
	}
	vfs.Encrypt, err = crypt.New(readers...)
	return err
}

// publicKeys reads files of public keys.
func publicKeys(paths []string) (list []crypt.Key, err error) {
	for _, path := range paths {
		key, err := keyOf(path, crypt.PublicKey)
		if err != nil {
			return nil, err
		}
		list = append(list, key)
	}
	return list, nil
}

// keyOf reads a file of a key.
func keyOf(path string, parse func(file []byte) (crypt.Key, error)) (key crypt.Key, err error) {
	file, err := os.ReadFile(path)
	if err == nil {
		key, err = parse(file)
	}
	return key, vfs.OfPath(path, err)
}
