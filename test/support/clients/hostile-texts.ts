// Texts that try to run in a page or to control a terminal, and a worker that writes them into every field.

import type { RawWorker } from './raw-worker.ts';

/** Each text tries to set a global and to send a request, which the test would see. */
const RUN = "window.hacked=1;new Image().src='/hacked'";

export const TEXTS: Readonly<Record<string, string>> = {
  'a script': `<script>${RUN}</script>`,
  'a script after the end of an attribute': `"><script>${RUN}</script>`,
  'a script after the end of a script': `</script><script>${RUN}</script>`,
  'a script after the end of a text area': `</textarea></title></style>--><script>${RUN}</script>`,
  'an image that fails': `<img src=x onerror="${RUN}">`,
  'an image without quotes or blanks': '<img/src=x/onerror=window.hacked=1>',
  'a drawing that loads': `<svg onload="${RUN}"><animate onbegin="${RUN}"></svg>`,
  'a frame with a document': `<iframe srcdoc="<script>parent.hacked=1</script>"></iframe>`,
  'a link that runs': `<a href="javascript:${RUN}">click</a>`,
  'an address that runs': `javascript:${RUN}//`,
  'an address with data': 'data:text/html,<script>parent.hacked=1</script>',
  'an event of an attribute': `' autofocus onfocus='${RUN}' x='`,
  'a template expression': `{{constructor.constructor("window.hacked=1")()}}$${'{window.hacked=1}'}#{hacked=1}`,
  'a script in entities': '&lt;script&gt;window.hacked=1&lt;/script&gt;',
  'a style that loads': '<style>@import "/hacked";body{background:url(/hacked)}</style>',
  'a form that is sent': '<form action=/hacked><input autofocus onfocus=this.form.submit()></form>',
  'a base of all links': '<base href="http://127.0.0.1:1/"><meta http-equiv=refresh content="0;url=/hacked">',
  'markup in Markdown': `[x](javascript:window.hacked=1) ![x](x"onerror="window.hacked=1)`,
};

/** What drives a terminal. Ids may not hold control characters; everything else may. */
export const SEQUENCES: Readonly<Record<string, string>> = {
  'the screen cleared': '\u001b[2J\u001b[H',
  'a title of the window': '\u001b]0;owned\u0007',
  'a link': '\u001b]8;;http://evil.example\u001b\\click\u001b]8;;\u001b\\',
  'the clipboard written': '\u001b]52;c;cm0gLXJmIC8=\u0007',
  'a question that types its answer': '\u001b[6n\u001b[c\u001bP$q"p\u001b\\',
  'colours of an error': '\u001b[31mERROR\u001b[0m',
  'an introducer in one byte': '\u009b2J\u009d0;owned\u009c',
  'the line overwritten': 'real\rfake\b\b\b\b',
  'the line cut off': 'one\u000btwo\u000cthree\u0085four',
  'the order turned around': '\u202egnp.exe\u2066x\u2069',
  'marks of direction': '\u200e\u200f\u061c',
  'a bell and a NUL': '\u0007\u0000\u0007',
};

export const ALL = [...Object.values(TEXTS), ...Object.values(SEQUENCES)];
/** A hostile name must be an id all the same. */
export const IDS = Object.values(TEXTS);
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
export const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** Every text as everything that a worker may say. Needs queues (`mail`), state and streams. */
export async function plantAll(worker: RawWorker): Promise<void> {
  await worker.call('engine::workers::register', { name: IDS[0], runtime: IDS[1], version: IDS[2], os: IDS[3] });
  for (const text of ALL) await plant(worker, text);
  sendSpans(worker);
}

async function plant(worker: RawWorker, text: string): Promise<void> {
  const index = ALL.indexOf(text);
  const id = IDS.includes(text) ? text : `plain::${index}`;
  const named = { [text]: text };
  const schema = { type: 'object', title: text, description: text, properties: { [text]: { description: text } } };
  await worker.serve(id, () => {
    throw new Error(text);
  });
  worker.send({ type: 'registerfunction', id, description: text, metadata: named, request_format: schema });
  const trigger = { id: `t-${index}`, trigger_type: 'event', function_id: id, config: { topic: `x.${index}` } };
  worker.send({ type: 'registertrigger', ...trigger, metadata: named });
  worker.send({ type: 'registertriggertype', id: id.slice(0, 200), description: text, trigger_request_format: schema });
  await Promise.all([
    worker.call(id, named),
    worker.call(id, named, { action: { type: 'enqueue', queue: 'mail' } }),
    worker.call('engine::log::error', { message: text, data: named, service_name: text }),
    worker.call('state::set', { scope: 'hostile', key: `k${index}`, value: named }),
    worker.call('state::set', { scope: id, key: id, value: text }),
    worker.call('stream::set', { stream_name: 'hostile', group_id: 'g', item_id: `i${index}`, data: named }),
  ]);
}

/** As a client of the peer reports them: names and attributes are its own. */
function sendSpans(worker: RawWorker): void {
  const spans = ALL.map((text, index) => ({
    traceId: String(index + 1).padStart(32, '0'),
    spanId: String(index + 1).padStart(16, '0'),
    name: text,
    startTimeUnixNano: `${Date.now()}000000`,
    endTimeUnixNano: `${Date.now()}000000`,
    attributes: [{ key: text, value: { stringValue: text } }],
    events: [{ name: text, timeUnixNano: `${Date.now()}000000`, attributes: [] }],
    status: { code: 2, message: text },
  }));
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: IDS[4] } }] };
  const request = { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'x' }, spans }] }] };
  worker.sendBinary(Buffer.from(`OTLP${JSON.stringify(request)}`));
}
