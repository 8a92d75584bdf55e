package paste

import (
	"cmp"
	"slices"
)

// Groups of forms, the headings of a menu.
// Forms of plain hex.
const (
	Hex      = formHex
	HexLines = formHexLines // each line is a message
)

const (
	groupPlain    = "Hex and base64"
	groupDump     = "Dumps"
	groupFollow   = "Wireshark: Follow Stream"
	groupCode     = "Source code"
	groupDebugger = "Debuggers"
	groupTable    = "Logs and tables"
)

// Ids of the forms.
const (
	formHex           = "hex"
	formHexLines      = "hex-lines"
	formHexWords      = "hex-words"
	formBase64        = "base64"
	formBase64URL     = "base64url"
	formXXD           = "xxd"
	formXXDe          = "xxd-e"
	formXXDb          = "xxd-b"
	formHexdumpC      = "hexdump-C"
	formHexdump       = "hexdump"
	formHexdumpB      = "hexdump-b"
	formHexdumpD      = "hexdump-d"
	formODtx1         = "od-tx1"
	formODtx2         = "od-tx2"
	formODtx4         = "od-tx4"
	formODtx8         = "od-tx8"
	formOD            = "od"
	formODtu1         = "od-tu1"
	formODc           = "od-c"
	formWiresharkDump = "wireshark-dump"
	formText2pcap     = "text2pcap"
	formTextRows      = "text-rows"
	formFollowHex     = "follow-hex"
	formFollowCArrays = "follow-c-arrays"
	formFollowYAML    = "follow-yaml"
	formFollowRaw     = "follow-raw"
	formCArray        = "c-array"
	formCsharpArray   = "csharp-array"
	formGoArray       = "go-array"
	formJavaArray     = "java-array"
	formJsArray       = "js-array"
	formNodeBuffer    = "node-buffer"
	formPascalArray   = "pascal-array"
	formPythonArray   = "python-array"
	formRustArray     = "rust-array"
	formSwiftArray    = "swift-array"
	formErlang        = "erlang-binary"
	formAssembler     = "assembler"
	formNumberArray   = "number-array"
	formEscapedString = "escaped-string"
	formCString       = "c-string"
	formPythonBytes   = "python-bytes"
	formQuotedHex     = "quoted-hex"
	formQuotedBase64  = "quoted-base64"
	formWinDbg        = "windbg"
	formGDBPrint      = "gdb-print"
	formGDB           = "gdb"
	formLogLines      = "log-lines"
	formRecords       = "records"
	formTeraLog       = "tera-log"
	formPackets       = "packets"
	formJSONRows      = "json-rows"
	formCSV           = "csv"
)

// form is a form of text.
type form struct {
	FormInfo
	read reader // reads any text as this form
	sniff
	traits
}

// sniff describes the detection of a form. Forms without try are chosen by the user, or detected by another form of their family.
type sniff struct {
	turn   int    // order of detection: the most distinctive signatures first
	try    reader // returns nil, nil if the text does not look like the form
	family bool   // try detects several forms, and names them itself
}

// bySign returns the detection of a form that has a signature: a text with it that cannot be read is an error of this strength.
func bySign(is func(t *pasted) bool, read reader, s strength) reader {
	return func(t *pasted) (*builder, *Error) {
		if !is(t) {
			return nil, nil
		}
		b, e := read(t)
		if e != nil {
			return nil, e.as(s)
		}
		return b, nil
	}
}

// traits are properties of the messages of a form.
type traits uint8

const (
	ownLines traits = 1 << iota // each message has a line of its own
	names                       // Message.Name is the name of a message, not of a variable
	decoded                     // messages are never network packets
)

