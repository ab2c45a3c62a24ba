import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';

/** The repository. */
export const root = process.env.AGENTGLOT_ROOT;

/** A real log of Claude Code, with partial messages. */
export const log = join(root, 'golden/claude/cli_parallel_partial.out.jsonl');

export const GOOD = '{"type":"assistant","session_id":"s","message":{"role":"assistant","content":[{"type":"text","text":"a"}]}}\n';
export const END = '{"type":"result","subtype":"success","is_error":false,"result":"hi","session_id":"s"}\n';

/** A folder that goes away at the end. */
export function folder() {
  const path = mkdtempSync(join(tmpdir(), 'agentglot-test-'));
  after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
