import { FakeClock } from './fake-clock.ts';

/** A fake clock with real turns of the event loop, for an engine with real sockets. */
export class TurningClock extends FakeClock {
  override afterTurn(task: () => void): void {
    setImmediate(task);
  }
}
