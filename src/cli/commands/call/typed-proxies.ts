// The second part of what `svc types generate` writes to a `.ts` file: every function as a method,
// `svc.fn.orders.create(payload)`. It is code of the project, so that the SDK itself does not grow by it.

/** Quoted as in an import. */
export const SDK = "'svc-sdk'";

interface Node {
  /** The function of this path, if there is one. */
  id: string | undefined;
  readonly below: Map<string, Node>;
}

export function proxiesText(ids: readonly string[]): string {
  const root: Node = { id: undefined, below: new Map() };
  for (const id of ids) {
    let at = root;
    for (const part of id.split('::')) {
      const next = at.below.get(part) ?? { id: undefined, below: new Map() };
      at.below.set(part, next);
      at = next;
    }
    at.id = id;
  }
  return `
import type { Functions, RegisteredFunction, SvcWorker } from ${SDK};

type Call<Id extends keyof Functions> = RegisteredFunction<Functions[Id]['in'], Functions[Id]['out']>['trigger'];

/** Every function by the parts of its id. */
export interface Fn ${typeOf(root, '')}

${CODE}`;
}

function typeOf({ id, below }: Node, indent: string): string {
  const call = id === undefined ? [] : [`Call<${JSON.stringify(id)}>`];
  const inner = `${indent}  `;
  const members = [...below].map(([part, node]) => `${inner}${JSON.stringify(part)}: ${typeOf(node, inner)};`);
  return [...call, ...(members.length === 0 ? [] : [`{\n${members.join('\n')}\n${indent}}`])].join(' & ') || '{}';
}

const CODE = `/** The same worker with \`fn\`: \`svc.fn.orders.create(payload)\` calls orders::create. */
export function withFunctions<W extends SvcWorker>(worker: W): W & { readonly fn: Fn } {
  const below = (path: string): object =>
    new Proxy(() => undefined, {
      get: (_target, part) => {
        // A promise would take an object with a method \`then\` for another promise.
        if (typeof part !== 'string' || part === 'then') return undefined;
        return below(path === '' ? part : \`\${path}::\${part}\`);
      },
      apply: (_target, _this, [payload, options]) => worker.trigger(path, payload, options),
    });
  return Object.assign(worker, { fn: below('') as Fn });
}
`;
