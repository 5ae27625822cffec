import { describe, expect, test } from 'vitest';
import { addWorkerEntry, removeWorkerEntry } from '../../../src/config/edit.ts';

const FILE = `# Ours.
threads: 2   # as many

workers:
  # The port.
  - name: svc-worker-manager
    config:
      port: 49134   # bridge

  # Orders.
  - name: orders
    path: ./orders  # next to us

# The end.
log_payloads: false
`;

describe('adding an entry', () => {
  test('keeps comments, order and spacing, and puts the entry last', () => {
    expect(addWorkerEntry(FILE, { name: 'mail', path: './mail' })).toBe(
      FILE.replace('# next to us\n', '# next to us\n  - name: mail\n    path: ./mail\n'),
    );
  });

  test('creates the list if the file has none', () => {
    expect(addWorkerEntry('', { name: 'svc-state' })).toBe('workers:\n  - name: svc-state\n');
    expect(addWorkerEntry('threads: 2', { name: 'svc-state' })).toBe('threads: 2\n\nworkers:\n  - name: svc-state\n');
    expect(addWorkerEntry('# only this\n', { name: 'svc-state' })).toBe(
      '# only this\n\nworkers:\n  - name: svc-state\n',
    );
  });

  test('fills an empty list, written either way', () => {
    expect(addWorkerEntry('workers: []\nthreads: 2\n', { name: 'a', path: 'b' })).toBe(
      'workers:\n  - name: a\n    path: b\nthreads: 2\n',
    );
    expect(addWorkerEntry('workers:\nthreads: 2\n', { name: 'a' })).toBe('workers:\n  - name: a\nthreads: 2\n');
  });

  test('keeps a list in brackets and Windows line ends as they are', () => {
    expect(addWorkerEntry('workers: [{name: a}]\n', { name: 'b', path: './b' })).toBe(
      'workers: [{name: a}, { name: b, path: ./b }]\n',
    );
    expect(addWorkerEntry('workers:\r\n- name: a\r\n', { name: 'b' })).toBe('workers:\r\n- name: a\r\n- name: b\r\n');
  });

  test('adds the missing line end of the last line', () => {
    expect(addWorkerEntry('workers:\n  - name: a', { name: 'b' })).toBe('workers:\n  - name: a\n  - name: b\n');
  });

  test('writes configuration below the name', () => {
    expect(
      addWorkerEntry('workers: []\n', { name: 'svc-queue', config: { queue_configs: { a: { concurrency: 2 } } } }),
    ).toBe('workers:\n  - name: svc-queue\n    config:\n      queue_configs:\n        a:\n          concurrency: 2\n');
  });
});

describe('removing an entry', () => {
  test('removes the comment of the entry too, and nothing else', () => {
    expect(removeWorkerEntry(FILE, 'orders')).toBe(
      FILE.replace('  # Orders.\n  - name: orders\n    path: ./orders  # next to us\n', ''),
    );
  });

  test('leaves an empty list when the last entry is removed', () => {
    expect(removeWorkerEntry('workers:\n  - name: a\n    path: b\nthreads: 2\n', 'a')).toBe(
      'workers: []\nthreads: 2\n',
    );
    expect(removeWorkerEntry('workers: [{name: a}]\n', 'a')).toBe('workers: []\n');
  });

  test('removes an entry of a list in brackets', () => {
    expect(removeWorkerEntry('workers: [{name: a}, {name: b}, {name: c}]\n', 'b')).toBe(
      'workers: [{name: a}, {name: c}]\n',
    );
    expect(removeWorkerEntry('workers: [{name: a}, {name: b}]\n', 'a')).toBe('workers: [{name: b}]\n');
  });

  test('reports that no entry has that name', () => {
    expect(removeWorkerEntry(FILE, 'mail')).toBeUndefined();
    expect(removeWorkerEntry('', 'mail')).toBeUndefined();
  });

  test('restores the file to what it was before the entry was added', () => {
    expect(removeWorkerEntry(addWorkerEntry(FILE, { name: 'mail', path: './mail' }), 'mail')).toBe(FILE);
  });
});
