// Measures the npm package protodef on the messages of a file of JSON lines with state, dir ("s2c" or "c2s") and hex: prints nanoseconds a
// message, the least of some rounds, of its interpreter (the class ProtoDef) and of the JavaScript that its compiler makes of a definition.
//
//   node speed.js NODE_MODULES PROTOCOL.JSON MESSAGES.JSONL MOST-BYTES
'use strict'
const fs = require('fs')
const path = require('path')
const [modules, protocolFile, messages, most] = process.argv.slice(2)
const need = name => require(path.join(path.resolve(modules), name))
const { ProtoDef, Compiler } = need('protodef')
const nbt = need('prismarine-nbt')

const protocol = JSON.parse(fs.readFileSync(protocolFile))
function interpreter (names) {
  const proto = new ProtoDef(false)
  proto.addTypes(need('minecraft-protocol/src/datatypes/minecraft'))
  proto.addProtocol(protocol, names)
  nbt.addTypesToInterpreter('big', proto)
  return proto
}
function compiled (names) {
  const compiler = new Compiler.ProtoDefCompiler()
  compiler.addTypes(need('minecraft-protocol/src/datatypes/compiler-minecraft'))
  compiler.addProtocol(protocol, names)
  nbt.addTypesToCompiler('big', compiler)
  return compiler.compileProtoDefSync()
}
const lines = fs.readFileSync(messages, 'utf8').trim().split('\n').map(line => JSON.parse(line)).filter(m => m.hex.length / 2 < Number(most))
function load (make) {
  const protos = {}
  return lines.map(m => {
    const proto = protos[m.state + m.dir] ||= make([m.state, m.dir === 's2c' ? 'toClient' : 'toServer'])
    const bytes = Buffer.from(m.hex, 'hex')
    return { proto, bytes, value: proto.parsePacketBuffer('packet', bytes).data }
  })
}
function least (all, job) {
  let best = Infinity
  for (let round = 0; round < 40; round++) { // the first ones are compiled while they run
    const start = process.hrtime.bigint()
    for (let k = 0; k < 20; k++) for (const m of all) job(m)
    best = Math.min(best, Number(process.hrtime.bigint() - start) / 20 / all.length)
  }
  return best
}
const out = { messages: lines.length }
for (const [name, make] of [['interpreter', interpreter], ['compiled', compiled]]) {
  const all = load(make)
  out[name] = {
    decode: least(all, m => m.proto.parsePacketBuffer('packet', m.bytes)),
    encode: least(all, m => m.proto.createPacketBuffer('packet', m.value))
  }
}
console.log(JSON.stringify(out))
