package paste

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"wirebench/defs/schema"
)

// A truncated text yields its complete part: always if it is a conversation, in a file if it has several messages.
func TestTextsThatBreakOff(t *testing.T) {
	follow := "00000000  01 02 03 04 05 06 07 08  09 0a 0b 0c 0d 0e 0f 10   ........ ........\n" +
		"    00000000  aa bb cc                                           ...\n" +
		"00000010  11 12 1"
	for _, c := range []struct {
		name, text string
		file       bool
		want       []string // nil: it is an error
	}{
		{"follow", follow, false, []string{"0102030405060708090a0b0c0d0e0f10", "aabbcc"}},
		{"csv", "n,dir,data\n1,c2s,0102ff\n2,s2c,03ff04\n3,c2s,05f", false, []string{"0102ff", "03ff04"}},
		{"text2pcap", "O\n000000 01 02\n\nI\n000000 03 04\n\nI\n000", false, []string{"0102", "0304"}},
		{"hex in a clipboard", "0102ff\n\n03ff04\n\n05f", false, nil},
		{"hex in a file", "0102ff\n\n03ff04\n\n05f", true, []string{"0102ff", "03ff04"}},
		{"the last message is a part", "0102ff\n\n03ff04\n\n0506\n07f", true, []string{"0102ff", "03ff04"}},
		{"one message", "0102ff\n03ff0", true, nil},
		{"wrong, and whole", "0102ff\n\n03ff04\n\n05f\n", true, nil},
	} {
		read := Recognise
		if c.file {
			read = func(text string) (*Paste, error) { return RecogniseFile(text, nil) }
		}
		p, err := read(c.text)
		var got []string
		if err == nil {
			for _, m := range p.Messages {
				got = append(got, hex.EncodeToString(m.Bytes))
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: got %v (%v), want %v", c.name, got, err, c.want)
		}
		if c.want != nil && (err != nil || len(p.Notes) == 0) {
			t.Errorf("%s: no note says that it breaks off", c.name)
		}
	}
}

// Columns of base64 in which some cells look like hex, and texts with escapes of JSON.
func TestBase64ThatLooksLikeHex(t *testing.T) {
	for _, c := range []struct{ text, first string }{
		{`{"raw":"AAAAAAAA"}` + "\n" + `{"raw":"AAAAAAAAAA=="}`, "000000000000"},
		{`{"raw":"\/\/8="}` + "\n" + `{"raw":"AAAAAAAAAA=="}`, "ffff"},
		{`{"raw":"00112233"}` + "\n" + `{"raw":"44556677"}`, "00112233"},
	} {
		p, err := Recognise(c.text)
		if err != nil || len(p.Messages) != 2 || hex.EncodeToString(p.Messages[0].Bytes) != c.first {
			t.Errorf("%s: %v, %+v", c.text, err, p)
		}
	}
	if _, err := Recognise(`{"raw":"00112233"}` + "\n" + `{"raw":"4455667g"}`); err == nil {
		t.Error("hex with a wrong digit is read as something else")
	}
}

// No program omits a part of a line: of the readings of an offset after "*" only one may fit.
func TestStarTellsDecimalOffsets(t *testing.T) {
	text := "0000000 " + strings.TrimSuffix(strings.Repeat("00 ", 16), " ") + "\n*\n0000064\n"
	p, err := Recognise(text)
	if err != nil || len(p.Messages) != 1 || !bytes.Equal(p.Messages[0].Bytes, make([]byte, 64)) {
		t.Fatalf("%v %+v", err, p)
	}
}

// Fields of tshark -T ek without bytes of packets are rows of connections, and small packets of one direction are a Follow dump.
func TestRowsOfEKAndUnevenFollow(t *testing.T) {
	ek := `{"index":{"_index":"packets"}}
{"timestamp":"1700000000000","layers":{"ip":{"ip_ip_src":"10.0.0.1","ip_ip_dst":"10.0.0.2"},"tcp":{"tcp_tcp_srcport":"40000","tcp_tcp_dstport":"7801","tcp_tcp_payload":"01:02:03:04"}}}
{"timestamp":"1700000000001","layers":{"ip":{"ip_ip_src":"10.0.0.2","ip_ip_dst":"10.0.0.1"},"tcp":{"tcp_tcp_srcport":"7801","tcp_tcp_dstport":"40000","tcp_tcp_payload":"05:06:07:08"}}}
`
	p, err := Recognise(ek)
	if err != nil || !p.Stream || len(p.Messages) != 2 || p.Messages[0].Dir != schema.ToServer || p.Messages[1].Dir != schema.ToClient {
		t.Errorf("ek: %v %+v", err, p)
	}
	p, err = Recognise("00000000  01 02 03                                           ...\n00000003  04 05 06 07 08                                     .....\n")
	if err != nil || p.Form != "follow-hex" || len(p.Messages) != 2 {
		t.Errorf("follow: %v %+v", err, p)
	}
}
