package paste

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"wirebench/codec/packettest"
)

func intelRecord(kind byte, address uint16, data []byte) string {
	b := append([]byte{byte(len(data)), byte(address >> 8), byte(address), kind}, data...)
	sum := byte(0)
	for _, c := range b {
		sum -= c
	}
	return fmt.Sprintf(":%X%02X\n", b, sum)
}

func motorolaRecord(address uint32, data []byte) string {
	b := append([]byte{byte(len(data) + 5), byte(address >> 24), byte(address >> 16), byte(address >> 8), byte(address)}, data...)
	sum := byte(0xff)
	for _, c := range b {
		sum -= c
	}
	return fmt.Sprintf("S3%X%02X\n", b, sum)
}

// Bytes in records come back; a wrong checksum is an error, and a gap another message.
func TestRecordsComeBack(t *testing.T) {
	for _, b := range packettest.Samples() {
		if len(b) == 0 || len(b) > 60_000 {
			continue
		}
		intel, motorola := intelRecord(4, 0, []byte{0x08, 0x00}), ""
		for at := 0; at < len(b); at += 16 {
			part := b[at:min(at+16, len(b))]
			intel += intelRecord(0, uint16(at), part)
			motorola += motorolaRecord(uint32(0x8000000+at), part)
		}
		intel += intelRecord(1, 0, nil)
		for _, text := range []string{intel, motorola} {
			p, err := Recognise(text)
			if err != nil || p.Form != formRecords || len(p.Messages) != 1 || !bytes.Equal(p.Messages[0].Bytes, b) || len(p.Notes) != 0 {
				t.Fatalf("%v %+v\n%s", err, p, text)
			}
			digit := strings.LastIndexAny(text[:len(text)-4], "0123456789")
			broken := text[:digit] + string('0'+(text[digit]-'0'+1)%10) + text[digit+1:]
			if p, err := RecogniseAs(broken, formRecords); err == nil {
				t.Fatalf("a wrong digit: %+v\n%s", p, broken)
			}
		}
	}
	p, err := Recognise(intelRecord(0, 0, []byte{1, 2}) + intelRecord(0, 2, []byte{3}) + intelRecord(0, 16, []byte{4}))
	if err != nil || show(p) != "010203; 04" || len(p.Notes) != 1 {
		t.Errorf("%v %+v", err, p)
	}
}
