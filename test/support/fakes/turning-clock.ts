import { FakeClock } from './fake-clock.ts';

/** Timers by hand, while the turns of the event loop go on: for an engine whose sockets are real. */
export class TurningClock extends FakeClock {
  override afterTurn(task: () => void): void {
    setImmediate(task);
  }
}
