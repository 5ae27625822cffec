/** The engine cannot start; the process ends with the code (7 port in use, 78 configuration). */
export class StartError extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.name = 'StartError';
    this.exitCode = exitCode;
  }
}
