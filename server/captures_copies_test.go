package server

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf16"

	"wirebench/codec/pack"
	"wirebench/defs/schema"
	"wirebench/server/servertest"
)

// copiesOf are ways in which other fields and messages can have a text.
func copiesOf(t *testing.T, text string) map[string][]byte {
	t.Helper()
	var wide []byte
	for _, u := range utf16.Encode([]rune(text)) {
		wide = binary.LittleEndian.AppendUint16(wide, u)
	}
	out := map[string][]byte{
		"plain": []byte(text), "UTF-16": wide, "hex": []byte(hex.EncodeToString([]byte(text))), "pairs": fmt.Appendf(nil, "% X", text),
		"base64": []byte(base64.StdEncoding.EncodeToString([]byte(text))), "url": []byte("?p=" + url.QueryEscape(text)),
	}
	for _, name := range schema.Packings() {
		method, _ := schema.PackingNamed(name)
		data, err := new(pack.Codecs).Compress(nil, method, []byte(strings.Repeat("before ", 9)+text+strings.Repeat(" after", 9)))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = data
	}
	return out
}

// A secret value leaves with no export where another message, field, note or name has it, whatever way it has it.
func TestExportHidesCopies(t *testing.T) {
	const secret = "Hunter2&Sesame"
	s := captureServer(t, "tera", map[string]string{
		"C_LOGIN.1.def": "string user\nstring password # @secret\n", "S_CHAT.1.def": "bytes extra\nuint32 id\n", "protocol.1.map": "C_LOGIN 17\nS_CHAT 18\n",
	})
	var log strings.Builder
	n := 0
	line := func(name string, code int, body []byte) {
		n++
		message := append([]byte{byte(len(body) + 4), byte((len(body) + 4) >> 8), byte(code), byte(code >> 8)}, body...)
		text, _ := json.Marshal(map[string]any{"n": n, "time": "2026-01-02T03:04:05Z", "conn": "192.0.2.2:1024-192.0.2.1:1024", "dir": "c2s", "kind": "message", "from": []int{}, "code": code, "message": name, "hex": hex.EncodeToString(message)})
		log.Write(append(text, '\n'))
	}
	copies := copiesOf(t, secret)
	var wide []byte
	for _, c := range secret {
		wide = append(wide, byte(c), 0)
	}
	line("C_LOGIN.1", 17, append(append([]byte{8, 0, 14, 0, 'm', 0, 'e', 0, 0, 0}, wide...), 0, 0))
	for _, form := range copies {
		chat := append([]byte{12, 0, byte(len(form)), byte(len(form) >> 8), 7, 0, 0, 0}, form...)
		line("S_CHAT.1", 18, chat)
		line("", 999, form)
	}
	x := servertest.Keep(t, s, "of-"+url.QueryEscape(secret)+".jsonl", []byte(log.String()))
	if code, body := servertest.Patch(t, s, x.ID, `{"text":"it is `+secret+`","notes":{"2":"look: `+secret+`","3":"nothing"}}`); code != 200 {
		t.Fatal(code, body)
	}
	for _, format := range []string{"hex", "csv", "csv&values=true&columns=S_CHAT.extra", "tsv&values=true", "jsonl", "pcapng", "pcapng&comments=true"} {
		hidden, _ := exported(t, s, x.ID, "format="+format)
		open, _ := exported(t, s, x.ID, "format="+format+"&secrets=true")
		for way, form := range copies {
			has := func(text string) bool {
				return strings.Contains(text, string(form)) || strings.Contains(strings.ToLower(text), hex.EncodeToString(form)) || bytes.Contains([]byte(text), form)
			}
			if has(hidden) {
				t.Errorf("%s: the secret is there, %s", format, way)
			}
			if !has(open) {
				t.Errorf("%s: with secrets it is not there, %s", format, way)
			}
		}
		for _, kept := range []string{"nothing"} {
			if format != "hex" && !strings.Contains(hidden, kept) {
				t.Errorf("%s: a harmless note is gone", format)
			}
		}
	}
}
