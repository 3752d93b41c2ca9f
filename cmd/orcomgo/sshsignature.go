package main

import (
	"bytes"
	"crypto/rand"
	"crypto/sha512"
	"encoding/pem"
	"errors"
	"fmt"
	"os"

	"golang.org/x/crypto/ssh"
	"golang.org/x/term"
)

// Signatures are those of ssh-keygen -Y sign -n file, so that ssh-keygen -Y verify takes them: OpenSSH, PROTOCOL.sshsig.
const (
	signatureExt   = ".sig"
	signatureBlock = "SSH SIGNATURE"
	signatureMagic = "SSHSIG"
	namespace      = "file"
	signatureHash  = "sha512"
)

// signedBySSH is what is signed, after the magic.
type signedBySSH struct {
	Namespace, Reserved, Hash string
	Sum                       []byte
}

// sshSignature is a signature, after the magic.
type sshSignature struct {
	Version                   uint32
	Key                       []byte
	Namespace, Reserved, Hash string
	Signature                 []byte
}

// toSign returns what is signed of a text.
func toSign(text []byte) []byte {
	sum := sha512.Sum512(text)
	return append([]byte(signatureMagic), ssh.Marshal(signedBySSH{Namespace: namespace, Hash: signatureHash, Sum: sum[:]})...)
}

// signSSH returns a file with the signature of a text.
func signSSH(key ssh.Signer, text []byte) ([]byte, error) {
	algorithm := key.PublicKey().Type()
	if algorithm == ssh.KeyAlgoRSA {
		algorithm = ssh.KeyAlgoRSASHA512
	}
	with, ok := key.(ssh.AlgorithmSigner)
	if !ok {
		return nil, fmt.Errorf("keys of type %s can't sign", algorithm)
	}
	s, err := with.SignWithAlgorithm(rand.Reader, toSign(text), algorithm)
	if err != nil {
		return nil, err
	}
	blob := ssh.Marshal(sshSignature{1, key.PublicKey().Marshal(), namespace, "", signatureHash, ssh.Marshal(s)})
	return pem.EncodeToMemory(&pem.Block{Type: signatureBlock, Bytes: append([]byte(signatureMagic), blob...)}), nil
}

// checkSSH checks the signature of a text, and returns the fingerprint of the key that it was made with. Whose key that is it doesn't say.
func checkSSH(file, text []byte) (signedBy string, err error) {
	block, _ := pem.Decode(file)
	if block == nil || block.Type != signatureBlock || !bytes.HasPrefix(block.Bytes, []byte(signatureMagic)) {
		return "", errors.New("expected a signature as ssh-keygen -Y sign makes it")
	}
	var blob sshSignature
	var s ssh.Signature
	if err := ssh.Unmarshal(block.Bytes[len(signatureMagic):], &blob); err != nil {
		return "", err
	}
	if blob.Version != 1 || blob.Namespace != namespace || blob.Hash != signatureHash {
		return "", fmt.Errorf("expected version 1, namespace %s, hash %s", namespace, signatureHash)
	}
	if err := ssh.Unmarshal(blob.Signature, &s); err != nil {
		return "", err
	}
	key, err := ssh.ParsePublicKey(blob.Key)
	if err != nil {
		return "", err
	}
	if key.Type() == ssh.KeyAlgoRSA && s.Format == ssh.KeyAlgoRSA { // by SHA-1
		return "", errors.New("expected a signature by SHA-2")
	}
	return "signed by " + ssh.FingerprintSHA256(key), key.Verify(toSign(text), &s)
}

// readKey reads a private key of SSH. If it has a passphrase, the terminal is asked for that.
func readKey(path string, s *streams) (ssh.Signer, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	key, err := ssh.ParsePrivateKey(text)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		var phrase []byte
		if phrase, err = passphrase(s, path); err == nil {
			key, err = ssh.ParsePrivateKeyWithPassphrase(text, phrase)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", oneLine(path), err)
	}
	return key, nil
}

// passphrase asks the terminal for that of a key.
func passphrase(s *streams, path string) ([]byte, error) {
	in, ok := s.in.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return nil, errors.New("it has a passphrase: expected a terminal to ask for it")
	}
	fmt.Fprintf(s.err, "passphrase of %s: ", oneLine(path))
	phrase, err := term.ReadPassword(int(in.Fd()))
	fmt.Fprintln(s.err)
	return phrase, err
}
