package schema

import "slices"

// Packing is a method of compression.
type Packing uint8

// The methods.
const (
	Unpacked    Packing = iota // none
	Zlib                       // DEFLATE with the header of zlib
	Deflate                    // DEFLATE without a header
	Gzip                       // DEFLATE with the header of gzip
	Zstd                       // Zstandard frames
	LZ4                        // LZ4 frames
	LZ4Block                   // a block of LZ4, without a frame
	Snappy                     // a block of Snappy
	SnappyFrame                // the framing format of Snappy

	Xor    // no compression: each byte xor that of a key
	Rotate // no compression: the bits of each byte are rotated to the right; reading rotates them to the left
)

var packings = [...]string{"", "zlib", "deflate", "gzip", "zstd", "lz4", "lz4-block", "snappy", "snappy-frame", "xor", "rotate"}

// Keyed reports whether the method has a key, and keeps the number of bytes.
func (p Packing) Keyed() bool { return p >= Xor }

// String returns the name of the method, "" for Unpacked.
func (p Packing) String() string { return packings[p] }

// PackingNamed returns the method of a name.
func PackingNamed(name string) (Packing, bool) {
	i := slices.Index(packings[1:Xor], name)
	return Packing(i + 1), i >= 0
}

// Packings returns the names of the methods, in the order of their constants from Zlib on.
func Packings() []string { return slices.Clone(packings[1:Xor]) }
