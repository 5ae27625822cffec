// Libraries that the build puts into our own files, as they are many small ones: whoever installs us needs none of them.

export const BUNDLED = ['typia', 'yaml'];
