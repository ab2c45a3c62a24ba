'use strict';

const { stat } = require('node:fs/promises');
const { fileURLToPath } = require('node:url');

const wrong = (what) => new TypeError(`a log is a path, a Buffer, or an iterable or stream of Buffers, and this gives ${what === null ? 'null' : typeof what}`);

function bytes(piece) {
  if (piece instanceof Uint8Array) return piece;
  if (piece instanceof ArrayBuffer) return new Uint8Array(piece);
  if (typeof piece === 'string') throw new TypeError('a log is bytes: give Buffers, a stream without an encoding');
  throw wrong(piece);
}

async function* pieces(src) {
  for await (const piece of src) yield bytes(piece);
}

/** A log told apart: `path`, what is in `memory`, or `pieces`; and what it is called. */
function toldApart(src) {
  if (src instanceof URL) src = fileURLToPath(src);
  if (typeof src === 'string') return { name: src, path: src };
  if (src instanceof Uint8Array || src instanceof ArrayBuffer) return { name: '-', memory: bytes(src) };
  if (src?.[Symbol.asyncIterator] || src?.[Symbol.iterator]) return { name: typeof src.path === 'string' ? src.path : '-', pieces: pieces(src) };
  throw wrong(src);
}

/** The same where pieces are of no use. */
async function whole(src) {
  const log = toldApart(src);
  if (!log.pieces) return log;
  const all = [];
  for await (const piece of log.pieces) all.push(Buffer.from(piece));
  return { name: log.name, memory: Buffer.concat(all) };
}

/** Throws what the system says of a file that cannot be read, and of a folder, as `readFile` does. */
async function aFile(name) {
  if (!(await stat(name)).isDirectory()) return;
  throw Object.assign(new Error(`EISDIR: illegal operation on a directory, read '${path(name)}'`), { code: 'EISDIR', path: path(name) });
}

const path = (name) => (name instanceof URL ? fileURLToPath(name) : String(name));

module.exports = { aFile, bytes, path, toldApart, whole };
