import type { Clock, Collection, Disposer, Document, Plugin, ScheduleDefinition } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { Boundary, Events, Owner } from '../contracts.js';
import type { Partition } from '../gateway/partition.js';

interface ScheduleHost {
  readonly boundary: Boundary;
  readonly clock: Clock;
  readonly events: Events;
  readonly client: Client;
  readonly partition: Partition;
  /** Whether a plugin is enabled in a guild, whose state is loaded first if necessary. */
  readonly enabledIn: (guildId: string, plugin: Plugin) => Promise<boolean>;
}

/** The longest wait until the clock is read again, since the machine may have slept, or its clock may have been set. */
const LONGEST_WAIT_MS = 60_000;
/** Maximum number of documents that run concurrently: after a downtime many are due at once. */
const SIDE_BY_SIDE = 4;
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 3_600_000;

/** Runs documents of a collection when they are due: see `Registrar.schedule`. Keeps one number for each document in memory. */
export function openSchedule<T>(
  owner: Owner,
  { boundary, clock, events, client, partition, enabledIn }: ScheduleHost,
  collection: Collection<T>,
  { dueAt, guildOf, run }: ScheduleDefinition<T>,
): Disposer {
  /** When each document is checked next: when it is due, or later when it has to wait. */
  const lookAt = new Map<string, number>();
  const attempts = new Map<string, number>();
  const busy = new Set<string>();
  let isOpen = false;
  let isClosed = false;
  let cancelTimer: () => void = () => undefined;

  const disposeWatch = collection.watch((key) => void read(key));
  const dispose = owner.scope.add('schedule', () => {
    isClosed = true;
    cancelTimer();
    disposeWatch();
  });
  events.ready(owner, async () => {
    for await (const [key, value] of collection.entries()) plan(key, value);
    isOpen = true;
    work();
  });
  return dispose;

  function documentAt(key: string): Document<T> {
    const [guildId = '', userId] = key.split(':');
    return collection.of(userId === undefined ? key : { guildId, userId });
  }

  function plan(key: string, value: T | undefined): void {
    // With `guildOf`, all hosts list the collection, and each runs the documents of its own servers. Otherwise a host runs all documents that it lists.
    const isOwn = value !== undefined && (guildOf === undefined || partition.owns(guildOf(value)));
    const due = isOwn ? dueAt(value) : undefined;
    if (due === undefined) lookAt.delete(key);
    else lookAt.set(key, due);
  }

  /** Updates the time of a changed document. */
  async function read(key: string): Promise<void> {
    try {
      const value = await documentAt(key).find();
      const before = lookAt.get(key);
      plan(key, value);
      if (before !== lookAt.get(key)) attempts.delete(key);
    } catch (error) {
      owner.log.warn('a planned document could not be read; it is tried again', { key, error });
      lookAt.set(key, clock.now() + FIRST_PAUSE_MS);
    }
    work();
  }

  function work(): void {
    cancelTimer();
    if (!isOpen || isClosed) return;
    const now = clock.now();
    const due = [...lookAt].filter(([key, at]) => at <= now && !busy.has(key)).sort(([, a], [, b]) => a - b);
    for (const [key] of due.slice(0, SIDE_BY_SIDE - busy.size)) {
      busy.add(key);
      void runDue(key).finally(() => {
        busy.delete(key);
        work();
      });
    }
    // Sets the timer for documents that are not due yet. Those that are due start when a running one ends.
    let next = Number.POSITIVE_INFINITY;
    for (const at of lookAt.values()) if (at > now && at < next) next = at;
    if (next < Number.POSITIVE_INFINITY) cancelTimer = clock.after(Math.min(next - now, LONGEST_WAIT_MS), work);
  }

  async function runDue(key: string): Promise<void> {
    const document = documentAt(key);
    const now = clock.now();
    try {
      const value = await document.find();
      const due = value === undefined ? undefined : dueAt(value);
      if (value === undefined || due === undefined || due > now) {
        plan(key, value);
        return;
      }
      // A later time is another occurrence, even if it has passed already: the bot was down, or the machine has slept during the run.
      const isUnchanged = (one: T) => (dueAt(one) ?? Number.POSITIVE_INFINITY) <= due;
      const guildId = guildOf?.(value) ?? null;
      if (guildId !== null && !(client.guilds.cache.has(guildId) && (await enabledIn(guildId, owner.plugin)))) {
        lookAt.set(key, now + LONGEST_WAIT_MS);
        return;
      }
      const attempt = (attempts.get(key) ?? 0) + 1;
      // A change of the document within `run` also sets its time; the final time is set below, after the run.
      lookAt.set(key, now + LONGEST_WAIT_MS);
      let isDone = false;
      await boundary.run(owner, guildId, 'what was planned', async () => {
        await run({ key, value, dueAt: due, lateMs: now - due, attempt });
        isDone = true;
      });
      if (isDone) {
        attempts.delete(key);
        await document.delete(isUnchanged);
      }
      const left = await document.find();
      if (left !== undefined && isUnchanged(left)) {
        attempts.set(key, attempt);
        lookAt.set(key, clock.now() + Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), LONGEST_PAUSE_MS));
      } else plan(key, left);
    } catch (error) {
      owner.log.warn('a planned document could not be read or saved; it is tried again', { key, error });
      lookAt.set(key, clock.now() + FIRST_PAUSE_MS);
    }
  }
}
