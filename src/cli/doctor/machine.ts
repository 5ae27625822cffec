// What `svc doctor` looks at on this machine: Node, open files, the terminal and its completion.

import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { openFilesMax } from '../../effects/open-files.ts';
import { isEngineNode } from '../pinned-node.ts';
import type { Terminal } from '../terminal.ts';
import { type Finding, ok, warn } from './finding.ts';

/** Below this many a busy engine meets the limit of the system before its own. */
const OPEN_FILES_ADVISED = 65_536;

export async function machineFindings(terminal: Terminal): Promise<Finding[]> {
  return [nodeFinding(process.versions.node), openFilesFinding(openFilesMax()), ...(await terminalFindings(terminal))];
}

export function nodeFinding(version: string): Finding {
  if (isEngineNode(version)) return ok('node', `Node ${version} runs everything`);
  return warn(
    'node',
    `Node ${version} runs the command line and workers, but no engine`,
    'Install Node 22.15 or newer. An engine that finds one beside it starts itself on that one.',
  );
}

export function openFilesFinding(max: number | undefined): Finding {
  if (max === undefined) return ok('open files', 'this system does not tell its limit');
  if (max >= OPEN_FILES_ADVISED) return ok('open files', `${max} may be open`);
  return warn(
    'open files',
    `${max} may be open, which bounds the connections`,
    `ulimit -n ${OPEN_FILES_ADVISED}, or LimitNOFILE=${OPEN_FILES_ADVISED} in the systemd unit`,
  );
}

async function terminalFindings({ out, env, startedAs }: Terminal): Promise<Finding[]> {
  if (!out.isTerminal) return [ok('terminal', 'none: output is plain text')];
  if (startedAs !== 'svc') return [ok('completion', `for a svc on the PATH; here it is ${startedAs}`)];
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

/** Where a shell would load the completion. Others look into folders of their own. */
const START_FILES: Readonly<Record<string, string>> = { bash: '.bashrc', zsh: '.zshrc' };
