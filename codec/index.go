package codec

// Index is what the quickest reading of a message finds: whether it is right, how long it is, and where its variable parts are.
// Its memory is reused by the next Index into it.
type Index struct {
	Status Status
	Size   int    // bytes of the message
	Parts  []Part // texts, bytes and lists at the top of the message, in the order of the ops
	rec    *Record
}

// Part is a text, a run of bytes or a list.
type Part struct {
	Off   uint32 // bytes from frame start
	Units uint32 // code units, bytes or elements
}

// Index validates a message and locates its variable parts. Its Status is the one that Decode gives.
func (p *Program) Index(ix *Index, data []byte) Status {
	ix.Parts = ix.Parts[:0]
	if p.simple {
		size := p.shortFrame(data)
		if size == 0 {
			size = p.anyFrame(data)
		}
		if size >= p.head {
			if p.lone {
				ix.Size, ix.Status = int(size), OK
				if p.length.bits == 0 {
					ix.Size = int(p.head)
				}
				return OK
			}
			if p.quickIndex(ix, data[:size]) {
				ix.Status = OK
				return OK
			}
			ix.Parts = ix.Parts[:0]
		}
	}
	return p.slowIndex(ix, data)
}

// slowIndex finds the parts by way of a Record: for messages with a mistake, and for those that are not simple.
func (p *Program) slowIndex(ix *Index, data []byte) Status {
	if ix.rec == nil {
		ix.rec = new(Record)
	}
	r := ix.rec
	p.Decode(r, data)
	ix.Size, ix.Status = r.Used, r.Status()
	for n := 0; n < len(r.Nodes); n = int(r.Nodes[n].After) {
		switch r.Nodes[n].Kind {
		case NodeText, NodeBlob, NodeList:
			ix.Parts = append(ix.Parts, Part{r.Nodes[n].Off / 8, uint32(r.Nodes[n].Raw)})
		}
	}
	return ix.Status
}
