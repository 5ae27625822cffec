// Rewrites a screenshot with 256 colours: it looks the same and has less than half the bytes.

import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const COLOURS_MAX = 256;

/** Reads a PNG without palette or interlacing, with 8 bits per channel, as browsers write them. */
export function smallPng(png) {
  const { width, height, rgb } = decode(png);
  const { palette, places } = paletteOf(rgb);
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = places.get(keyOf(rgb, (y * width + x) * 3));
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // 8 bits per pixel, with a palette.
  head.set([8, 3, 0, 0, 0], 8);
  const parts = [chunk('IHDR', head), chunk('PLTE', palette), chunk('IDAT', deflateSync(rows, { level: 9 }))];
  return Buffer.concat([SIGNATURE, ...parts, chunk('IEND', Buffer.alloc(0))]);
}

function decode(png) {
  const data = [];
  let head;
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const body = png.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') head = body;
    if (type === 'IDAT') data.push(body);
    at += length + 12;
  }
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)];
  const channels = { 2: 3, 6: 4 }[head[9]];
  if (head[8] !== 8 || channels === undefined || head[12] !== 0) throw new Error('Unsupported PNG format');
  const bytes = unfilter(inflateSync(Buffer.concat(data)), width * channels, height, channels);
  const rgb = Buffer.alloc(width * height * 3);
  for (let at = 0; at < width * height; at++) bytes.copy(rgb, at * 3, at * channels, at * channels + 3);
  return { width, height, rgb };
}

/** Undoes the row filters: each byte is stored as its difference to the byte on its left, above it, or both. */
function unfilter(raw, stride, height, channels) {
  const out = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)];
    for (let x = 0; x < stride; x++) {
      const left = x < channels ? 0 : out[y * stride + x - channels];
      const up = y === 0 ? 0 : out[(y - 1) * stride + x];
      const corner = x < channels || y === 0 ? 0 : out[(y - 1) * stride + x - channels];
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
      out[y * stride + x] = raw[y * (stride + 1) + 1 + x] + guess;
    }
  }
  return out;
}

function paeth(left, up, corner) {
  const [byLeft, byUp, byCorner] = [up - corner, left - corner, left + up - 2 * corner].map(Math.abs);
  if (byLeft <= byUp && byLeft <= byCorner) return left;
  return byUp <= byCorner ? up : corner;
}

/**
 * Similar colours become the most frequent one of them; the distance depends on the number of colours. A distinct
 * colour of only a few pixels, such as a state marker, is therefore kept.
 */
function paletteOf(rgb) {
  const counts = new Map();
  for (let at = 0; at < rgb.length; at += 3) counts.set(keyOf(rgb, at), (counts.get(keyOf(rgb, at)) ?? 0) + 1);
  const bySight = [...counts].sort((a, b) => b[1] - a[1]).map(([key]) => key);
  for (let step = 1; ; step++) {
    const first = new Map();
    for (const key of bySight) {
      const cell = channelsOf(key)
        .map((value) => Math.floor(value / step))
        .join();
      if (!first.has(cell)) first.set(cell, []);
      first.get(cell).push(key);
    }
    if (first.size > COLOURS_MAX) continue;
    const groups = [...first.values()];
    const places = new Map(groups.flatMap((keys, at) => keys.map((key) => [key, at])));
    return { palette: Buffer.from(groups.flatMap(([key]) => channelsOf(key))), places };
  }
}

function keyOf(rgb, at) {
  return (rgb[at] << 16) | (rgb[at + 1] << 8) | rgb[at + 2];
}

function channelsOf(key) {
  return [key >> 16, (key >> 8) & 255, key & 255];
}

function chunk(type, body) {
  const text = Buffer.concat([Buffer.from(type, 'latin1'), body]);
  const out = Buffer.alloc(body.length + 12);
  out.writeUInt32BE(body.length, 0);
  text.copy(out, 4);
  out.writeUInt32BE(crc32(text), body.length + 8);
  return out;
}
