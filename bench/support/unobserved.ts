// An entry for configurations of benchmarks that measure something else: without one everything is observed, and the
// figures would not compare with those of contenders that observe nothing. `bench:observability` measures the cost.

export const UNOBSERVED_CONFIG = '{enabled: false, metrics_enabled: false, logs_enabled: false}';
export const UNOBSERVED = `{name: svc-observability, config: ${UNOBSERVED_CONFIG}}`;
