package corpora

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
)

// joined formats each byte.
func joined(data []byte, format, sep string) string {
	var b strings.Builder
	for i, x := range data {
		if i > 0 {
			b.WriteString(sep)
		}
		fmt.Fprintf(&b, format, x)
	}
	return b.String()
}

// wrapped formats bytes in lines of n.
func wrapped(data []byte, n int, format, sep, indent, end string) string {
	var b strings.Builder
	for len(data) > 0 {
		line := data[:min(n, len(data))]
		data = data[len(line):]
		b.WriteString(indent + joined(line, format, sep) + end)
	}
	return b.String()
}

func ascii(data []byte) string {
	out := make([]byte, len(data))
	for i, x := range data {
		if out[i] = '.'; x >= 0x20 && x < 0x7f {
			out[i] = x
		}
	}
	return string(out)
}

// words formats pairs of bytes, the second one first.
func words(data []byte, format string) string {
	var out []string
	for i := 0; i < len(data); i += 2 {
		w := int(data[i])
		if i+1 < len(data) {
			w |= int(data[i+1]) << 8
		}
		out = append(out, fmt.Sprintf(format, w))
	}
	return strings.Join(out, " ")
}

// dump writes lines of n bytes with their offsets. Repeated lines are a "*" if that may be said of the line.
func dump(data []byte, n int, offset string, line func(data []byte) string, repeats func(data []byte) bool, end bool) string {
	var b strings.Builder
	var last []byte
	starred := false
	for at := 0; at < len(data); at += n {
		part := data[at:min(at+n, len(data))]
		if repeats != nil && bytes.Equal(part, last) && repeats(part) && at+n < len(data) {
			if !starred {
				b.WriteString("*\n")
			}
			starred = true
			continue
		}
		starred, last = false, part
		fmt.Fprintf(&b, offset+"%s\n", at, line(part))
	}
	if end {
		fmt.Fprintf(&b, offset+"\n", len(data))
	}
	return b.String()
}

// The lines of dumps.
func xxdLine(data []byte) string {
	var b strings.Builder
	for i := range 16 {
		if i%2 == 0 {
			b.WriteByte(' ')
		}
		if i < len(data) {
			fmt.Fprintf(&b, "%02x", data[i])
		} else {
			b.WriteString("  ")
		}
	}
	return b.String() + "  " + ascii(data)
}

func canonicalLine(data []byte) string {
	return fmt.Sprintf("  %-48s  |%s|", halves(data), ascii(data))
}

// halves has two spaces after the eighth byte.
func halves(data []byte) string {
	if len(data) <= 8 {
		return joined(data, "%02x", " ")
	}
	return joined(data[:8], "%02x", " ") + "  " + joined(data[8:], "%02x", " ")
}

func wordsLine(data []byte) string { return " " + words(data, "%04x") }

func bytesLine(data []byte) string { return " " + joined(data, "%02x", " ") }

func always([]byte) bool { return true }

func zeros(data []byte) bool { return len(bytes.Trim(data, "\x00")) == 0 }

