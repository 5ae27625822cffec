// Compiled checks of the messages between the cron module and its store, and of its records.

import typia from 'typia';
import type { ClaimAnswer, ClaimInput, CronRecord, OpenAnswer, TriggerInput } from '../core/cron/claims.ts';

export const isCronRecord = typia.createIs<CronRecord>();
export const isClaimInput = typia.createIs<ClaimInput>();
export const isTriggerInput = typia.createIs<TriggerInput>();
export const isOpenAnswer = typia.createIs<OpenAnswer>();
export const isClaimAnswer = typia.createIs<ClaimAnswer>();
