// The number of bytes of a text on the wire, without encoding it.

export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    // A surrogate pair is two units and four bytes; any other unit from 0x800 on is three bytes.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}

/** Whether a text is longer than `bytesMax`. The number of units alone nearly always decides. */
export function exceedsUtf8(text: string, bytesMax: number): boolean {
  if (text.length * 3 <= bytesMax) return false;
  return text.length > bytesMax || utf8Length(text) > bytesMax;
}
