// What is written down holds: the snippets of the README, the types.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { events } from 'agentglot';
import { root } from './common.mjs';

const snippets = [...readFileSync(join(root, 'bindings/node/README.md'), 'utf8').matchAll(/^```js\n(.*?)^```/gms)].map(([, code]) => code);

/** A folder as the README has it, where `agentglot` is found. */
function place() {
  const path = mkdtempSync(join(import.meta.dirname, 'place-'));
  after(() => rmSync(path, { recursive: true, force: true }));
  const golden = (name) => join(root, 'golden/claude', `${name}.out.jsonl`);
  copyFileSync(golden('cli_parallel_partial'), join(path, 'session.jsonl'));
  mkdirSync(join(path, 'logs'));
  for (const name of ['cli_edit', 'cli_parallel_partial']) copyFileSync(golden(name), join(path, 'logs', `${name}.out.jsonl`));
  return path;
}

test('the snippets run', () => {
  assert.equal(snippets.length, 3);
  for (const [n, code] of snippets.entries()) {
    const cwd = place();
    writeFileSync(join(cwd, 'snippet.mjs'), code);
    const { status, stdout, stderr } = spawnSync(process.execPath, ['snippet.mjs'], { cwd, encoding: 'utf8' });
    assert.equal(status, 0, `${n}: ${stderr}`);
    assert.ok(stdout, 'it shows something');
  }
});

const tsc = (cwd, ...files) =>
  spawnSync(
    process.execPath,
    [
      join(process.env.AGENTGLOT_TOOLS, 'node_modules/typescript/bin/tsc'),
      ...['--noEmit', '--strict', '--target', 'es2023', '--module', 'nodenext', '--types', 'node', '--pretty', 'false'],
      ...['--typeRoots', join(process.env.AGENTGLOT_TOOLS, 'node_modules/@types'), ...files],
    ],
    { cwd, encoding: 'utf8' },
  );

test('the types are sound, and what is wrong is found', () => {
  const cwd = place();
  const names = snippets.map((_, n) => `snippet${n}.mts`);
  names.forEach((name, n) => writeFileSync(join(cwd, name), snippets[n]));
  writeFileSync(join(cwd, 'required.cts'), "import agentglot = require('agentglot');\nconst made: Promise<Buffer> = agentglot.convert('log', { to: 'cursor' });\nvoid made;\n");
  const sound = tsc(cwd, ...names, 'required.cts');
  assert.equal(sound.status, 0, sound.stdout + sound.stderr);
  writeFileSync(
    join(cwd, 'wrong.mts'),
    `import { convert, events } from 'agentglot';
await convert('log', { to: 7 });
for await (const event of events('log')) {
  if ('event' in event && event.event === 'tool_result') {
    event.colour;
  }
  event.status;
}
await convert(17, { to: 'cursor' });
`,
  );
  const wrong = tsc(cwd, 'wrong.mts').stdout;
  assert.deepEqual([...wrong.matchAll(/^wrong\.mts\((\d+),/gm)].map(([, line]) => Number(line)), [2, 5, 7, 9], wrong);
});

test('the types have every member that events of real logs have', async () => {
  const types = readFileSync(createRequire(import.meta.url).resolve('agentglot').replace(/index\.js$/, 'model.d.ts'), 'utf8');
  const members = (body) => [...body.matchAll(/^ {2}(\w+)\??:/gm)].map(([, name]) => name);
  const common = members(types.match(/interface Common \{(.*?)^\}/ms)[1]);
  const known = new Map();
  for (const [, tag, kind, body] of types.matchAll(/extends Common \{\n {2}(event|input): '(\w+)';(.*?)^\}/gms)) {
    known.set(`${tag} ${kind}`, new Set([tag, ...common, ...members(body)]));
  }
  let seen = 0;
  for (const dialect of readdirSync(join(root, 'golden'), { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
    const logs = readdirSync(join(dialect.parentPath, dialect.name)).filter((name) => name.endsWith('.jsonl')).slice(0, 20);
    for (const log of logs) {
      const reading = events(join(dialect.parentPath, dialect.name, log), { onDamage: 'ignore' });
      try {
        for await (const event of reading) {
          const tag = 'event' in event ? 'event' : 'input';
          const members = known.get(`${tag} ${event[tag]}`);
          assert.ok(members, `${tag} ${event[tag]}`);
          for (const name of Object.keys(event)) assert.ok(members.has(name), `${log}: ${tag} ${event[tag]}: ${name}`);
          seen += 1;
        }
      } catch (error) {
        // Some recordings are the host's half, or too short to tell.
        if (error.name !== 'UnclearError' && error.name !== 'UsageError') throw error;
      }
    }
  }
  assert.ok(seen > 1000, `${seen}`);
});
