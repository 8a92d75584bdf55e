//go:build !amd64 && !arm64

package codec

// fill is fillSafe.
func fill(out []Leaf, b *Block, data []byte, at, node uint32, elem int32, n int) {
	fillSafe(out, b, data, at, node, elem, n)
}
