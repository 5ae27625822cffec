// Compiled checks of the payloads of the observability module's own functions.

import typia from 'typia';
import type { BaggageGetPayload, BaggageSetPayload, LogPayload } from '../modules/observability/payloads.ts';

export const validateLog = typia.createValidate<LogPayload>();
export const validateBaggageGet = typia.createValidate<BaggageGetPayload>();
export const validateBaggageSet = typia.createValidate<BaggageSetPayload>();
