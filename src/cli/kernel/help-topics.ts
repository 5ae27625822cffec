// The pages of `svc help <topic>` (CLI-7), written for less than 80 columns. The table of exit codes is generated from
// the codes.

import { wrap } from '../text/display-text.ts';
import { EXIT_MEANINGS } from './failures.ts';

export const TOPICS: Readonly<Record<string, () => string>> = {
  config: () => CONFIG,
  env: () => ENV,
  'exit-codes': exitCodes,
  output: () => OUTPUT,
};

const CONFIG = `The configuration file

The engine reads one YAML file, svc-config.yaml in the current folder unless
--config names another. The smallest one is empty: the engine then listens for
workers on 127.0.0.1:49134.

  workers:
    - name: svc-worker-manager
      config:
        port: 49134

Any value can be \${NAME} or \${NAME:default}, read from the environment.

  svc config check               every problem with line, column and path
  svc config show                the values in effect, with defaults
  svc start --check              the same check, by the command that starts
  svc start --use-default-config start without a file

With a problem in the file, svc start ends with exit code 78.
Flags and examples of the commands: svc config check --help
`;

const ENV = `Environment variables

  SVC_URL       Address of the engine, like --url.
                Default ws://127.0.0.1:49134
  SVC_TOKEN     The bridge token itself. --token-file takes precedence. No
                flag takes a token: process lists would show it.
  SVC_TOKEN_FILE  File that holds it, like --token-file.
  SVC_CA_FILE   Authority to trust with wss:// and https://, like --ca-file.
  SVC_CERT_FILE, SVC_KEY_FILE  Your certificate and its key, like --cert-file.
  SVC_SERVER_NAME  Name in the engine's certificate, like --server-name.
  SVC_HTTP_URL  HTTP address of the engine, like --http-url.
                Default http://127.0.0.1:3111
  SVC_CONTEXT   Name of a saved engine, like --context; see: svc context list.
  SVC_COMPLETION_MS  Time limit of the shell completion, 150.
  SVC_THREADS   Router threads of the engine, like --threads.
  SVC_TRANSPORT uws or ws: the socket library of the engine.
                Default uws, or ws if uws does not load.

Observability, for settings that the entry svc-observability leaves out:

  OTEL_ENABLED                    false: no spans are made.
  OTEL_SERVICE_NAME               The engine's own name, svc.
  OTEL_EXPORTER_TYPE              Where spans go: memory, otlp or both.
  OTEL_TRACES_SAMPLER_ARG         Share of traces to keep, 1.0.
  OTEL_MEMORY_MAX_SPANS           Spans in memory; without it bytes limit them.
  OTEL_METRICS_ENABLED            false: no metrics are kept.
  OTEL_METRICS_EXPORTER           Where metrics go: memory or otlp.
  OTEL_METRICS_RETENTION_SECONDS  How long points are kept, 3600.
  OTEL_METRICS_MAX_COUNT          Points in memory, 10000.
  OTEL_METRIC_EXPORT_INTERVAL     Milliseconds between two exports of metrics.
  OTEL_LOGS_EXPORTER              Where logs go: memory, otlp or both.
  OTEL_LOGS_BATCH_SIZE            Logs in one export, 100.
  OTEL_LOGS_FLUSH_INTERVAL_MS     Longest wait for an export, 5000.
  OTEL_EXPORTER_OTLP_ENDPOINT     Collector, http://localhost:4317.
  OTEL_EXPORTER_OTLP_PROTOCOL     grpc or http/protobuf.
  OTEL_EXPORTER_OTLP_HEADERS      Sent with every export, as key=value,...
  OTEL_EXPORTER_OTLP_TIMEOUT      Milliseconds for one export, 10000.

  NO_COLOR      Set to anything: no colour.
  FORCE_COLOR   Set to anything but 0 or false: colour also in a pipe.
  TERM=dumb, CI No colour unless asked for.

The configuration file may name further variables as \${NAME}.
A flag takes precedence over a variable, a variable over the context, the
context over the default.
`;

const OUTPUT = `Output

Data goes to stdout. Progress, remarks, warnings and errors go to stderr.

  -o table   Aligned columns with a heading; in a pipe nothing is shortened,
             and an empty list prints nothing.
  --plain    Lists without a heading, a tab between the fields: for cut,
             awk and while read.
  -o wide    The same with every column and nothing shortened.
  -o json    One JSON document; --json is the same. Errors become JSON, too:
             {"error":{"code":"…","message":"…","hint":"…"}} on stderr.
  -o jsonl   One JSON document per line.
  -o csv     Comma-separated with a heading, every column.

JSON and CSV carry raw values: durations in milliseconds, times in ISO 8601
UTC or Unix milliseconds as the field name says, names in snake_case.

On the command line, durations are written 250ms, 10s, 5m or 1h.
Control and bidirectional characters in texts of workers are removed from
tables and written as \\uXXXX in JSON.
`;

function exitCodes(): string {
  const rows = Object.entries(EXIT_MEANINGS).flatMap(([code, meaning]) =>
    wrap(meaning, 70).map((line, index) => `  ${(index === 0 ? code : '').padStart(3)}  ${line}`),
  );
  return `Exit codes\n\n${rows.join('\n')}\n`;
}
