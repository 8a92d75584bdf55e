package envelope

import (
	"slices"

	"wirebench/defs/schema"
)

// keyword is a word of the language.
type keyword struct {
	name string
	doc  string
	size string // of a number
}

// The words of the language. Those of a kind are in the order of its constants, without the zero value if that means none.
var (
	framings = []keyword{
		{name: "length", doc: "A length precedes each message."},
		{name: "delimiter", doc: "These bytes follow each message."},
		{name: "fixed", doc: "All messages have the same number of bytes."},
		{name: "codes", doc: "The code of a message determines its size; lines below have a code and a size each."},
		{name: "datagram", doc: "Each datagram, or WebSocket message, is a frame."},
		{name: "measured", doc: "The definition of a message determines its size."},
	}
	methods = []keyword{
		{name: "zlib", doc: "Compression with DEFLATE and the header of zlib."},
		{name: "deflate", doc: "Compression with DEFLATE, without a header."},
		{name: "gzip", doc: "Compression with DEFLATE and the header of gzip."},
		{name: "zstd", doc: "Compression with Zstandard frames."},
		{name: "lz4", doc: "Compression with LZ4 frames."},
		{name: "lz4-block", doc: "Compression with a block of LZ4, without a frame."},
		{name: "snappy", doc: "Compression with a block of Snappy."},
		{name: "snappy-frame", doc: "Compression with the framing format of Snappy."},
	}
	ciphers = []keyword{
		{name: "xor", doc: "Each byte is combined with the next one of the key, which repeats."},
		{name: "rc4", doc: "The stream cipher RC4; it has no initialization vector."},
		{name: "aes-cfb8", doc: "AES with 8-bit cipher feedback."},
		{name: "aes-ctr", doc: "AES in counter mode."},
		{name: "chacha20", doc: "ChaCha20 with a key of 32 bytes and an iv of 12, or of 24 for XChaCha20."},
	}
	statements = []keyword{
		{name: "carrier", doc: "The protocol below, tcp if it is not stated."},
		{name: "port", doc: "The port of the server."},
		{name: "frame", doc: "How a stream is cut into frames."},
		{name: "code", doc: "The number in a message that tells its definition."},
		{name: "field", doc: "A number, or bytes, before or behind the contents of every message."},
		{name: "checksum", doc: "A field that is computed from the bytes of the message."},
		{name: "group", doc: "The group of the definitions, instead of the name of the state."},
		{name: "compress", doc: "How messages are compressed."},
		{name: "cipher", doc: "How the stream is encrypted."},
		{name: "bundle", doc: "A message, or every frame, whose contents are messages in frames."},
		{name: "state", doc: "A state of the connection; the first one is the initial state."},
		{name: "form", doc: "One of the forms that messages may have at any time: the first one whose constants a message begins with."},
	}
	numbers = []keyword{
		{name: "u8", size: "1 byte"},
		{name: "u16", size: "2 bytes"},
		{name: "u24", size: "3 bytes"},
		{name: "u32", size: "4 bytes"},
		{name: "u40", size: "5 bytes"},
		{name: "u48", size: "6 bytes"},
		{name: "u56", size: "7 bytes"},
		{name: "u64", size: "8 bytes"},
		{name: "varint", doc: "A number of 7 bits a byte, the lowest first as in LEB128, or the highest first with be.", size: "1 to 10 bytes"},
		{name: "zigzag", doc: "A signed number of 7 bits a byte, the lowest first, as in protobuf.", size: "1 to 10 bytes"},
	}
	marks = []keyword{
		{name: "to-server", doc: "Only the direction to the server."},
		{name: "to-client", doc: "Only the direction to the client."},
		{name: "le", doc: "Little-endian: the lowest byte first."},
		{name: "be", doc: "Big-endian: the highest byte first."},
		{name: "including", doc: "What a length counts besides the bytes after it: itself or all."},
		{name: "itself", doc: "A length counts its own bytes."},
		{name: "all", doc: "A length counts its own bytes and those before it."},
		{name: "times", doc: "A length is multiplied by this number."},
		{name: "plus", doc: "A length is increased by this number."},
		{name: "minus", doc: "A length is decreased by this number."},
		{name: "at", doc: "The number of bytes before a length, a code, a field or the messages of a bundle; negative: from the end of the message."},
		{name: "keep", doc: "The length or the delimiter is part of the message."},
		{name: "zeros", doc: "Frames lack the zeros at the end of the contents, up to the size of the definition."},
		{name: "extra", doc: "A checksum then counts the bytes that the definition of the message adds, such as CRC_EXTRA of MAVLink."},
		{name: "min", doc: "The bytes of the smallest message: a length of fewer is wrong."},
		{name: "max", doc: "The bytes of the largest message."},
		{name: "other", doc: "All codes that are not listed."},
		{name: "none", doc: "Messages have no code; the name of their definition follows."},
		{name: "size", doc: "The size before compression precedes the data; 0 if it is not compressed."},
		{name: "flag", doc: "A number precedes the data; 0 if it is not compressed."},
		{name: "from", doc: "The size from which messages are compressed: a number, or a field of the message."},
		{name: "on", doc: "All messages are compressed."},
		{name: "off", doc: "Not compressed, or not encrypted."},
		{name: "key", doc: "The key of a cipher."},
		{name: "iv", doc: "The initialization vector or nonce of a cipher."},
		{name: "hex", doc: "Bytes in hexadecimal."},
		{name: "text", doc: "The bytes of a text."},
		{name: "given", doc: "The user gives the key for each connection."},
		{name: "of", doc: "The message that has the field, if it is an earlier one."},
		{name: "bytes", doc: "A field of so many bytes."},
		{name: "over", doc: "The bytes that a checksum covers: from a place to another one, or to end."},
		{name: "to", doc: "The place behind the bytes that a checksum covers."},
		{name: "end", doc: "The end of the message; after or, the end of the stream or datagram."},
		{name: "or", doc: "Or the end of the stream or datagram, which ends its last message: or end."},
		{name: "poly", doc: "The polynomial of a CRC, without its highest bit."},
		{name: "start", doc: "The initial value of a checksum."},
		{name: "final", doc: "A number that the result of a CRC is combined with by exclusive or."},
		{name: "reflected", doc: "A CRC whose lowest bit is first."},
		{name: "when", doc: "A rule acts only if a field has this value."},
		{name: "->", doc: "The state of the connection after this message."},
	}
)

// Language returns the words of envelopes, from the tables of the parser.
func Language() schema.Language {
	var words []schema.Word
	for _, list := range [][]keyword{statements, framings, carrierWords, methods, ciphers, sumKeywords, marks} {
		for _, k := range list {
			w := schema.Word{Name: k.name, Kind: schema.MarkWord, Doc: k.doc}
			if !slices.ContainsFunc(words, func(w schema.Word) bool { return w.Name == k.name }) {
				words = append(words, w)
			}
		}
	}
	for _, k := range numbers {
		doc := k.doc
		if doc == "" {
			doc = "A number of " + k.size + "; le or be follows if it has more than one."
		}
		words = append(words, schema.Word{Name: k.name, Kind: schema.TypeWord, Doc: doc, Size: k.size})
	}
	return schema.Language{Comment: "#", Words: words, Syntax: "words"}
}

// find returns the index of a word in a list, or -1.
func find(list []keyword, name string) int {
	return slices.IndexFunc(list, func(k keyword) bool { return k.name == name })
}

// names returns the words of a list.
func names(list []keyword) []string {
	out := make([]string, len(list))
	for i, k := range list {
		out[i] = k.name
	}
	return out
}
