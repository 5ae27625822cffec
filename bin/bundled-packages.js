// Libraries that the build bundles, because they consist of many small files. The published package does not depend on
// them.

export const BUNDLED = ['cron-parser', 'hdr-histogram-js', 'luxon', 'msgpackr', 'sorted-btree', 'typia', 'yaml'];
