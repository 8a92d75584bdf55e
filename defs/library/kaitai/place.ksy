meta:
  id: place
  endian: be
doc: a place on the sea, as other formats use it
seq:
  - id: latitude
    type: s4
    doc: in millionths of a degree, to the north
  - id: longitude
    type: s4
    doc: in millionths of a degree, to the east
instances:
  is_north:
    value: latitude > 0
