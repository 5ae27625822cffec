// Values that the engines of a cluster share or send each other. Any engine of a neighbouring version may have written
// them, so fields beyond these are allowed.

import typia from 'typia';
import type { FunctionValue, ReservationValue, TriggerTypeValue, TriggerValue } from '../cluster/entry-values.ts';
import type { EngineFacts } from '../cluster/membership.ts';
import type { RouterMessage } from '../cluster/routers/messages.ts';
import type { ShownJob } from '../console/api/builtin-answers.ts';
import type { EndOpening } from '../protocol/cluster/channel-message.ts';
import type { WorkersAnswer } from '../router/registrations/rows.ts';
import type { DescribedFunctions } from '../router/remote/described-functions.ts';
import type { ListedFirings } from '../router/remote/learn-firings.ts';
import type { JudgedAnswer } from '../router/remote/report-verdict.ts';
import type { MeasuredAnswer } from '../telemetry/tasks.ts';

export const isDescribedFunctions = typia.createIs<DescribedFunctions>();
export const isEndOpening = typia.createIs<EndOpening>();
export const isEngineFacts = typia.createIs<EngineFacts>();
export const isFunctionValue = typia.createIs<FunctionValue>();
export const isJudgedAnswer = typia.createIs<JudgedAnswer>();
export const isListedFirings = typia.createIs<ListedFirings>();
export const isMeasuredAnswer = typia.createIs<MeasuredAnswer>();
export const isRouterMessage = typia.createIs<RouterMessage>();
export const isReservationValue = typia.createIs<ReservationValue>();
export const isShownJob = typia.createIs<ShownJob>();
export const isTriggerTypeValue = typia.createIs<TriggerTypeValue>();
export const isTriggerValue = typia.createIs<TriggerValue>();
export const isWorkersAnswer = typia.createIs<WorkersAnswer>();
