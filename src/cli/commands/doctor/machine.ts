// The checks of `svc doctor` for this machine: Node, open files, the terminal and shell completion.

import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { openFilesMax } from '../../../effects/open-files.ts';
import { isEngineNode } from '../../engine/pinned-node.ts';
import type { Terminal } from '../../text/terminal.ts';
import { type Finding, ok, warn } from './finding.ts';

/** Below this number a busy engine reaches the limit of the system before its own. */
const OPEN_FILES_ADVISED = 65_536;

export async function machineFindings(terminal: Terminal): Promise<Finding[]> {
  return [nodeFinding(process.versions.node), openFilesFinding(openFilesMax()), ...(await terminalFindings(terminal))];
}

function nodeFinding(version: string): Finding {
  if (isEngineNode(version)) return ok('node', `Node ${version} runs everything`);
  return warn(
    'node',
    `Node ${version} can run the command line and workers, but not the engine`,
    'Install Node 22.15 or newer. If such a Node is installed with svc, the engine uses it.',
  );
}

function openFilesFinding(max: number | undefined): Finding {
  if (max === undefined) return ok('open files', 'the limit of this system is unknown');
  if (max >= OPEN_FILES_ADVISED) return ok('open files', `the limit is ${max}`);
  return warn(
    'open files',
    `the limit is ${max}, which limits the number of connections`,
    `ulimit -n ${OPEN_FILES_ADVISED}, or LimitNOFILE=${OPEN_FILES_ADVISED} in the systemd unit`,
  );
}

async function terminalFindings({ out, env, startedAs }: Terminal): Promise<Finding[]> {
  if (!out.isTerminal) return [ok('terminal', 'no terminal: output is plain text')];
  if (startedAs !== 'svc') return [ok('completion', `works only when svc is on the PATH; here it is ${startedAs}`)];
  const shell = basename(env.SHELL ?? '');
  const file = START_FILES[shell];
  if (file === undefined || env.HOME === undefined) return [ok('terminal', `${out.columns ?? 0} columns`)];
  const text = await readFile(join(env.HOME, file), 'utf8').catch(() => '');
  if (text.includes('svc completion')) return [ok('completion', `set up in ~/${file}`)];
  return [
    warn(
      'completion',
      `~/${file} does not mention svc`,
      `Optional: echo 'source <(svc completion ${shell})' >> ~/${file}`,
    ),
  ];
}

/** Files in which a shell loads the completion. Other shells use folders. */
const START_FILES: Readonly<Record<string, string>> = { bash: '.bashrc', zsh: '.zshrc' };
