package proxy

import (
	"cmp"
	"slices"
)

// dueHeap is a heap of messages, earliest due time first.
type dueHeap []*waiting

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, k int) bool { return h[i].due.Before(h[k].due) }
func (h dueHeap) Swap(i, k int) {
	h[i], h[k] = h[k], h[i]
	h[i].place, h[k].place = i, k
}

// Push implements heap.Interface.
func (h *dueHeap) Push(x any) {
	w := x.(*waiting)
	w.place = len(*h)
	*h = append(*h, w)
}

// Pop implements heap.Interface.
func (h *dueHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	x.place = -1
	return x
}

// sortWaiting sorts messages by arrival.
func sortWaiting(list []*waiting) {
	slices.SortFunc(list, func(a, b *waiting) int { return cmp.Compare(a.inner, b.inner) })
}
