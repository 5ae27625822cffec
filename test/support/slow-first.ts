// The order of test files: those that take long begin first. Otherwise the last of them would run alone, while the
// other places of the machine are idle.

import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/** Half a minute or more on the two cores of CI. A file that is missing here only begins later. */
const SLOW = new RegExp(
  [
    'fault/(durability|load|queues|cluster)/',
    'attack/(02|shares/16|trusted-work)',
    'e2e/(nodes/|cli/(help-examples|cli-bench|worker-dev|create|cli-state|cli-queues))',
    'e2e/(sdk/(packages|installed|sdk-bulk|sdk-wires)|queues/broker|http/http-slow|wire/(stopped|fuzz))',
    'e2e/(cluster/(losses|calls)|iii/foreign|access/tls|observability/otlp)',
    'browser/(react|page|console/(traces|shell|functions|links))',
    'contract/transport/',
  ].join('|'),
);

export default class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSlow = ({ moduleId }: TestSpecification): boolean => SLOW.test(moduleId);
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}
