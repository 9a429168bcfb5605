import { type Clock, type Logger, type OwnerAlert, sentenceOf } from '@cinnabar/sdk';
import type { Boundary, Owner } from '../contracts.js';
import { runAs } from '../process/error-origin.js';
import type { BlockageWatch } from './event-loop-lag.js';
import { createSuspensions } from './suspensions.js';

interface Parts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly inFlight: InFlight;
  readonly blockage: BlockageWatch;
  /** Whether Discord or the way to it failed, not the plugin. */
  readonly isDiscordFailure: (error: unknown) => boolean;
  /** The way to the bot's owners. */
  readonly alert: (alert: OwnerAlert) => void;
}

/** Builds the wall between plugin code and the process: see `Boundary`. */
export function createBoundary({ clock, log, inFlight, blockage, isDiscordFailure, alert }: Parts): Boundary {
  const suspensions = createSuspensions(clock);

  const fail = (owner: Owner, guildId: string | null, label: string, error: unknown) => {
    if (isDiscordFailure(error)) {
      owner.log.warn(`${label} failed because Discord did, or could not be reached`, { error, guildId });
      return;
    }
    owner.log.error(`${label} failed`, {
      error,
      guildId,
      ...(sentenceOf(error) === undefined ? {} : { expected: true }),
    });
    if (suspensions.count(owner.id, guildId)) {
      log.warn(`${owner.id} failed 10 times within a minute; its listeners pause for a minute in this guild`, {
        plugin: owner.id,
        guildId,
      });
      alert({
        kind: 'plugin-suspended',
        text: `The plugin ${owner.id} failed 10 times within a minute ${guildId === null ? 'in direct messages' : `in the server ${guildId}`}; its listeners pause there for a minute.`,
        remedy: `The error log has the reason; until it is mended, \`!plugin disable ${owner.id}\` keeps it quiet.`,
      });
    }
  };

  return {
    run(owner, guildId, label, task, following = false) {
      const started = blockage.enter(following);
      let result: unknown;
      try {
        result = runAs(owner.id, label, task);
      } catch (error) {
        fail(owner, guildId, label, error);
        return;
      } finally {
        blockage.leave(owner.id, label, started);
      }
      if (!isThenable(result)) return;
      inFlight.enter(owner.id);
      return settle(
        result,
        (error) => fail(owner, guildId, label, error),
        () => inFlight.leave(owner.id),
      );
    },
    async track(owner, task) {
      inFlight.enter(owner.id);
      try {
        return await runAs(owner.id, 'a tool, an answer or an interceptor', task);
      } finally {
        inFlight.leave(owner.id);
      }
    },
    suspend: suspensions.suspend,
    suspended: suspensions.active,
    inFlight: inFlight.count,
    drained: inFlight.drained,
  };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

async function settle(
  result: PromiseLike<unknown>,
  onError: (error: unknown) => void,
  onEnd: () => void,
): Promise<void> {
  try {
    await result;
  } catch (error) {
    onError(error);
  } finally {
    onEnd();
  }
}

export interface InFlight {
  enter(plugin: string): void;
  leave(plugin: string): void;
  count(plugin?: string): number;
  /** Plugins that have work under way. */
  busy(): readonly string[];
  drained(timeoutMs: number, plugin?: string): Promise<boolean>;
}

/** Counts handlers under way, by plugin, and tells when there are none. */
export function createInFlight(clock: Clock): InFlight {
  const counts = new Map<string, number>();
  const waiting = new Set<() => void>();
  let total = 0;
  const count = (plugin?: string) => (plugin === undefined ? total : (counts.get(plugin) ?? 0));

  return {
    enter(plugin) {
      total += 1;
      counts.set(plugin, (counts.get(plugin) ?? 0) + 1);
    },
    leave(plugin) {
      total -= 1;
      const left = (counts.get(plugin) ?? 1) - 1;
      if (left > 0) counts.set(plugin, left);
      else counts.delete(plugin);
      for (const check of waiting) check();
    },
    count,
    busy: () => [...counts.keys()],
    drained(timeoutMs, plugin) {
      if (count(plugin) === 0) return Promise.resolve(true);
      return new Promise((resolve) => {
        const finish = (result: boolean) => {
          cancel();
          waiting.delete(check);
          resolve(result);
        };
        const check = () => {
          if (count(plugin) === 0) finish(true);
        };
        const cancel = clock.after(timeoutMs, () => finish(false));
        waiting.add(check);
      });
    },
  };
}
