package envelope

import "testing"

// The check values are those of the CRC RevEng catalogue, RFC 1950 and RFC 1146 for "123456789", and sums by hand.
func TestSums(t *testing.T) {
	want := map[string]uint64{
		"crc8": 0xF4, "crc8-maxim": 0xA1, "crc16": 0xBB3D, "crc16-modbus": 0x4B37, "crc16-ccitt": 0x29B1, "crc16-xmodem": 0x31C3,
		"crc16-kermit": 0x2189, "crc16-x25": 0x906E, "crc32": 0xCBF43926, "crc32c": 0xE3069283, "crc32-bzip2": 0xFC891918,
		"crc32-mpeg2": 0x0376E6E7, "adler32": 0x091E01DE, "fletcher16": 0x1EDE, "fletcher32": 0xDF09D509, "sum8": 0xDD, "sum16": 0x01DD,
		"crc16-mcrf4xx": 0x6F91, "sum32": 0x000001DD, "xor8": 0x31,
	}
	data := []byte("123456789")
	for i := range sums {
		s := &sums[i]
		if got := s.Of(data, 0, len(data), 0, 0, nil); got != want[s.name] {
			t.Errorf("%s: %#x, want %#x", s.name, got, want[s.name])
		}
		zeroed := append([]byte(nil), data...)
		zeroed[3], zeroed[4] = 0, 0
		if a, b := s.Of(data, 1, 9, 3, 5, nil), s.Of(zeroed, 1, 9, 0, 0, nil); a != b {
			t.Errorf("%s: with its own bytes as zero %#x, want %#x", s.name, a, b)
		}
		if a, b := s.Of(data, 2, 2, 0, 9, nil), s.Of(nil, 0, 0, 0, 0, nil); a != b {
			t.Errorf("%s: of nothing %#x, want %#x", s.name, a, b)
		}
	}
	if len(want) != len(sums) {
		t.Errorf("%d checksums, %d check values", len(sums), len(want))
	}
	// A CRC of the standard library's tables has the value of the plain algorithm.
	plain := *(&Sum{name: "crc32"}).named()
	plain.Final = 0
	if a, b := plain.Of(data, 0, 9, 0, 0, nil)^0xFFFFFFFF, want["crc32"]; a != b {
		t.Errorf("plain %#x, want %#x", a, b)
	}
}
