// The `svc` binary: arguments in, exit code out.

import { runProgram } from './cli/program.ts';
import { flushProcessStreams, processTerminal } from './cli/terminal.ts';

const exitCode = await runProgram(process.argv.slice(2), processTerminal());
await flushProcessStreams();
// Not left to the event loop: whatever a command has left open must not keep a finished program alive.
process.exit(exitCode);
