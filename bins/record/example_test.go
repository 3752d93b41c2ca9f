package record_test

import (
	"fmt"
	"log"

	"orcomgo/bases"
	"orcomgo/bins/record"
)

// The same record in three forms.
func ExampleAppendRecord() {
	for _, form := range []record.Form{
		{},                       // four lines
		{Plus: record.PlusName},  // the name again after '+'
		{SeqWidth: 5, CR: 1 | 4}, // a wrapped sequence; CR LF after the name and after '+'
	} {
		text, err := record.AppendRecord(nil, record.FASTQ, []byte("r1"), []byte("ACGTNACG"), []byte("IIIIIIII"), &form)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%q\n", text)
	}
	// Output:
	// "@r1\nACGTNACG\n+\nIIIIIIII\n"
	// "@r1\nACGTNACG\n+r1\nIIIIIIII\n"
	// "@r1\r\nACGTN\nACG\n+\r\nIIIIIIII\n"
}

// Two bits a base hold A, C, G and T. Everything else is an exception.
func ExampleApplyException() {
	letters := bases.AppendLetters(nil, []byte{0b11_10_01_00}, 4, false)
	fmt.Printf("%s\n", letters)
	if err := record.ApplyException(letters, record.Exception{Start: 1, Len: 2, Byte: 'N'}); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", letters)
	// Output:
	// ACGT
	// ANNT
}

// Inputs are restored under their own names, with another extension if their text becomes another kind.
func ExampleRestoredNames() {
	inputs := []record.Input{{Name: "run_R1.fastq", Mate: 1, First: true}, {Name: "run_R2.fastq", Mate: 0}}
	for _, o := range []record.Options{{}, {Quality: record.QualityDrop}, {ReadsOnly: true}} {
		names, err := record.RestoredNames(inputs, o, record.Restored{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(names)
	}
	// Output:
	// [run_R1.fastq run_R2.fastq]
	// [run_R1.fasta run_R2.fasta]
	// [run_R1.reads run_R2.reads]
}
