// Generates messages with random values of published definitions, and prints those that the npm package protodef reads back as it wrote
// them: one JSON object a line, with the file, the namespaces, the name, the bytes as hex, and the value.
//
//   node generate.js NODE_MODULES SEED COUNT [PART-OF-PATH]
//
// NODE_MODULES has minecraft-data, protodef, minecraft-protocol, bedrock-protocol and prismarine-nbt.
'use strict'
const fs = require('fs')
const path = require('path')
const [modules, seedText, countText, only] = process.argv.slice(2)
const need = name => require(path.join(path.resolve(modules), name))
const { ProtoDefCompiler } = need('protodef').Compiler
const nbt = need('prismarine-nbt')

// A small generator of random numbers (xorshift), so that runs can be repeated.
let state = (Number(seedText) | 0) || 1
function random () {
  state ^= state << 13; state ^= state >>> 17; state ^= state << 5
  return (state >>> 0) / 4294967296
}
const below = n => Math.floor(random() * n)
const pick = list => list[below(list.length)]
const chance = p => random() < p

class Unknown extends Error {}

// Scope is the fields of the containers around a value.
function find (scope, text, params) {
  if (text.startsWith('$')) return params[text.slice(1)]()
  const words = text.replace(/\.\./g, '^').split(/[/.]/).filter(w => w)
  while (words[0] === '^') { scope = scope['..']; words.shift() }
  let at = scope
  while (at && !(words[0] in at)) at = at['..']
  if (!at) throw new Unknown('no field ' + text)
  for (const w of words) at = at == null ? undefined : at[w]
  return at
}
function evaluate (text, scope, params) {
  if (/[|&! ]/.test(text)) return text.split('||').some(t => find(scope, t.trim(), params))
  return find(scope, text, params)
}

const int = (bits, signed) => {
  const small = chance(0.6)
  if (bits > 32) {
    let v = BigInt(below(small ? 200 : 2 ** 31)) * (small ? 1n : BigInt(1 + below(2 ** 30)))
    if (signed && chance(0.3)) v = -v
    return signed ? BigInt.asIntN(bits, v) : BigInt.asUintN(bits, v)
  }
  const most = 2 ** (signed ? bits - 1 : bits)
  const v = below(small ? Math.min(100, most) : most)
  return signed && chance(0.3) ? -v - 1 : v
}
const text = n => Array.from({ length: n }, () => pick([...'abcdefghij KLM_0123é世'])).join('')

class Generator {
  constructor (spaces, bedrock) { this.spaces = spaces; this.bedrock = bedrock; this.depth = 0; this.left = 3000 }

  type (t, scope, params) {
    if (--this.left < 0 || this.depth > 40) throw new Unknown('too large')
    this.depth++
    try { return this.typeOf(t, scope, params) } finally { this.depth-- }
  }

  few () { return this.depth > 14 ? 0 : pick([0, 1, 1, 2, 3]) }

  typeOf (t, scope, params) {
    const name = Array.isArray(t) ? t[0] : t
    const a = Array.isArray(t) ? t[1] : undefined
    if (name.startsWith('$')) return params[name.slice(1)]()
    for (const types of this.spaces) {
      if (types[name] !== undefined && types[name] !== 'native') {
        const inner = {}
        if (a) for (const k in a) inner[k] = () => (typeof a[k] === 'string' ? evaluate(a[k], scope, params) : a[k])
        return this.type(types[name], scope, inner)
      }
    }
    const f = this['t_' + name]
    if (!f) throw new Unknown('type ' + name)
    return f.call(this, a, scope, params || {})
  }

  t_container (fields, scope, params) {
    const out = Object.defineProperty({}, '..', { value: scope, enumerable: false, configurable: true })
    for (const f of fields) {
      const v = this.type(f.type, out, params)
      if (f.anon) Object.assign(out, v); else if (v !== undefined) out[f.name] = v
    }
    return out
  }

  t_switch (a, scope, params) {
    const v = evaluate(a.compareTo, scope, params)
    const key = String(v)
    if (a.fields[key] !== undefined) return this.type(a.fields[key], scope, params)
    if (a.default) return this.type(a.default, scope, params)
    return undefined
  }

  t_option (a, scope, params) { return chance(0.5) && this.depth < 16 ? this.type(a, scope, params) : undefined }

  count (a, scope, params) {
    if (typeof a.count === 'number') return a.count
    if (a.count !== undefined) {
      const n = Number(find(scope, a.count, params))
      if (n > 2000 || n < 0) throw new Unknown('count')
      return n
    }
    return this.few()
  }

  t_array (a, scope, params) {
    return Array.from({ length: this.count(a, scope, params) }, () => this.type(a.type, scope, params))
  }

  t_maybeIncompleteArray (a, scope, params) { return this.t_array(a, scope, params) }

  // The number of another field, which is not known yet: few, so that the other field is short.
  t_count (a) { return below(4) }

  t_mapper (a) { return a.mappings[pick(Object.keys(a.mappings))] }

