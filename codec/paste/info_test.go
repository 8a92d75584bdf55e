package paste

import "testing"

func TestConversation(t *testing.T) {
	for text, want := range map[string]bool{
		"0600 0100 0500": false,
		"00000000  01 02 00 68 69 02 02 02  01 05 00 68 65 6c 6c 6f  ...hi... ...hello\n":                                                        false,
		"    00000000  01 02 00 68                                       ...h\n00000000  02 02                                             ..\n": true,
		"char peer0_0[] = { /* Packet 1 */\n0x01, 0x02 };\nchar peer1_0[] = { /* Packet 2 */\n0x03 };\n":                                         true,
	} {
		p, err := Recognise(text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if got := p.Conversation(); got != want || p.Info().Conversation != want {
			t.Errorf("%s: %v", p.Form, got)
		}
	}
}
