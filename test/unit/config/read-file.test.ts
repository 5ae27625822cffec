import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FILE_BYTES_MAX } from '../../../src/config/document.ts';
import { type OpenFile, readConfigFile } from '../../../src/config/read-file.ts';

interface FakeFile {
  readonly content: Uint8Array;
  /** The size that the file system reports; pipes report 0. */
  readonly size?: number;
  readonly isDirectory?: boolean;
  readonly chunkBytes?: number;
}

/** A file in memory that records how much of it was read and whether it was closed. */
function fakeFile({ content, size = content.length, isDirectory = false, chunkBytes = 65_536 }: FakeFile) {
  const seen = { bytesRead: 0, isClosed: false };
  const file: OpenFile = {
    stat: async () => ({ size, isDirectory: () => isDirectory }),
    read: async (buffer, offset, length) => {
      const chunk = content.subarray(seen.bytesRead, seen.bytesRead + Math.min(length, chunkBytes));
      buffer.set(chunk, offset);
      seen.bytesRead += chunk.length;
      return { bytesRead: chunk.length };
    },
    close: async () => {
      seen.isClosed = true;
    },
  };
  return { seen, open: async () => file };
}

function failing(code: string): () => Promise<OpenFile> {
  return () => Promise.reject(Object.assign(new Error(`${code}: something`), { code }));
}

describe('reading the file', () => {
  test('[K4] the text has no byte order mark, in however many pieces it was read', async () => {
    const { seen, open } = fakeFile({ content: Buffer.from('\ufeffthreads: 2 # é\n'), chunkBytes: 3 });
    expect(await readConfigFile('svc-config.yaml', open)).toEqual({ ok: true, text: 'threads: 2 # é\n' });
    expect(seen.isClosed).toBe(true);
  });

  test('[K4] a missing file is reported with its absolute path', async () => {
    expect(await readConfigFile('conf/svc.yaml', failing('ENOENT'))).toEqual({
      ok: false,
      problem: {
        file: 'conf/svc.yaml',
        line: 0,
        column: 0,
        path: '',
        message: `There is no file ${resolve('conf/svc.yaml')}.`,
        excerpt: '',
      },
    });
  });

  test.each([
    ['EACCES', '/etc/svc.yaml may not be read by this user.'],
    ['EIO', '/etc/svc.yaml cannot be read: EIO: something.'],
  ])('[K4] a file that cannot be opened (%s) is a problem, not a crash', async (code, message) => {
    expect(await readConfigFile('/etc/svc.yaml', failing(code))).toMatchObject({ ok: false, problem: { message } });
  });

  test('[K4] a directory is refused', async () => {
    const { seen, open } = fakeFile({ content: new Uint8Array(), isDirectory: true });
    expect(await readConfigFile('/etc', open)).toMatchObject({
      ok: false,
      problem: { message: '/etc is a directory, not a file.' },
    });
    expect(seen).toEqual({ bytesRead: 0, isClosed: true });
  });

  test('[X21] a file over the limit is refused without reading it', async () => {
    const { seen, open } = fakeFile({ content: new Uint8Array(FILE_BYTES_MAX + 1) });
    expect(await readConfigFile('a.yaml', open)).toMatchObject({
      ok: false,
      problem: { file: 'a.yaml', message: 'The file has 1048577 bytes, over the limit of 1048576.' },
    });
    expect(seen).toEqual({ bytesRead: 0, isClosed: true });
  });

  test('[X21] a pipe, which reports no size, is read up to the limit and no further', async () => {
    const { seen, open } = fakeFile({ content: new Uint8Array(3 * FILE_BYTES_MAX), size: 0 });
    expect(await readConfigFile('/dev/fd/63', open)).toMatchObject({ ok: false });
    expect(seen).toEqual({ bytesRead: FILE_BYTES_MAX + 1, isClosed: true });
    const fits = fakeFile({ content: Buffer.alloc(FILE_BYTES_MAX, '#'), size: 0 });
    expect(await readConfigFile('/dev/fd/63', fits.open)).toMatchObject({ ok: true });
  });

  test('[X21] text that is not UTF-8 is refused', async () => {
    const { seen, open } = fakeFile({ content: Uint8Array.of(0x61, 0xff, 0xfe) });
    expect(await readConfigFile('/x.yaml', open)).toMatchObject({
      ok: false,
      problem: { message: '/x.yaml is not UTF-8 text.' },
    });
    expect(seen.isClosed).toBe(true);
  });
});