// quoted is a literal in which bytes are as they are if they can be.
func quoted(data []byte, quote byte, escape func(x byte) string) string {
	var b strings.Builder
	for _, x := range data {
		switch {
		case x == quote || x == '\\':
			b.WriteString(`\` + string(rune(x)))
		case x < 0x20 || x >= 0x7f:
			b.WriteString(escape(x))
		default:
			b.WriteByte(x)
		}
	}
	return string(quote) + b.String() + string(quote)
}

func hexEscape(x byte) string { return fmt.Sprintf(`\x%02x`, x) }

func lines76(text, indent string) string {
	var b strings.Builder
	for len(text) > 0 {
		n := min(76, len(text))
		b.WriteString(indent + text[:n] + "\n")
		text = text[n:]
	}
	return b.String()
}

// pasted makes texts of programs with bytes in them.
func (m *maker) pasted() {
	chat := wellKnown[len(wellKnown)-1]
	said := row{"channel": 3, "gameId": "18374403900871474942", "gm": true, "name": "Aldor", "message": "\"hi\" \\ 50% {0x42};\nö한~ *"}
	data := frame(chat.code, chat.fs, said)
	x64 := base64.StdEncoding.EncodeToString(data)
	size := len(data)
	formats := map[string]string{
		"xxd":                      dump(data, 16, "%08x:", xxdLine, nil, false),
		"xxd-p":                    wrapped(data, 30, "%02x", "", "", "\n"),
		"hexdump-C":                dump(data, 16, "%08x", canonicalLine, nil, true),
		"hexdump-words":            dump(data, 16, "%07x", wordsLine, nil, true),
		"od-Ax-tx1":                dump(data, 16, "%06x", bytesLine, nil, true),
		"od-tx2":                   dump(data, 16, "%07o", wordsLine, nil, true),
		"od-tx1z":                  dump(data, 16, "%06x", func(b []byte) string { return fmt.Sprintf(" %-47s  >%s<", joined(b, "%02x", " "), ascii(b)) }, nil, true),
		"wireshark-hex-dump":       dump(data, 16, "%04x", func(b []byte) string { return fmt.Sprintf("   %-47s   %s", joined(b, "%02x", " "), ascii(b)) }, nil, false),
		"wireshark-hex-only":       dump(data, 16, "%04x", func(b []byte) string { return "   " + joined(b, "%02x", " ") }, nil, false),
		"wireshark-hex-stream":     hex.EncodeToString(data),
		"wireshark-escaped-string": strings.TrimSuffix(wrapped(data, 16, `\x%02x`, "", `"`, "\" \\\n"), " \\\n"),
		"wireshark-c-array":        "unsigned char bytes[] = {" + joined(data, "0x%x", ", ") + "};\n",
		"wireshark-go-literal":     "[]byte{" + joined(data, "0x%x", ", ") + "}",
		"wireshark-c-string":       quoted(data, '"', func(x byte) string { return fmt.Sprintf(`\%03o`, x) }),
		"c-array":                  fmt.Sprintf("static const unsigned char packet[%d] = {\n%s};\n", size, wrapped(data, 12, "0x%02x,", " ", "    ", "\n")),
		"go-slice":                 "var packet = []byte{\n" + wrapped(data, 8, "0x%02x,", " ", "\t", "\n") + "}\n",
		"python-bytes":             "packet = b" + quoted(data, '\'', hexEscape) + "\n",
		"base64":                   x64 + "\n",
		"base64-wrapped":           lines76(x64, ""),
		"base64url":                base64.RawURLEncoding.EncodeToString(data) + "\n",
		"xxd-i":                    strings.Replace("unsigned char packet[] = {\n"+wrapped(data, 12, "0x%02x", ", ", "  ", ",\n")+"};\n", ",\n};", "\n};", 1) + fmt.Sprintf("unsigned int packet_len = %d;\n", size),
		"xxd-upper-cols8":          dump(data, 8, "%08X: ", func(b []byte) string { return fmt.Sprintf("%-19s  %s", strings.ToUpper(pairs(b)), ascii(b)) }, nil, false),
		"hex-spaced":               joined(data, "%02x", " "),
		"hex-colon-upper":          joined(data, "%02X", ":"),
		"hex-0x-comma":             joined(data, "0x%02x", ", "),
		"hex-backslash-x":          joined(data, `\x%02x`, ""),
		"hex-crlf-bom":             "\ufeff" + wrapped(data, 8, "%02x", " ", "", "\r\n"),
		"decimal-array":            "[" + joined(data, "%d", ", ") + "]",
		"csharp-array":             "byte[] packet = new byte[] { " + joined(data, "0x%02X", ", ") + " };\n",
		"java-array":               "byte[] packet = {" + signed(data) + "};\n",
		"rust-array":               fmt.Sprintf("let packet: [u8; %d] = [%s];\n", size, joined(data, "0x%02x", ", ")),
		"js-uint8array":            "new Uint8Array([" + joined(data, "%d", ", ") + "])\n",
		"python-bytes-hex":         `bytes.fromhex("` + joined(data, "%02x", " ") + `")` + "\n",
	}
	repeated := append([]byte{0, 0, 0x88, 0x72, 10, 0, 24, 0}, make([]byte, 105)...)
	for i := range 16 {
		repeated = append(repeated, byte(i))
	}
	repeated = append(append(repeated, bytes.Repeat([]byte{0xff}, 77)...), "end"...)
	repeated[0] = byte(len(repeated))
	octal := func(b []byte) string { return " " + words(b, "%06o") }
	repeats := map[string]string{
		"xxd-a":          dump(repeated, 16, "%08x:", xxdLine, zeros, false),
		"hexdump-C":      dump(repeated, 16, "%08x", canonicalLine, always, true),
		"hexdump-words":  dump(repeated, 16, "%07x", wordsLine, always, true),
		"od-Ax-tx1":      dump(repeated, 16, "%06x", bytesLine, always, true),
		"od-octal-words": dump(repeated, 16, "%07o", octal, always, true),
	}
	list := func(folder string, texts map[string]string, data []byte) (rows []row) {
		for _, name := range sorted(texts) {
			file := folder + "/" + name + ".txt"
			m.add("pasted/"+file, []byte(texts[name]))
			rows = append(rows, row{"file": file, "form": name, "hex": hex.EncodeToString(data)})
		}
		return rows
	}
	odd := hex.EncodeToString(data)[1:]
	m.add("pasted/formats/odd-digits.txt", []byte(odd))
	m.json("pasted/truth.json", row{
		"formats": list("formats", formats, data), "repeat": list("repeat", repeats, repeated), "repeat_message": row{"hex": hex.EncodeToString(repeated)},
		"errors": []row{{"file": "formats/odd-digits.txt", "reason": "odd number of hex digits", "digits": len(odd)}},
	})

	var three strings.Builder
	var rows []row
	for i, b := range [][]byte{m.messages[20].data, repeated, data} {
		three.WriteString(dump(b, 16, "%08x", canonicalLine, always, true))
		rows = append(rows, row{"n": i + 1, "opcode": int(b[2]) | int(b[3])<<8, "hex": hex.EncodeToString(b)})
	}
	m.add("pasted/three-messages.hexdump-C.txt", []byte(three.String()))
	m.lines("pasted/three-messages.truth.jsonl", rows)
	m.proxyLog()
	m.follow(data)
}

