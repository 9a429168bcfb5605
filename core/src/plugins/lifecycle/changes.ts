import { AsyncResource } from 'node:async_hooks';
import { CinnabarError, type Logger, type Plugin, z } from '@cinnabar/sdk';
import PQueue from 'p-queue';

export interface PluginChange {
  /** Ids of the plugins whose runs, and so commands, tools and intents, may differ now. */
  readonly plugins: readonly string[];
  /** The guild where enabling changed; `null` when the change concerns every guild. */
  readonly guildId: string | null;
}

/** Lets one lifecycle change happen at a time, and tells the host of each. */
export interface ChangeQueue {
  /** @throws CINNABAR_PLUGIN_STATE once the last change has begun */
  run<T>(change: () => Promise<T>): Promise<T>;
  /** Runs a change after which there are no more. */
  last(change: () => Promise<void>): Promise<void>;
  announce(change: PluginChange): void;
  readonly ended: boolean;
  idle(): Promise<void>;
}

interface Parts {
  /** Ids of the plugins that started or stopped; emptied by each announcement. */
  readonly touched: Set<string>;
  readonly onChange: ((change: PluginChange) => unknown) | undefined;
  readonly log: Logger;
}

export function createChangeQueue({ touched, onChange, log }: Parts): ChangeQueue {
  const queue = new PQueue({ concurrency: 1 });
  let ended = false;

  const announce = (change: PluginChange) => {
    Promise.resolve(change)
      .then(onChange)
      .catch((error: unknown) => log.error('the host could not take in a change of its plugins', { error }));
  };
  const announced = async <T>(change: () => Promise<T>): Promise<T> => {
    try {
      return await change();
    } finally {
      const plugins = [...touched];
      touched.clear();
      if (plugins.length > 0) announce({ plugins, guildId: null });
    }
  };
  // Bound: whoever looks at the asynchronous context must find the one who asked for the change, not the one before.
  const enqueue = <T>(change: () => Promise<T>) => queue.add(AsyncResource.bind(() => announced(change)));

  return {
    run: (change) =>
      enqueue(() => {
        if (!ended) return change();
        throw new CinnabarError('CINNABAR_PLUGIN_STATE', { plugin: 'host', state: 'stopping' });
      }),
    last: (change) =>
      enqueue(() => {
        ended = true;
        return change();
      }),
    announce,
    get ended() {
      return ended;
    },
    idle: () => queue.onIdle(),
  };
}

/** What of a version can be compared with another. */
interface Visible {
  readonly definition: Plugin;
  /** Labels of what its `setup` registered. */
  readonly registered: readonly string[];
}

/** What is different for people: "command roll added", "setting greeting removed", "intent GuildMembers added". */
export function changesBetween(before: Visible, after: Visible): readonly string[] {
  return [
    ...countChanges(before.registered, after.registered),
    ...settingChanges(settingsOf(before.definition), settingsOf(after.definition)),
    ...countChanges(intentsOf(before.definition), intentsOf(after.definition)),
  ];
}

function countChanges(before: readonly string[], after: readonly string[]): readonly string[] {
  return [...new Set([...before, ...after])].flatMap((label) => {
    const difference = count(after, label) - count(before, label);
    return Array.from({ length: Math.abs(difference) }, () => `${label} ${difference > 0 ? 'added' : 'removed'}`);
  });
}

function count(labels: readonly string[], wanted: string): number {
  return labels.filter((label) => label === wanted).length;
}

function intentsOf({ manifest }: Plugin): readonly string[] {
  return (manifest.intents ?? []).map((intent) => `intent ${intent}`);
}

/** Each setting's JSON Schema by its label. */
function settingsOf({ settings }: Plugin): ReadonlyMap<string, string> {
  const fields = Object.values(settings).flatMap((schema) => Object.entries(schema?.shape ?? {}));
  return new Map(fields.map(([key, field]) => [`setting ${key}`, describe(field)]));
}

function describe(field: z.core.$ZodType): string {
  return JSON.stringify(z.toJSONSchema(field, { unrepresentable: 'any' }));
}

function settingChanges(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly string[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((label) => {
    if (!before.has(label)) return `${label} added`;
    if (!after.has(label)) return `${label} removed`;
    return before.get(label) === after.get(label) ? [] : `${label} changed`;
  });
}