  t_bitfield (parts) {
    const out = {}
    for (const p of parts) out[p.name] = int(Math.min(p.size, 31), p.signed)
    return out
  }

  t_bitflags (a) {
    const out = { _value: a.big ? 0n : 0 }
    const names = Array.isArray(a.flags) ? a.flags.filter(f => f) : Object.keys(a.flags)
    names.forEach((n, i) => {
      const bit = Array.isArray(a.flags) ? a.flags.indexOf(n) : a.shift ? a.flags[n] : undefined
      const mask = bit === undefined ? BigInt(a.flags[n]) : 1n << BigInt(bit)
      if (mask >= 1n << 31n && !a.big) return
      if (chance(0.4)) out._value = a.big ? out._value | mask : Number(BigInt(out._value) | mask)
    })
    for (const n of names) {
      const i = Array.isArray(a.flags) ? a.flags.indexOf(n) : a.shift ? a.flags[n] : undefined
      const mask = i === undefined ? BigInt(a.flags[n]) : 1n << BigInt(i)
      out[n] = (BigInt(out._value) & mask) === mask
    }
    return out
  }

  t_pstring (a, scope, params) { return a.count !== undefined ? 'x'.repeat(this.count(a, scope, params)) : text(pick([0, 1, 5, 12])) }
  t_cstring () { return text(below(8)) }
  t_string () { return text(below(8)) }
  t_buffer (a, scope, params) { return Buffer.from(Array.from({ length: a.count !== undefined ? this.count(a, scope, params) : pick([0, 1, 4, 9]) }, () => below(256))) }
  t_restBuffer () { return Buffer.from(Array.from({ length: below(9) }, () => below(256))) }
  t_byte_array () { throw new Unknown('byte_array') }
  t_void () { return undefined }
  t_bool () { return chance(0.5) }
  t_varint () { return int(32, true) }
  t_varlong () { return int(32, true) }
  t_varint64 () { return int(64, false) }
  t_varint128 () { return int(63, false) }
  t_zigzag32 () { return int(31, true) }
  t_zigzag64 () { return int(63, true) }
  t_byterot () { return below(256) * (360 / 256) }
  t_ipAddress () { return [below(256), below(256), below(256), below(256)].join('.') }
  t_UUID () { return Array.from({ length: 32 }, () => '0123456789abcdef'[below(16)]).join('').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-') }
  t_uuid () { return this.t_UUID() }
  t_f32 () { return Math.fround(pick([0, 1.5, -2.25, 1e10, 0.1])) }
  t_f64 () { return pick([0, 1.5, -2.25, 1e100, 0.1]) }
  t_lf32 () { return this.t_f32() }
  t_lf64 () { return this.t_f64() }

  t_topBitSetTerminatedArray (a, scope, params) {
    return Array.from({ length: 1 + this.few() }, () => {
      const v = this.type(a.type, scope, params)
      const first = Object.keys(v)[0]
      v[first] = Math.abs(v[first]) % 128
      return v
    })
  }

  t_entityMetadataLoop (a, scope, params) {
    return Array.from({ length: this.few() }, () => this.type(a.type, scope, params)).filter(v => (Number(Object.values(v)[0]) & 255) !== a.endVal)
  }

  t_registryEntryHolder (a, scope, params) {
    return chance(0.5) ? { [a.baseName]: below(500) } : { [a.otherwise.name]: this.type(a.otherwise.type, scope, params) }
  }

  t_registryEntryHolderSet (a, scope, params) {
    if (chance(0.5)) return { [a.base.name]: this.type(a.base.type, scope, params) }
    return { [a.otherwise.name]: Array.from({ length: this.few() }, () => this.type(a.otherwise.type, scope, params)) }
  }

  t_encapsulated (a, scope, params) { return this.type(a.type, scope, params) }
  t_optionalOnRemaining (a, scope, params) { return this.type(a.type, scope, params) }
  t_enum_size_based_on_values_len (a, scope) {
    const n = find(scope, 'values_len')
    return n <= 0x100 ? 'byte' : n <= 0x10000 ? 'short' : 'int'
  }

  tag (kind, depth) {
    switch (kind) {
      case 'byte': return int(8, true)
      case 'short': return int(16, true)
      case 'int': return int(31, true)
      case 'long': return int(this.bedrock ? 63 : 64, true)
      case 'float': return this.t_f32()
      case 'double': return this.t_f64()
      case 'byteArray': return Array.from({ length: below(4) }, () => int(8, true))
      case 'intArray': return Array.from({ length: below(4) }, () => int(32, true))
      case 'string': return text(below(6))
      case 'list': {
        const of = pick(depth < 3 ? ['byte', 'int', 'string', 'compound', 'list', 'double'] : ['byte', 'string'])
        return { type: of, value: Array.from({ length: 1 + below(3) }, () => this.tag(of, depth + 1)) }
      }
      case 'compound': {
        const out = {}
        for (let i = below(4); i > 0; i--) {
          const of = pick(depth < 3 ? ['byte', 'short', 'int', 'float', 'double', 'string', 'list', 'compound', 'byteArray', 'intArray', 'long'] : ['byte', 'string'])
          out['k' + text(3) + i] = { type: of, value: this.tag(of, depth + 1) }
        }
        return out
      }
    }
  }

  t_nbt () { return { type: 'compound', name: text(below(4)), value: this.tag('compound', 0) } }
  t_lnbt () { return this.t_nbt() }
  t_anonymousNbt () { return { type: 'compound', value: this.tag('compound', 0) } }
  t_optionalNbt () { return chance(0.5) ? this.t_nbt() : undefined }
  t_anonOptionalNbt () { return chance(0.5) ? this.t_anonymousNbt() : undefined }
}
for (const prefix of ['', 'l']) {
  for (const bits of [8, 16, 32, 64]) {
    for (const kind of ['i', 'u']) {
      Generator.prototype['t_' + prefix + kind + bits] = function () {
        const v = int(bits, kind === 'i')
        return v // of 64 bits a BigInt, as it reads them
      }
    }
  }
}

// plain returns a value in the form of JSON.
function plain (v, top) {
  if (typeof v === 'bigint') return { $i64: v.toString() }
  if (Buffer.isBuffer(v)) return { $hex: v.toString('hex') }
  if (Array.isArray(v) && v.constructor !== Array) return { $i64: v.toString() }
  if (Array.isArray(v)) return v.map(x => plain(x))
  if (v && typeof v === 'object') {
    const out = {}
    for (const k of Object.keys(v)) if (v[k] !== undefined && k !== '..') out[k] = plain(v[k])
    return out
  }
  if (typeof v === 'number' && Object.is(v, -0)) return 0
  return v
}
const sorted = v => JSON.stringify(plain(v), (k, x) => x && typeof x === 'object' && !Array.isArray(x) ? Object.fromEntries(Object.entries(x).sort(([a], [b]) => a < b ? -1 : 1)) : x)

const root = path.join(path.resolve(modules), 'minecraft-data/minecraft-data/data')
const tally = { tried: 0, alike: 0 }
const why = {}
for (const edition of ['pc', 'bedrock']) {
  for (const version of fs.readdirSync(path.join(root, edition)).sort()) {
    const file = path.join(edition, version, 'protocol.json')
    if (!fs.existsSync(path.join(root, file)) || (only && !file.includes(only))) continue
    const protocol = JSON.parse(fs.readFileSync(path.join(root, file)))
    const spaces = []
    if (edition === 'bedrock') spaces.push([[], protocol.types, 'mcpe_packet'])
    else {
      for (const state of Object.keys(protocol)) {
        for (const dir of ['toClient', 'toServer']) {
          if (state !== 'types' && protocol[state] && protocol[state][dir] && protocol[state][dir].types) spaces.push([[state, dir], protocol[state][dir].types, 'packet'])
        }
      }
    }
    for (const [names, types, top] of spaces) {
      let proto
      try {
        const compiler = new ProtoDefCompiler()
        if (edition === 'bedrock') {
          compiler.addTypesToCompile(protocol.types)
          compiler.addTypes(need('bedrock-protocol/src/datatypes/compiler-minecraft'))
          compiler.addVariable('ShieldItemID', -1)
        } else {
          compiler.addTypes(need('minecraft-protocol/src/datatypes/compiler-minecraft'))
          compiler.addProtocol(protocol, names.slice())
          nbt.addTypesToCompiler('big', compiler)
        }
        proto = compiler.compileProtoDefSync()
      } catch (e) { console.error(file, names.join('.'), 'does not compile:', e.message.slice(0, 100)); continue }
      if (!types[top]) continue
      const codes = types[top][1][0].type[1].mappings
      const cases = types[top][1][1].type[1].fields
      for (const name of new Set(Object.values(codes))) {
        if (cases[name] === undefined) continue
        for (let i = 0; i < Number(countText); i++) {
          tally.tried++
          let line
          try {
            const g = new Generator(edition === 'bedrock' ? [protocol.types] : [types, protocol.types], edition === 'bedrock')
            const params = g.type(cases[name], {}, {})
            const packet = { name, params: params === undefined ? {} : params }
            const before = sorted(packet.params)
            const bytes = proto.createPacketBuffer(top, packet)
            const back = proto.parsePacketBuffer(top, bytes)
            if (back.metadata.size !== bytes.length || back.data.name !== name || sorted(back.data.params === undefined ? {} : back.data.params) !== before) throw new Error('reads another value')
            const again = proto.createPacketBuffer(top, back.data)
            if (!again.equals(bytes)) throw new Error('writes other bytes')
            line = JSON.stringify({ file, names, name, hex: bytes.toString('hex'), value: plain(back.data.params === undefined ? {} : back.data.params) })
          } catch (e) {
            const k = e.message.slice(0, 60)
            why[k] = (why[k] || 0) + 1
            continue
          }
          tally.alike++
          console.log(line)
        }
      }
    }
  }
}
console.error(JSON.stringify(tally), JSON.stringify(Object.fromEntries(Object.entries(why).sort((a, b) => b[1] - a[1]).slice(0, 15))))
