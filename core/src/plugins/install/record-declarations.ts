import dgram from 'node:dgram';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { type ErasedContext, operatorSentenceOf, type Plugin, type Risk, withinLimit } from '@cinnabar/sdk';
import { createSystemClock } from '../../clock/clock.js';
import { HOST_VERSION } from '../../version.js';
import { definitionIn } from '../loader.js';
import type { Answer, BuiltPlugin } from './declaration.js';

/** Reads what plugins declare and register. Runs their code, after disabling the network of this process. */
export async function recordDeclarations(plugins: readonly BuiltPlugin[]): Promise<readonly Answer[]> {
  denyNetwork();
  const answers: Answer[] = [];
  for (const plugin of plugins) answers.push(await declarationOf(plugin));
  return answers;
}

async function declarationOf({ file, found }: BuiltPlugin): Promise<Answer> {
  try {
    const plugin = definitionIn(file, found, HOST_VERSION);
    const { manifest, inject, env } = plugin;
    const { tools, commands, incomplete } = await recordSetup(plugin);
    return {
      ok: true,
      declaration: {
        id: manifest.id,
        version: manifest.version,
        description: manifest.description,
        author: manifest.author,
        intents: [...(manifest.intents ?? []), ...(manifest.optionalIntents ?? [])],
        permissions: [...(manifest.permissions ?? [])],
        hosts: [...(manifest.hosts ?? [])],
        env: Object.keys(env?.shape ?? {}),
        injects: Object.values(inject).map((injection) =>
          injection.kind === 'optional' ? injection.token.id : injection.id,
        ),
        tools: [...tools],
        commands: [...commands],
        incomplete,
      },
    };
  } catch (error) {
    return { ok: false, reason: operatorSentenceOf(error) ?? (error instanceof Error ? error.message : String(error)) };
  }
}

/** The registrations of a plugin's `setup`. */
interface Recorded {
  readonly tools: readonly { readonly name: string; readonly risk: Risk }[];
  /** The first words of commands. */
  readonly commands: readonly string[];
  /** Why `setup` was not completed. */
  readonly incomplete: string | undefined;
}

const SETUP_MS = 3_000;

/**
 * Runs a plugin's `setup` with a context that has no effects, to see which tools and commands it registers. Services, settings and documents exist and are
 * empty.
 */
async function recordSetup(plugin: Plugin): Promise<Recorded> {
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
    // Members of the context that are not recorded return placeholders.
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

/** An object whose properties are functions that return such an object again: empty when iterated, usable as text, and awaitable. */
function createInert(known: object = {}): object {
  const target = Object.assign(() => undefined, {});
  return new Proxy(target, {
    get(_, key) {
      if (key in known) return Reflect.get(known, key);
      // No `then`, so that `await` returns the object itself.
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
 * Disables the network of this process for modules that are loaded later. Node's permissions do not include the network before Node 25; they do forbid ways
 * around this: threads, programs, native code and Node's internal bindings.
 */
function denyNetwork(): void {
  const doors: readonly (readonly [object, readonly string[]])[] = [
    // The functions that connect or listen; HTTP, TLS and `fetch` use these, too.
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
