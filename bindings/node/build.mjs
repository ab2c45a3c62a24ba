// Builds the packages for npm: `agentglot`, which is JavaScript, and the one for this system, which holds `agentglot.node` and the program.
//
// Usage: node build.mjs [FOLDER] [--all]
//
// Both are packed into FOLDER, target/packages without it. With --all, `agentglot` names the packages of all systems that releases are made for,
// otherwise that of this one. In the environment, AGENTGLOT_PROGRAM names a program that is built already, AGENTGLOT_PROFILE the profile that both
// are built with (`release` without it).
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const { platform } = createRequire(import.meta.url)('./lib/native.js');
const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '../..');
const profile = process.env.AGENTGLOT_PROFILE ?? 'release';
const released = ['linux-x64-gnu', 'linux-x64-musl', 'linux-arm64-gnu', 'linux-arm64-musl', 'darwin-x64', 'darwin-arm64', 'win32-x64'];

const args = process.argv.slice(2);
const all = args.includes('--all');
const target = process.env.CARGO_TARGET_DIR;
const output = resolve(args.find((arg) => !arg.startsWith('--')) ?? join(target ?? join(root, 'target'), 'packages'));

/** Builds it, and tells where it lies. */
function cargo(manifest, ...what) {
  const args = ['build', '--locked', '--profile', profile, '--manifest-path', join(root, manifest), ...what];
  execFileSync('cargo', args, { stdio: 'inherit', cwd: here });
  return resolve(here, target ?? join(root, dirname(manifest), 'target'), profile);
}

const library = { linux: 'libagentglot_node.so', darwin: 'libagentglot_node.dylib', win32: 'agentglot_node.dll' }[process.platform];
const suffix = process.platform === 'win32' ? '.exe' : '';
const module = join(cargo('bindings/Cargo.toml', '--package', 'agentglot-node'), library);
const program = process.env.AGENTGLOT_PROGRAM ?? join(cargo('Cargo.toml', '--bin', 'agentglot'), `agentglot${suffix}`);

const [, version] = readFileSync(join(root, 'bindings/Cargo.toml'), 'utf8').match(/^version = "(.*)"$/m);
const { name, ...rest } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));
const about = { name, version, ...rest };
const stage = mkdtempSync(join(tmpdir(), 'agentglot-npm-'));
try {
  const [os, cpu, libc] = platform().split('-');
  const own = {
    name: `@agentglot/${platform()}`,
    version,
    description: `What agentglot has for ${platform()}`,
    license: about.license,
    repository: about.repository,
    engines: about.engines,
    os: [os],
    cpu: [cpu],
    ...(libc && { libc: [libc === 'gnu' ? 'glibc' : libc] }),
  };
  const platforms = all ? released : [platform()];
  about.optionalDependencies = Object.fromEntries(platforms.map((name) => [`@agentglot/${name}`, version]));

  const packed = (name, json, fill) => {
    const folder = join(stage, name);
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(json, null, 2)}\n`);
    for (const licence of ['LICENSE-APACHE', 'LICENSE-MIT']) cpSync(join(root, licence), join(folder, licence));
    fill(folder);
    execFileSync('npm', ['pack', '--silent', '--pack-destination', output], { stdio: ['ignore', 'inherit', 'inherit'], cwd: folder, shell: suffix !== '' });
  };
  mkdirSync(output, { recursive: true });
  packed('platform', own, (folder) => {
    cpSync(module, join(folder, 'agentglot.node'));
    cpSync(program, join(folder, `agentglot${suffix}`));
    chmodSync(join(folder, `agentglot${suffix}`), 0o755);
  });
  packed('agentglot', about, (folder) => {
    cpSync(join(here, 'lib'), join(folder, 'lib'), { recursive: true });
    cpSync(join(here, 'README.md'), join(folder, 'README.md'));
  });
} finally {
  rmSync(stage, { recursive: true });
}
