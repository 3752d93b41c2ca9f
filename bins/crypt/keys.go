package crypt

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/neicnordic/crypt4gh/keys"
	"golang.org/x/crypto/ssh"
)

// PublicKey returns the public key in the content of a file, of Crypt4GH, OpenSSH (Ed25519) or OpenSSL.
func PublicKey(file []byte) (Key, error) {
	text := strings.TrimSpace(string(file))
	if !strings.HasPrefix(text, "ssh-ed25519 ") && !strings.Contains(text, "PUBLIC KEY-----") {
		return Key{}, errors.New("it is no public key: expected one of Crypt4GH, or of OpenSSH (Ed25519)")
	}
	return checked(keys.ReadPublicKey(bytes.NewReader(file)))
}

// SecretKey returns the secret key in the content of a file, as PublicKey does. If it has a passphrase, ask returns that.
func SecretKey(file []byte, ask func() ([]byte, error)) (key Key, err error) {
	defer func() { // package keys believes what the file says of lengths
		if recover() != nil {
			err = errors.New("it is damaged")
		}
	}()
	key, err = checked(keys.ReadPrivateKey(bytes.NewReader(file), nil))
	var locked *ssh.PassphraseMissingError
	_, ssherr := ssh.ParseRawPrivateKey(file)
	if err == nil || !errors.As(ssherr, &locked) && !strings.Contains(err.Error(), "password") {
		return key, err
	}
	passphrase, err := ask()
	if err != nil {
		return key, err
	}
	if key, err = checked(keys.ReadPrivateKey(bytes.NewReader(file), passphrase)); err != nil {
		err = errors.New("this is not its passphrase")
	}
	return key, err
}

// checked refuses the key that package keys returns for those of kinds that it does not know.
func checked(key Key, err error) (Key, error) {
	if err == nil && key == (Key{}) {
		err = errors.New("it is a key of another kind: expected one of Crypt4GH, or of OpenSSH (Ed25519)")
	}
	if err != nil {
		err = fmt.Errorf("no key can be read there: %w", err)
	}
	return key, err
}
