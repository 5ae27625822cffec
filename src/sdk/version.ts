/** Equal to the version in `package.json`; a test compares the two. */
export const SDK_VERSION = '0.1.0';
