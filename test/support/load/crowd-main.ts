// Many subscribers of one group in a process of their own: reading takes as much as sending, and nobody else of the test
// is to wait for it. Arguments: address, path, how many. Told `slow`, the first of them reads hardly anything; told `on`,
// it reads on, and the code of the goodbye that it got is what the process answers.

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
