'use strict';

const { getSystemErrorName } = require('node:util');
const { inOptions } = require('./options.js');

class AgentglotError extends Error {
  constructor(message, about = {}) {
    super(inOptions(message));
    this.file = about.file;
    this.line = about.line;
    this.byte = about.byte;
  }

  get name() {
    return this.constructor.name;
  }
}

class UsageError extends AgentglotError {}

class UnclearError extends AgentglotError {
  constructor(message, about = {}) {
    super(message, about);
    this.candidates = about.candidates ?? [];
  }
}

class InternalError extends AgentglotError {}

const said = (damage) => `${damage.file}:${damage.line}:${damage.byte}: ${damage.reason}${damage.pointer ? ` (${damage.pointer})` : ''}`;

class DamagedError extends AgentglotError {
  constructor(damage, output) {
    super(said(damage[0]) + (damage.length > 1 ? `, and ${damage.length - 1} more` : ''), damage[0]);
    this.damage = damage;
    this.output = output;
  }
}

/** What the system says of a file, as `fs` says it. */
function system({ message, file, errno }) {
  const error = new Error(`${file}: ${message}`);
  if (errno) {
    Object.assign(error, { errno: -errno, path: file });
    try {
      error.code = getSystemErrorName(-errno);
      error.message = `${error.code}: ${message}, '${file}'`;
    } catch {
      // A number that only the system knows.
    }
  }
  return error;
}

/** The answer of a native call, or what went wrong, thrown. */
function checked(answer) {
  if (!answer.fault) return answer;
  const fault = JSON.parse(answer.fault);
  switch (fault.kind) {
    case 'usage':
      throw new UsageError(fault.message, fault);
    case 'unclear':
      throw new UnclearError(fault.message, fault);
    case 'system':
      throw system(fault);
    default:
      throw new InternalError(fault.message, fault);
  }
}

/** Damage, handled as it was asked for. */
class Told {
  constructor(how = 'throw') {
    if (typeof how !== 'function' && !['throw', 'warn', 'ignore'].includes(how)) {
      throw new UsageError(`onDamage is 'throw', 'warn', 'ignore' or a function, not ${JSON.stringify(how)}`);
    }
    this.how = how;
  }

  /** Tells it, and throws what is to be thrown, with what has come of everything else. */
  tell(found, output) {
    if (found.length === 0) return;
    if (typeof this.how === 'function') found.forEach((damage) => this.how(damage));
    else if (this.how === 'warn') found.forEach((damage) => process.emitWarning(said(damage), 'AgentglotWarning'));
    else if (this.how === 'throw') throw new DamagedError(found, output);
  }
}

module.exports = { AgentglotError, DamagedError, InternalError, Told, UnclearError, UsageError, checked };
