// Errors that differ only in digits and ids are one kind of failure (QUE-3): dead letters are grouped by it.

const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi;
/** Ids of databases and traces: long, hexadecimal, and not a word. */
const HEX = /\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b/gi;
const DIGITS = /\d+/g;

export function foldError(error: string): string {
  return error.replace(UUID, '<id>').replace(HEX, '<id>').replace(DIGITS, '<n>');
}

/** Whether a text matches an error: a part of it, or of the common form of its kind. */
export function isErrorMeant(error: string, text: string): boolean {
  return error.includes(text) || foldError(error).includes(text);
}
