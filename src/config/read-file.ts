import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describeTooBig, FILE_BYTES_MAX } from './document.ts';
import { type ConfigProblem, fileProblem } from './problem.ts';

export type ReadFile =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: ConfigProblem };

/** The methods of an opened file that are used; a test passes its own. */
export interface OpenFile {
  stat(): Promise<{ readonly size: number; isDirectory(): boolean }>;
  read(buffer: Uint8Array, offset: number, length: number): Promise<{ readonly bytesRead: number }>;
  close(): Promise<void>;
}

type Opener = (path: string) => Promise<OpenFile>;

/** The text of a configuration file. Reads no more than the limit, even from a pipe, which does not report its size. */
export async function readConfigFile(path: string, openFile: Opener = openToRead): Promise<ReadFile> {
  const refuse = (message: string): ReadFile => ({ ok: false, problem: fileProblem(path, message) });
  let file: OpenFile | undefined;
  try {
    file = await openFile(path);
    const status = await file.stat();
    if (status.isDirectory()) return refuse(`${resolve(path)} is a directory, not a file.`);
    if (status.size > FILE_BYTES_MAX) return refuse(describeTooBig(status.size));
    const bytes = await readUpTo(file, FILE_BYTES_MAX + 1);
    if (bytes.length > FILE_BYTES_MAX) return refuse(describeTooBig(bytes.length));
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    // Whatever the error of the system or the decoder, the user's next step is to check this path.
    return refuse(describeFailure(error, resolve(path)));
  } finally {
    await file?.close();
  }
}

function openToRead(path: string): Promise<OpenFile> {
  return open(path, 'r');
}

async function readUpTo(file: OpenFile, bytesMax: number): Promise<Uint8Array> {
  const buffer = new Uint8Array(bytesMax);
  let length = 0;
  while (length < bytesMax) {
    const { bytesRead } = await file.read(buffer, length, bytesMax - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

function describeFailure(error: unknown, absolutePath: string): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'ENOENT':
      return `There is no file ${absolutePath}.`;
    case 'EACCES':
      return `${absolutePath} may not be read by this user.`;
    case 'ERR_ENCODING_INVALID_ENCODED_DATA':
      return `${absolutePath} is not UTF-8 text.`;
    default:
      return `${absolutePath} cannot be read: ${error instanceof Error ? error.message : String(error)}.`;
  }
}
