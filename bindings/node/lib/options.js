'use strict';

const { fileURLToPath } = require('node:url');

const FLAGS = {
  partial: '--include-partial-messages',
  strict: '--strict',
  repair: '--repair',
  validate: '--validate',
  oldText: '--old-text',
  cdInCommands: '--cd-in-commands',
  allMessages: '--all-messages',
  utc: '--utc',
};
const VALUES = {
  to: '--to',
  from: '--from',
  tools: '--tools',
  maxLine: '--max-line',
  jobs: '--jobs',
  output: '--output',
  ledger: '--ledger',
  level: '--level',
  by: '--by',
  prices: '--prices',
};
const LISTS = { prompts: '--prompt', include: '--include' };

const CONVERSION = ['from', 'tools', 'partial', 'strict', 'repair', 'validate', 'maxLine', 'prompts', 'oldText', 'cdInCommands', 'allMessages'];
const FILES = ['jobs', 'ledger', 'include'];

/** Options, of which there may be none but these. */
function only(options, ...names) {
  const other = Object.keys(options).find((name) => !names.includes(name));
  if (other !== undefined) throw new TypeError(`there is no option ${JSON.stringify(other)}`);
  return options;
}

/** Options as words of the command line. */
function words(options) {
  return Object.entries(options).flatMap(([name, value]) => {
    if (value === undefined || value === null) return [];
    if (name in FLAGS) return value ? [FLAGS[name]] : [];
    if (name in VALUES) return [`${VALUES[name]}=${value instanceof URL ? fileURLToPath(value) : value}`];
    if (!Array.isArray(value)) throw new TypeError(`${name} is an array of texts`);
    return value.map((each) => `${LISTS[name]}=${each}`);
  });
}

/** Those of a conversion. */
function conversion(to, options) {
  if (typeof to !== 'string') throw new TypeError('to names a dialect or one of its formats');
  return words({ to, ...only(options, ...CONVERSION, ...FILES) });
}

const NAMES = new Map([FLAGS, VALUES, LISTS].flatMap((table) => Object.entries(table).map(([name, option]) => [option, name])));
NAMES.set('--dialect', 'from').set('-o', 'output');
const NAMED = new RegExp(`(?<![\\w/.-])(${[...NAMES.keys()].sort((a, b) => b.length - a.length).join('|')})(?![\\w/.-])(?: <[A-Z_]+>)?`, 'g');

/** What the program says of an option of its command line, with the name that it has here. */
const inOptions = (message) => message.replace(NAMED, (_, option) => NAMES.get(option));

module.exports = { conversion, inOptions, only, words };