func pairs(data []byte) string {
	var out []string
	for ; len(data) > 0; data = data[min(2, len(data)):] {
		out = append(out, hex.EncodeToString(data[:min(2, len(data))]))
	}
	return strings.Join(out, " ")
}

func signed(data []byte) string {
	out := make([]string, len(data))
	for i, x := range data {
		out[i] = fmt.Sprint(int8(x))
	}
	return strings.Join(out, ", ")
}

// proxyLog makes a log of a proxy of TERA that passes midnight.
func (m *maker) proxyLog() {
	rng := rand.New(rand.NewPCG(17, 29))
	var b strings.Builder
	var rows []row
	at := 86390380 // ms of the day
	for i := range 48 {
		x := m.messages[rng.IntN(len(m.messages))]
		arrow, kind, mark := [2]string{"->", "<-"}[x.way()], "real", ""
		name, version, _ := strings.Cut(x.name, ".")
		r := row{"n": i + 1, "day": at / 86400000, "dir": x.dir(), "opcode": x.code, "name": name, "version": int(version[0] - '0'), "bad_def": false, "hex": hex.EncodeToString(x.data)}
		title := name + "." + version
		switch {
		case i%12 == 5:
			arrow, kind = [2]string{"*>", "<*"}[x.way()], "fake"
		case i%16 == 10:
			arrow, kind = [2]string{"X>", "<X"}[x.way()], "silenced"
		case i%10 == 7:
			mark, r["bad_def"] = " (bad def)", true
		case i%10 == 3:
			title = fmt.Sprint(x.code)
			r["name"], r["version"] = nil, nil
		}
		r["kind"] = kind
		clock := fmt.Sprintf("%02d:%02d:%02d.%03d", at/3600000%24, at/60000%60, at/1000%60, at%1000)
		r["clock"] = clock
		text := hex.EncodeToString(x.data)
		fmt.Fprintf(&b, "[%s] %s %s%s\n%s\n", clock, arrow, title, mark, strings.TrimSpace(text[:8]+" "+text[8:]))
		if r["name"] != nil && mark == "" {
			fmt.Fprintf(&b, "%s\n", marshal(x.value))
		}
		b.WriteString("------------------------------\n")
		rows = append(rows, r)
		at += rng.IntN(900)
	}
	m.add("pasted/tera-proxy-1700006390000.log", []byte(b.String()))
	m.lines("pasted/tera-proxy-1700006390000.truth.jsonl", rows)
}

