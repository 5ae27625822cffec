// Requests whose end two parsers may see in different places, and invalid requests. From the published collections of
// such cases: lengths that contradict each other, disguised encodings, folded headers, bare CR and LF.

/** The target of a second request, hidden in the first. */
export const EVIL_PATH = '/evil';

const EVIL = `GET ${EVIL_PATH} HTTP/1.1\r\nHost: a\r\n\r\n`;
const END = '0\r\n\r\n';

function post(headers: string, body: string): string {
  return `POST /a HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n${body}`;
}

export const AMBIGUOUS_REQUESTS: Readonly<Record<string, string>> = {
  'CL.TE': post(`Content-Length: 6\r\nTransfer-Encoding: chunked`, `${END}X`),
  'CL.TE with a second request': post(
    `Content-Length: ${END.length + EVIL.length}\r\nTransfer-Encoding: chunked`,
    END + EVIL,
  ),
  'TE.CL': post(`Transfer-Encoding: chunked\r\nContent-Length: 4`, `5c\r\n${EVIL}\r\n${END}`),
  'two lengths': post(`Content-Length: 0\r\nContent-Length: ${EVIL.length}`, EVIL),
  'two equal lengths': post('Content-Length: 3\r\nContent-Length: 3', `abc${EVIL}`),
  'a list of lengths': post('Content-Length: 3, 3', `abc${EVIL}`),
  'a length with a sign': post('Content-Length: +3', `abc${EVIL}`),
  'a negative length': post('Content-Length: -1', EVIL),
  'a hexadecimal length': post('Content-Length: 0x3', `abc${EVIL}`),
  'an empty length': post('Content-Length: ', EVIL),
  'a length beyond all numbers': post('Content-Length: 99999999999999999999', EVIL),
  'a length with a blank inside': post('Content-Length: 0 3', `abc${EVIL}`),
  'a blank before the colon of the length': post('Content-Length : 3', `abc${EVIL}`),
  'a blank before the colon of the encoding': post('Transfer-Encoding : chunked', END + EVIL),
  'an unknown encoding': post('Transfer-Encoding: xchunked', END + EVIL),
  'an empty encoding': post('Transfer-Encoding: identity', EVIL),
  'two encodings': post('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', END + EVIL),
  'chunked, listed before another': post('Transfer-Encoding: chunked, identity', END + EVIL),
  'chunked, listed after another': post('Transfer-Encoding: gzip, chunked', END + EVIL),
  'a quoted encoding': post('Transfer-Encoding: "chunked"', END + EVIL),
  'an encoding after a vertical tab': post('Transfer-Encoding: \x0bchunked', END + EVIL),
  'an encoding with a NUL': post('Transfer-Encoding: chunked\0', END + EVIL),
  'a folded encoding': post('Transfer-Encoding:\r\n chunked', END + EVIL),
  'a folded header': post('X-A: one\r\n two', EVIL),
  'an encoding after a bare CR': post('X-A: one\rTransfer-Encoding: chunked', END + EVIL),
  'an encoding after a bare LF': post('X-A: one\nTransfer-Encoding: chunked', END + EVIL),
  'two hosts': `GET /a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n${EVIL}`,
  'a chunk that is longer than it says': post('Transfer-Encoding: chunked', `3\r\nabcX\r\n${END}${EVIL}`),
  'a chunk size in hexadecimal notation': post('Transfer-Encoding: chunked', `0x3\r\nabc\r\n${END}${EVIL}`),
  'a chunk size beyond all numbers': post('Transfer-Encoding: chunked', `FFFFFFFFFFFFFFFF1\r\nabc\r\n${END}${EVIL}`),
  'a negative chunk size': post('Transfer-Encoding: chunked', `-3\r\nabc\r\n${END}${EVIL}`),
  'chunks that end with a bare LF': post('Transfer-Encoding: chunked', `3\nabc\n0\n\n${EVIL}`),
  'a chunk extension with a bare LF': post('Transfer-Encoding: chunked', `3;\nabc\r\n${END}${EVIL}`),
};

export const BROKEN_REQUESTS: Readonly<Record<string, string>> = {
  'no host': 'GET /a HTTP/1.1\r\n\r\n',
  'HTTP/1.0': 'GET /a HTTP/1.0\r\nHost: a\r\n\r\n',
  'HTTP/2.0': 'GET /a HTTP/2.0\r\nHost: a\r\n\r\n',
  'lines that end with a bare LF': 'GET /a HTTP/1.1\nHost: a\n\n',
  'a request line that ends with a bare CR': 'GET /a HTTP/1.1\rHost: a\r\n\r\n',
  'a bare CR in a header': 'GET /a HTTP/1.1\r\nHost: a\r\nX: a\rb: c\r\n\r\n',
  'a NUL in a header': 'GET /a HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n',
  'a header without a name': 'GET /a HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n',
  'a header name with a bracket': 'GET /a HTTP/1.1\r\nHost: a\r\na(b: c\r\n\r\n',
  'a header without a colon': 'GET /a HTTP/1.1\r\nHost: a\r\nabc\r\n\r\n',
  'a whole URL as target': 'GET http://b/evil HTTP/1.1\r\nHost: a\r\n\r\n',
  'a host as target': 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n',
  'not HTTP at all': 'hello\r\n\r\n',
};
