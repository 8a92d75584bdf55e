package paste

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

// Binary data are refused; text with a few odd bytes is not.
func TestBinaryIsNoText(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		data := make([]byte, 40+i*20)
		for k := range data {
			data[k] = byte(random.Uint32())
		}
		text := string(data) + ` "\x41\x42" ` // occurs in any larger file
		p, err := Recognise(text)
		var wrong *Error
		if !errors.As(err, &wrong) || !strings.Contains(wrong.Message, "no text") {
			t.Fatalf("file %d: %v, %v", i, p, err)
		}
	}
	for _, text := range []string{
		"\"\\x41\x00\"", "\x01\x02\x03\x04 \"\\x41\"",
	} {
		if p, err := Recognise(text); err == nil {
			t.Errorf("%q: %+v", text, p)
		}
	}
	for _, text := range []string{
		"01 02 03\x00", "\"\\x41\\x42\"\n\f", "// \xe4\xf6\xfc\nchar b[] = {1, 2, 3};", strings.Repeat("// a comment of some length\n", 20) + "\x07 char b[] = {1, 2, 3};",
	} {
		if _, err := Recognise(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Hex in lines is one message per line in a file, unless it looks wrapped.
func TestHexOfFile(t *testing.T) {
	wide := strings.Repeat("ab", 20)
	for _, c := range []struct {
		text string
		n    int
	}{
		{"0102\n03\n", 2},
		{"02\n02\n02\n", 3},
		{wide + "\n" + wide + "\nab\n", 1},
		{wide + "\nab\n" + wide + "\n", 3},
		{wide + "\n" + wide + wide, 2},
		{"0102\n\n03\n", 2},
		{"0102 0304", 1},
		{"010\n2", 1},
		{wide + "\n\n" + wide, 2},
	} {
		if p, err := RecogniseFile(c.text, nil); err != nil || len(p.Messages) != c.n {
			t.Errorf("%.50q: %v, %v", c.text, p, err)
		}
	}
}
