// Reads the text format of Prometheus as strictly as Prometheus: every sample belongs to the family declared before it.

export interface PrometheusSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface PrometheusFamily {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: readonly PrometheusSample[];
}

/** Throws at the first malformed line. */
export function parsePrometheus(text: string): Map<string, PrometheusFamily> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const families = new Map<string, PrometheusFamily & { samples: PrometheusSample[] }>();
  let current: (PrometheusFamily & { samples: PrometheusSample[] }) | undefined;
  let help: { name: string; text: string } | undefined;
  for (const line of text.slice(0, -1).split('\n')) {
    const helpLine = /^# HELP ([a-zA-Z_:][\w:]*) (.*)$/.exec(line);
    const typeLine = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram)$/.exec(line);
    if (helpLine !== null) help = { name: helpLine[1] ?? '', text: helpLine[2] ?? '' };
    else if (typeLine !== null) {
      const name = typeLine[1] ?? '';
      if (help?.name !== name || families.has(name)) throw new Error(`the family ${name} is announced wrongly`);
      current = { name, type: typeLine[2] ?? '', help: help.text, samples: [] };
      families.set(name, current);
    } else {
      if (current === undefined) throw new Error(`a sample without a family: ${line}`);
      current.samples.push(parseSample(line, current));
    }
  }
  return families;
}

function parseSample(line: string, family: PrometheusFamily): PrometheusSample {
  const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
  const name = match?.[1] ?? '';
  const suffixes = family.type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
  if (match === null || !suffixes.some((suffix) => name === family.name + suffix))
    throw new Error(`malformed: ${line}`);
  const value = match[3] === '+Inf' ? Infinity : Number(match[3]);
  if (Number.isNaN(value) && match[3] !== 'NaN') throw new Error(`not a number: ${line}`);
  return { name, labels: parseLabels(match[2] ?? ''), value };
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  const pattern = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/y;
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text);
    if (match === null) throw new Error(`malformed labels: ${text}`);
    const [, name = '', value = ''] = match;
    if (Object.hasOwn(labels, name)) throw new Error(`the label ${name} comes twice: ${text}`);
    labels[name] = value.replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char));
  }
  return labels;
}
