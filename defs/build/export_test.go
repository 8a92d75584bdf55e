package build

// SmallLayers makes sets merge their layers early, so that tests with few files cover it. It returns a function that restores the limits.
func SmallLayers() (undo func()) {
	layer, merged := maxLayer, maxMerged
	maxLayer, maxMerged = 6, 0
	return func() { maxLayer, maxMerged = layer, merged }
}
