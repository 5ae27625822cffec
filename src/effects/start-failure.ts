// A part of the engine cannot start. Thrown by a module's `start`; it ends the process with this exit code.

export class StartFailure extends Error {
  /** 74: its storage failed or is damaged. 75: a dependency was unreachable. 78: its configuration cannot work. */
  readonly exitCode: 74 | 75 | 78;

  constructor(exitCode: 74 | 75 | 78, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StartFailure';
    this.exitCode = exitCode;
  }
}
