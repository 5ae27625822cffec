// Many subscribers of one group in a separate process: reading takes as long as sending, and the test must not wait for
// it. Arguments: address, path, how many. After `slow`, the first of them reads very little. After `on`, it reads on, and
// the process answers with the close code that it gets.

import { BareSubscriber } from './event-crowd.ts';

const SLOW_BYTES_PER_SECOND = 1_024;
const [url = '', path = '', count = '1'] = process.argv.slice(2);
const [slow] = await BareSubscriber.crowd(url, path, Number(count));
if (slow === undefined) throw new Error('There is no crowd');
const { socket } = slow;
let timer: NodeJS.Timeout | undefined;
process.on('message', async (word) => {
  if (word === 'slow') {
    socket.pause();
    timer = setInterval(() => socket.read(Math.min(SLOW_BYTES_PER_SECOND, socket.readableLength)), 1_000);
    return;
  }
  clearInterval(timer);
  socket.resume();
  process.send?.({ closeCode: await slow.closeCode() });
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