// forms is the table of all forms, in the order of a menu.
var forms = []form{
	{FormInfo{formHex, "Hex", groupPlain}, readHex, sniff{14, tryHexOrCSV, false}, 0},
	{FormInfo{formHexLines, "Hex, one message a line", groupPlain}, readHexLines, sniff{}, ownLines},
	{FormInfo{formHexWords, "Hex words, little-endian, no offsets (od -An -tx2)", groupPlain}, readHexWords, sniff{}, 0},
	{FormInfo{formBase64, "Base64", groupPlain}, readBase64, sniff{15, tryBase64, false}, 0},
	{FormInfo{formBase64URL, "Base64url", groupPlain}, readBase64, sniff{}, 0},

	{FormInfo{formXXD, "xxd", groupDump}, dumpReader(formXXD), sniff{10, tryDump, true}, 0},
	{FormInfo{formXXDe, "xxd -e (little-endian groups)", groupDump}, dumpReader(formXXDe), sniff{}, 0},
	{FormInfo{formXXDb, "xxd -b (bits)", groupDump}, dumpReader(formXXDb), sniff{}, 0},
	{FormInfo{formHexdumpC, "hexdump -C", groupDump}, dumpReader(formHexdumpC), sniff{}, 0},
	{FormInfo{formHexdump, "hexdump (16-bit little-endian words)", groupDump}, dumpReader(formHexdump), sniff{}, 0},
	{FormInfo{formHexdumpB, "hexdump -b, od -b (octal bytes)", groupDump}, dumpReader(formHexdumpB), sniff{}, 0},
	{FormInfo{formHexdumpD, "hexdump -d (decimal words)", groupDump}, dumpReader(formHexdumpD), sniff{}, 0},
	{FormInfo{formODtx1, "od -tx1", groupDump}, dumpReader(formODtx1), sniff{}, 0},
	{FormInfo{formODtx2, "od -tx2 (16-bit words)", groupDump}, dumpReader(formODtx2), sniff{}, 0},
	{FormInfo{formODtx4, "od -tx4 (32-bit words)", groupDump}, dumpReader(formODtx4), sniff{}, 0},
	{FormInfo{formODtx8, "od -tx8 (64-bit words)", groupDump}, dumpReader(formODtx8), sniff{}, 0},
	{FormInfo{formOD, "od (octal words), hexdump -o", groupDump}, dumpReader(formOD), sniff{}, 0},
	{FormInfo{formODtu1, "od -tu1, -td1 (decimal bytes)", groupDump}, dumpReader(formODtu1), sniff{}, 0},
	{FormInfo{formODc, "od -c, hexdump -c (characters)", groupDump}, dumpReader(formODc), sniff{}, 0},
	{FormInfo{formWiresharkDump, "Wireshark hex dump, with or without text", groupDump}, dumpReader(formWiresharkDump), sniff{}, 0},
	{FormInfo{formTextRows, "Rows of hex and text, no offsets (socat -x -v, ngrep -x)", groupDump}, dumpReader(formTextRows), sniff{}, 0},
	{FormInfo{formText2pcap, "text2pcap, with directions or times", groupDump}, dumpReader(formText2pcap), sniff{}, 0},

	{FormInfo{formFollowHex, "Follow Stream: hex dump", groupFollow}, readFollowHex, sniff{5, tryFollowHex, false}, 0},
	{FormInfo{formFollowCArrays, "Follow Stream: C arrays", groupFollow}, readArrays, sniff{}, 0},
	{FormInfo{formFollowYAML, "Follow Stream: YAML", groupFollow}, readYAML, sniff{3, bySign(isYAML, readYAML, certain), false}, 0},
	{FormInfo{formFollowRaw, "Follow Stream: raw (tshark)", groupFollow}, readFollowRaw, sniff{6, tryFollowRaw, false}, 0},

	{FormInfo{formCArray, "C or C++ array, xxd -i", groupCode}, readArrays, sniff{13, tryCode, true}, 0},
	{FormInfo{formCsharpArray, "C# array", groupCode}, readArrays, sniff{}, 0},
	{FormInfo{formGoArray, "Go slice or array", groupCode}, readArrays, sniff{}, 0},
	{FormInfo{formJavaArray, "Java array", groupCode}, readArrays, sniff{}, 0},
	{FormInfo{formJsArray, "JavaScript array", groupCode}, readArrays, sniff{}, 0},
	{FormInfo{formNodeBuffer, "Node.js: <Buffer ...>, Uint8Array", groupCode}, readArrays, sniff{}, 0},
	{FormInfo{formPascalArray, "Pascal array, Kotlin byteArrayOf(...)", groupCode}, readArrays, sniff{}, 0},
	{FormInfo{formPythonArray, "Python bytes([...])", groupCode}, readArrays, sniff{}, 0},
	{FormInfo{formRustArray, "Rust array", groupCode}, readArrays, sniff{}, 0},
	{FormInfo{formSwiftArray, "Swift array", groupCode}, readArrays, sniff{}, 0},
	{FormInfo{formErlang, "Erlang or Elixir <<...>>", groupCode}, readArrays, sniff{}, 0},
	{FormInfo{formAssembler, "Assembler: db, .byte", groupCode}, readArrays, sniff{}, 0},
	{FormInfo{formNumberArray, "List of numbers in brackets", groupCode}, readArrays, sniff{}, 0},
	{FormInfo{formEscapedString, "Escaped string", groupCode}, stringReader(formEscapedString, asEscaped), sniff{}, 0},
	{FormInfo{formCString, "C string with octal escapes", groupCode}, stringReader(formCString, asEscaped), sniff{}, 0},
	{FormInfo{formPythonBytes, "Python b'...' or Rust b\"...\"", groupCode}, stringReader(formPythonBytes, asEscaped), sniff{}, 0},
	{FormInfo{formQuotedHex, "Hex in quotes, bytes.fromhex", groupCode}, stringReader(formQuotedHex, asHex), sniff{}, 0},
	{FormInfo{formQuotedBase64, "Base64 in quotes", groupCode}, stringReader(formQuotedBase64, asBase64), sniff{}, 0},

	{FormInfo{formRecords, "Intel HEX, Motorola S-records", groupDump}, readRecords, sniff{7, bySign(isRecords, readRecords, certain), false}, 0},

	{FormInfo{formWinDbg, "WinDbg db, dw, dd, dq", groupDebugger}, dumpReader(formWinDbg), sniff{}, 0},
	{FormInfo{formGDBPrint, "gdb print, with repeats", groupDebugger}, readGdbPrint, sniff{8, bySign(isGdbPrint, readGdbPrint, certain), false}, 0},
	{FormInfo{formGDB, "gdb x/xb, lldb memory read", groupDebugger}, dumpReader(formGDB), sniff{}, 0},

	{FormInfo{formTeraLog, "TERA proxy log (tera-mods/debug)", groupTable}, readTeraLog, sniff{2, bySign(isTeraLog, readTeraLog, certain), false}, ownLines | names | decoded},
	{FormInfo{formLogLines, "Hex among words, in the lines of a log", groupTable}, readLines, sniff{16, tryLines, false}, ownLines | names},
	{FormInfo{formPackets, "Packets exported by Wireshark or tshark (JSON, EK, PDML, text with bytes)", groupTable}, readPackets, sniff{1, bySign(isExport, readPackets, likely), false}, decoded},
	{FormInfo{formJSONRows, "JSON or JSON Lines with a hex or base64 column", groupTable}, readJSON, sniff{11, tryJSON, false}, ownLines | names},
	{FormInfo{formCSV, "CSV with a hex or base64 column", groupTable}, readCSV, sniff{12, tryCSVHeader, false}, ownLines | names},
}

// recognisers are the detectable forms, by turn.
var recognisers = func() (out []*form) {
	for i := range forms {
		if forms[i].try != nil {
			out = append(out, &forms[i])
		}
	}
	slices.SortFunc(out, func(a, b *form) int { return cmp.Compare(a.turn, b.turn) })
	return out
}()

func formByID(id string) *form {
	for i := range forms {
		if forms[i].ID == id {
			return &forms[i]
		}
	}
	return nil
}

// has reports whether the form of the text has a trait.
func (p *Paste) has(t traits) bool {
	f := formByID(p.Form)
	return f != nil && f.traits&t != 0
}
