// Loaded first into every thread of an engine: its wall clock differs by the milliseconds in the address of this module.

const shiftMs = Number(new URL(import.meta.url).searchParams.get('ms'));
const RealDate = Date;

globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length === 0 ? [RealDate.now() + shiftMs] : given));
  }

  static now() {
    return RealDate.now() + shiftMs;
  }
};
