#!/usr/bin/env node
'use strict';

// The command is the program itself: its input, output and exit code are its own, and signals are handed on.
const { spawn } = require('node:child_process');
const { program } = require('./native.js');

const child = spawn(program(), process.argv.slice(2), { stdio: 'inherit' });
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
const handOn = (signal) => child.kill(signal);
for (const signal of signals) process.on(signal, handOn);
child.on('error', (error) => {
  console.error(`agentglot: ${error.message}`);
  process.exitCode = 3;
});
child.on('exit', (code, signal) => {
  for (const each of signals) process.off(each, handOn);
  if (signal) process.kill(process.pid, signal);
  else process.exitCode = code;
});
