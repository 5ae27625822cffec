// Computes the new value of a large update of state or streams that are kept in a Redis (modules 3).

import type { UpdateAnswer, UpdateTask } from '../src/core/update-ops/update-task.ts';
import { answerUpdate } from '../src/store/redis/evaluate-update.ts';

export default function runUpdate(task: UpdateTask): UpdateAnswer {
  return answerUpdate(task);
}
