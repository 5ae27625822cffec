// Values in the buckets that the engines of a cluster share. Any engine of a neighbouring version may have written
// them, so fields beyond these are allowed.

import typia from 'typia';
import type { FunctionValue, ReservationValue, TriggerValue } from '../cluster/entry-values.ts';
import type { EngineFacts } from '../cluster/membership.ts';

export const isEngineFacts = typia.createIs<EngineFacts>();
export const isFunctionValue = typia.createIs<FunctionValue>();
export const isReservationValue = typia.createIs<ReservationValue>();
export const isTriggerValue = typia.createIs<TriggerValue>();
