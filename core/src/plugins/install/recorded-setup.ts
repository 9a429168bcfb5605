import dgram from 'node:dgram';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { type ErasedContext, type Plugin, type Risk, withinLimit } from '@cinnabar/sdk';
import { createSystemClock } from '../../clock/clock.js';

/** What a plugin's `setup` has registered. */
interface Recorded {
  readonly tools: readonly { readonly name: string; readonly risk: Risk }[];
  /** First words. */
  readonly commands: readonly string[];
  /** Why it was not followed to the end. */
  readonly incomplete: string | undefined;
}

const SETUP_MS = 3_000;

/**
 * Runs a plugin's `setup` with a context in which nothing happens, to see which tools and commands it registers. Services, settings and
 * documents are there, and empty. Only in a process of its own: it is the plugin's code.
 */
export async function recordSetup(plugin: Plugin): Promise<Recorded> {
  const tools = new Map<string, Risk>();
  const commands = new Set<string>();
  const nothing = async () => undefined;
  const env = plugin.env?.safeParse({});
  const recording: Pick<ErasedContext, 'command' | 'group' | 'tool' | 'env' | 'signal'> = {
    command({ name }) {
      commands.add(firstWord(name));
      return nothing;
    },
    group({ name }) {
      commands.add(firstWord(name));
      return nothing;
    },
    tool({ name, risk }) {
      tools.set(name, risk);
      return nothing;
    },
    env: env?.success === true ? env.data : {},
    signal: new AbortController().signal,
  };
  let incomplete: string | undefined;
  try {
    const context: object = createInert(recording);
    // Everything that a context has is there: what is not recorded answers anything that is asked of it.
    const setup = Promise.resolve(plugin.setup(context as ErasedContext));
    const { inTime } = await withinLimit(createSystemClock(), SETUP_MS, setup);
    if (!inTime) incomplete = `it took longer than ${SETUP_MS / 1000} s`;
  } catch (error) {
    incomplete = error instanceof Error ? error.message : String(error);
  }
  return {
    tools: [...tools].map(([name, risk]) => ({ name, risk })).sort(byName),
    commands: [...commands].sort(),
    incomplete,
  };
}

const firstWord = (name: string) => name.split(' ')[0] ?? name;
const byName = (one: { readonly name: string }, other: { readonly name: string }) => (one.name < other.name ? -1 : 1);

/** An object of which every other property is a function that returns such an object again: empty where it is iterated, read as text, or awaited. */
function createInert(known: object = {}): object {
  const target = Object.assign(() => undefined, {});
  return new Proxy(target, {
    get(_, key) {
      if (key in known) return Reflect.get(known, key);
      // Awaited, it is itself.
      if (key === 'then') return undefined;
      if (key === Symbol.iterator) return () => [][Symbol.iterator]();
      if (key === Symbol.asyncIterator) return async function* () {};
      if (key === Symbol.toPrimitive) return () => '';
      return createInert();
    },
    apply: () => createInert(),
    construct: () => createInert(),
    set: () => true,
    has: () => true,
  });
}

/**
 * Closes the network of this process for whatever is loaded after it. Node's permissions know of no network before Node 25, and forbid what would
 * lead around this: other threads, programs, native code and Node's own bindings.
 */
export function denyNetwork(): void {
  const doors: readonly (readonly [object, readonly string[]])[] = [
    // Of all that connects or listens: HTTP, TLS and `fetch` do it by these, too.
    [net.Socket.prototype, ['connect']],
    [net.Server.prototype, ['listen']],
    [net, ['_createServerHandle']],
    [dgram, ['createSocket', 'Socket', '_createSocketHandle']],
    [dns, questionsOf(dns)],
    [dns.promises, questionsOf(dns.promises)],
  ];
  for (const [owner, names] of doors)
    for (const name of names)
      Object.defineProperty(owner, name, { value: refuse, writable: false, configurable: false, enumerable: true });
  syncBuiltinESMExports();
}

const questionsOf = (module: object): readonly string[] =>
  Object.entries(module).flatMap(([name, value]) =>
    typeof value === 'function' && !/^[gs]et/.test(name) ? [name] : [],
  );

/** A function that can be called with `new`. */
function refuse(): never {
  throw Object.assign(new Error('Access to the network has been restricted'), { code: 'ERR_ACCESS_DENIED' });
}
