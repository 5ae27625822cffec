// The `svc` binary: arguments in, exit code out.

import { CATALOGUE } from './cli/catalogue.ts';
import { runProgram } from './cli/kernel/program.ts';
import { flushProcessStreams, processTerminal } from './cli/text/terminal.ts';
import { endProcess } from './effects/process-end.ts';

const exitCode = await runProgram(process.argv.slice(2), processTerminal(), CATALOGUE);
await flushProcessStreams();
// Exits explicitly: a handle that a command left open must not keep the finished program alive.
endProcess(exitCode);
