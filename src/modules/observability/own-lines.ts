// The engine's own log lines are log records, too, on whichever router they are written.

import { recordOfLine } from '../../core/telemetry/logs/log-record.ts';
import type { ServiceIdentity } from '../../core/telemetry/records/intake.ts';
import type { TelemetrySettings } from '../../core/telemetry/records/settings.ts';
import type { Collector } from '../../core/telemetry/spans/collector.ts';
import type { ModuleContext } from '../module.ts';

/** Every line that is written from now on. */
export function collectLines(
  collector: Collector,
  { logger, router }: Pick<ModuleContext, 'logger' | 'router'>,
  identity: ServiceIdentity,
): void {
  logger.observe?.((level, message, fields) =>
    collector.log(recordOfLine(level, message, fields, router.nowMs, identity)),
  );
}

export function identityOf(
  { resource }: TelemetrySettings,
  { version, environment }: Pick<ModuleContext, 'version' | 'environment'>,
): ServiceIdentity {
  const { serviceName, serviceVersion, serviceNamespace, serviceInstanceId } = resource;
  const deployment = environment.DEPLOYMENT_ENVIRONMENT?.trim();
  return {
    serviceName,
    engineVersion: version,
    resource: {
      'service.name': serviceName,
      ...(serviceNamespace !== undefined && { 'service.namespace': serviceNamespace }),
      ...(serviceInstanceId !== undefined && { 'service.instance.id': serviceInstanceId }),
      ...(serviceVersion !== undefined && { 'service.version': serviceVersion }),
      ...(deployment && { 'deployment.environment': deployment }),
    },
  };
}
