package paste

// Groups of forms, the headings of a menu.
const (
	groupPlain    = "Hex and base64"
	groupDump     = "Dumps"
	groupFollow   = "Wireshark: Follow Stream"
	groupCode     = "Source code"
	groupDebugger = "Debuggers"
	groupTable    = "Logs and tables"
)

// forms is every form, in the order of a menu.
var forms = []form{
	{FormInfo{"hex", "Hex", groupPlain}, readHex},
	{FormInfo{"hex-lines", "Hex, one message a line", groupPlain}, readHexLines},
	{FormInfo{"hex-words", "Hex words, little-endian, no offsets (od -An -tx2)", groupPlain}, readHexWords},
	{FormInfo{"base64", "Base64", groupPlain}, readBase64},
	{FormInfo{"base64url", "Base64url", groupPlain}, readBase64},

	{FormInfo{"xxd", "xxd", groupDump}, dumpReader("xxd")},
	{FormInfo{"xxd-e", "xxd -e (little-endian groups)", groupDump}, dumpReader("xxd-e")},
	{FormInfo{"xxd-b", "xxd -b (bits)", groupDump}, dumpReader("xxd-b")},
	{FormInfo{"hexdump-C", "hexdump -C", groupDump}, dumpReader("hexdump-C")},
	{FormInfo{"hexdump", "hexdump (16-bit little-endian words)", groupDump}, dumpReader("hexdump")},
	{FormInfo{"hexdump-b", "hexdump -b, od -b (octal bytes)", groupDump}, dumpReader("hexdump-b")},
	{FormInfo{"hexdump-d", "hexdump -d (decimal words)", groupDump}, dumpReader("hexdump-d")},
	{FormInfo{"od-tx1", "od -tx1", groupDump}, dumpReader("od-tx1")},
	{FormInfo{"od-tx2", "od -tx2 (16-bit words)", groupDump}, dumpReader("od-tx2")},
	{FormInfo{"od-tx4", "od -tx4 (32-bit words)", groupDump}, dumpReader("od-tx4")},
	{FormInfo{"od-tx8", "od -tx8 (64-bit words)", groupDump}, dumpReader("od-tx8")},
	{FormInfo{"od", "od (octal words), hexdump -o", groupDump}, dumpReader("od")},
	{FormInfo{"od-tu1", "od -tu1, -td1 (decimal bytes)", groupDump}, dumpReader("od-tu1")},
	{FormInfo{"od-c", "od -c, hexdump -c (characters)", groupDump}, readChars},
	{FormInfo{"wireshark-dump", "Wireshark hex dump, with or without text", groupDump}, dumpReader("wireshark-dump")},
	{FormInfo{"text2pcap", "text2pcap, with directions or times", groupDump}, dumpReader("text2pcap")},

	{FormInfo{"follow-hex", "Follow Stream: hex dump", groupFollow}, readFollowHex},
	{FormInfo{"follow-c-arrays", "Follow Stream: C arrays", groupFollow}, readFollowArrays},
	{FormInfo{"follow-yaml", "Follow Stream: YAML", groupFollow}, readYAML},
	{FormInfo{"follow-raw", "Follow Stream: raw (tshark)", groupFollow}, readFollowRaw},

	{FormInfo{"c-array", "C or C++ array, xxd -i", groupCode}, readArrays},
	{FormInfo{"csharp-array", "C# array", groupCode}, readArrays},
	{FormInfo{"go-array", "Go slice or array", groupCode}, readArrays},
	{FormInfo{"java-array", "Java array", groupCode}, readArrays},
	{FormInfo{"js-array", "JavaScript array", groupCode}, readArrays},
	{FormInfo{"node-buffer", "Node.js: <Buffer ...>, Uint8Array", groupCode}, readNode},
	{FormInfo{"pascal-array", "Pascal array", groupCode}, readArrays},
	{FormInfo{"python-array", "Python bytes([...])", groupCode}, readArrays},
	{FormInfo{"rust-array", "Rust array", groupCode}, readArrays},
	{FormInfo{"swift-array", "Swift array", groupCode}, readArrays},
	{FormInfo{"number-array", "List of numbers in brackets", groupCode}, readArrays},
	{FormInfo{"escaped-string", "Escaped string", groupCode}, stringReader("escaped-string", asEscaped)},
	{FormInfo{"c-string", "C string with octal escapes", groupCode}, stringReader("c-string", asEscaped)},
	{FormInfo{"python-bytes", "Python b'...' or Rust b\"...\"", groupCode}, stringReader("python-bytes", asEscaped)},
	{FormInfo{"quoted-hex", "Hex in quotes, bytes.fromhex", groupCode}, stringReader("quoted-hex", asHex)},
	{FormInfo{"quoted-base64", "Base64 in quotes", groupCode}, stringReader("quoted-base64", asBase64)},

	{FormInfo{"windbg", "WinDbg db, dw, dd, dq", groupDebugger}, dumpReader("windbg")},
	{FormInfo{"gdb-print", "gdb print, with repeats", groupDebugger}, readGdbPrint},
	{FormInfo{"gdb", "gdb x/xb, lldb memory read", groupDebugger}, dumpReader("gdb")},

	{FormInfo{"tera-log", "TERA proxy log (tera-mods/debug)", groupTable}, readTeraLog},
	{FormInfo{"packets", "Packets exported by Wireshark or tshark (JSON, EK, PDML, text with bytes)", groupTable}, readPackets},
	{FormInfo{"json-rows", "JSON or JSON Lines with a hex or base64 column", groupTable}, readJSON},
	{FormInfo{"csv", "CSV with a hex or base64 column", groupTable}, readCSV},
}
