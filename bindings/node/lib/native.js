'use strict';

const { join, dirname } = require('node:path');

/** The name of the package for this system: `linux-x64-gnu`. */
function platform() {
  const { platform, arch } = process;
  if (platform !== 'linux') return `${platform}-${arch}`;
  // Only a Node that was built for glibc tells its version.
  return `linux-${arch}-${process.report.getReport().header.glibcVersionRuntime ? 'gnu' : 'musl'}`;
}

/** The folder that holds `agentglot.node` and the command. */
function folder() {
  const name = `@agentglot/${platform()}`;
  try {
    return dirname(require.resolve(`${name}/package.json`));
  } catch (cause) {
    const why = `agentglot has no package for this system, or it was not installed: ${name} (an optional dependency: npm install without --omit=optional)`;
    throw new Error(why, { cause });
  }
}

const program = () => join(folder(), process.platform === 'win32' ? 'agentglot.exe' : 'agentglot');

module.exports = { folder, platform, program };