// follow makes a short conversation and the texts in which tools show its stream. No packet ends with a full line of a dump.
func (m *maker) follow(chat []byte) {
	version := row{"version": []any{row{"index": 0, "value": 387396}}}
	say := func(dir int, b []byte) pending { return pending{dir: dir, row: row{"data": b}} }
	lines := []pending{
		say(0, append(frame(19900, wellKnown[0].fs, version), 7)), say(1, []byte{5, 0, 0xbd, 0x4d, 1}), say(0, m.messages[25].data), say(1, chat), say(1, bytes.Repeat([]byte("0123456789 "), 37)),
	}
	for k, name := range []string{"conversation", "conversation-split"} {
		r := newRecording(false, 1700000000_000000)
		t := &talk{tcp: r.connect(rand.New(rand.NewPCG(18, 29)), local(51050+k), local(7801))}
		var packets []row
		var parts [][]byte
		push := func(dir, n int) {
			w := t.ways[dir]
			part := w.sent[w.pushed:min(w.pushed+n, len(w.sent))]
			if len(part)%16 == 0 {
				part = part[:len(part)-1]
			}
			t.push(dir, len(part))
			parts = append(parts, part)
			packets = append(packets, row{"packet": t.n, "peer": dir, "dir": dirNames[dir], "time": t.time(), "hex": hex.EncodeToString(part)})
		}
		for i, l := range lines {
			data := l.row["data"].([]byte)
			t.say(l.dir, data, row{"opcode": 1})
			if k == 1 && i == 3 {
				continue // is sent with the next one
			}
			if k == 1 && i%2 == 0 {
				push(l.dir, 13)
			}
			for w := t.ways[l.dir]; w.pushed < len(w.sent); {
				push(l.dir, len(w.sent))
			}
		}
		t.close()
		rows, _ := t.found([2]int{all, all})
		base := "pasted/follow/" + name
		m.add(base+".pcapng", r.file.Bytes())
		m.lines(base+".truth.jsonl", truth(rows))
		m.json(base+".conns.json", []row{t.describe("plain", nil)})
		m.lines(base+".packets.jsonl", packets)

		client, server := t.ways[0].from, t.ways[0].to
		var arrays, old, yaml, dashed strings.Builder
		peers := fmt.Sprintf("peers:\n  - peer: 0\n    host: 127.0.0.1\n    port: %d\n  - peer: 1\n    host: 127.0.0.1\n    port: %d\npackets:\n", client.port, server.port)
		yaml.WriteString(peers)
		dashed.WriteString(peers)
		rule := strings.Repeat("=", 67) + "\n"
		head := func(mode string) string {
			return fmt.Sprintf("\n%sFollow: tcp,%s\nFilter: tcp.stream eq 0\nNode 0: %s\nNode 1: %s\n", rule, mode, client, server)
		}
		raw := head("raw")
		dumps := map[string]string{"hex-dump": "", "hex-dump-old": "", "tshark-hex": head("hex")}
		var count, offset [2]int
		for i, part := range parts {
			p := packets[i]
			dir := p["peer"].(int)
			label := fmt.Sprintf("peer%d_%d", dir, count[dir])
			fmt.Fprintf(&arrays, "char %s[] = { /* Packet %d */\n%s };\n", label, p["packet"], strings.TrimSuffix(wrapped(part, 8, "0x%02x", ", ", "", ", \n"), ", \n"))
			x64 := base64.StdEncoding.EncodeToString(part)
			fmt.Fprintf(&old, "# Packet %d\n%s: !!binary |\n%s", p["packet"], label, lines76(x64, "  "))
			fmt.Fprintf(&dashed, "  - packet: %d\n    peer: %d\n    timestamp: %s000\n    data: !!binary |\n%s", p["packet"], dir, p["time"], lines76(x64, "      "))
			fmt.Fprintf(&yaml, "  - packet: %d\n    peer: %d\n    index: %d\n    timestamp: %s000\n    data: !!binary |\n%s", p["packet"], dir, count[dir], p["time"], lines76(x64, "      "))
			raw += strings.Repeat("\t", dir) + hex.EncodeToString(part) + "\n"
			for at := 0; at < len(part); at += 16 {
				line := part[at:min(at+16, len(part))]
				text := ascii(line)
				apart := text
				if len(text) > 8 {
					apart = text[:8] + " " + text[8:]
				}
				where := offset[dir] + at
				dumps["hex-dump"] += fmt.Sprintf("%s%08x  %-48s   %s\n", strings.Repeat("    ", dir), where, halves(line), text)
				dumps["hex-dump-old"] += fmt.Sprintf("%s%08x  %-48s %s\n", strings.Repeat("    ", dir), where, halves(line), apart)
				dumps["tshark-hex"] += fmt.Sprintf("%s%08X  %-48s  %s\n", strings.Repeat("\t", dir), where, halves(line), apart)
			}
			count[dir]++
			offset[dir] += len(part)
		}
		for form, text := range map[string]string{
			"c-arrays": arrays.String(), "yaml": yaml.String(), "yaml-old": old.String(), "tshark-yaml": dashed.String(), "tshark-raw": raw + rule,
			"hex-dump": dumps["hex-dump"], "hex-dump-old": dumps["hex-dump-old"], "tshark-hex": dumps["tshark-hex"] + rule,
		} {
			m.add(base+"."+form+".txt", []byte(text))
		}
	}
}
