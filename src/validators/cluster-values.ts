// Values in the buckets that the engines of a cluster share. Any engine of a neighbouring version may have written
// them, so fields beyond these are allowed.

import typia from 'typia';
import type { EngineFacts } from '../cluster/membership.ts';
import type { RegistrationValue } from '../cluster/publisher.ts';

export const isEngineFacts = typia.createIs<EngineFacts>();
export const isRegistrationValue = typia.createIs<RegistrationValue>();
