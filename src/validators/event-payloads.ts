// Compiled checks of the payloads of the event module.

import typia from 'typia';
import type { EmitPayload, EventHeader, PublishPayload } from '../modules/events/payloads.ts';

export const validatePublish = typia.createValidate<PublishPayload>();
export const validateEmit = typia.createValidate<EmitPayload>();
export const isEventHeader = typia.createIs<EventHeader>();
