// The engine, or a part of it, cannot start. It ends the process with this exit code.

export class StartFailure extends Error {
  /**
   * 7: a port or directory is in use. 74: its storage failed or is damaged. 75: a dependency was unreachable. 78: its
   * configuration cannot work. A router thread that ended gives its own.
   */
  readonly exitCode: number;

  constructor(exitCode: number, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StartFailure';
    this.exitCode = exitCode;
  }
}
