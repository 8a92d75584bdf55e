package build

// SmallLayers makes sets merge their layers early, so that tests with few files see it, and returns what undoes that.
func SmallLayers() (undo func()) {
	layer, merged := maxLayer, maxMerged
	maxLayer, maxMerged = 6, 0
	return func() { maxLayer, maxMerged = layer, merged }
}
