// Where uWebSockets.js differs from the contract, and why.

export const UWS_CANNOT = {
  sayWhy: 'the library ends a connection that broke a rule without a close frame',
  seeMissingMask: 'the library takes the next four bytes for the mask, whether there is one or not',
  boundFragments: 'the library reports a message when it is complete; its size is the only bound (PD-28)',
  keepEarlyFrames: 'the library forgets what follows the upgrade request in the same piece',
  boundUpgradeTime: 'the library has its own limit of about 10 s for a request, counted from its last byte',
  readAllUpgradeHeaders: 'the library checks the method and the key only',
  answerGarbage: 'the library waits for the rest of a request that will never be one, about 10 s',
} as const;

export const UWS_WITH_TLS_CANNOT = {
  ...UWS_CANNOT,
  keepLastWords: 'the library forgets what came in one piece with the end of TLS; a close frame comes before it',
} as const;

const CLOSES = 'a connection that brought a chunked body ends with the answer: no later byte is read';

export const UWS_TOLERATES = {
  'a chunk that is longer than it says': CLOSES,
  'chunks that end with a bare LF': CLOSES,
  'a chunk extension with a bare LF': CLOSES,
  'a header without a name': 'the library leaves it out, and it cannot say where a request ends',
} as const;
