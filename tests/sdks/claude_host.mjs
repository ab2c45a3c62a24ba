// The Claude Agent SDK for TypeScript in front of us: what its scenarios share.
import { query } from '@anthropic-ai/claude-agent-sdk';
import { backend, cli, turnsOf, workspace } from './scenarios.mjs';

export const ask = (prompt, options = {}) =>
  query({ prompt, options: { pathToClaudeCodeExecutable: cli, cwd: workspace, settingSources: [], ...options, env: { ...process.env, AGENTGLOT_BACKEND: backend, ...options.env } } });

/** The messages of each turn. */
export const turns = (texts, options = {}, between) => turnsOf(ask, texts, options, between);
