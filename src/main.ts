// The `svc` binary: arguments in, exit code out.

import { runProgram } from './cli/kernel/program.ts';
import { flushProcessStreams, processTerminal } from './cli/text/terminal.ts';

const exitCode = await runProgram(process.argv.slice(2), processTerminal());
await flushProcessStreams();
// Exits explicitly: a handle that a command left open must not keep the finished program alive.
process.exit(exitCode);
