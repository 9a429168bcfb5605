import { createKeyedMutex, type ModerationCase, maxEntries } from '@cinnabar/sdk';
import { LRUCache } from 'lru-cache';
import { type GuildSettings, type ModerationContext, parseThreshold, type Threshold } from './settings.js';

/** Cases in one document: each write rewrites that document. */
const BLOCK = 50;
/** Guilds whose index of members is kept in memory. */
const INDEXED_GUILDS = 500;

type NewCase = Omit<ModerationCase, 'number'>;
/** The numbers of the cases about each member, rising. */
type Index = Map<string, number[]>;

/** The record of a guild: cases by increasing numbers, which are never used again. */
export function createCases({
  collections,
  settings,
  signal,
}: Pick<ModerationContext, 'collections' | 'settings' | 'signal'>) {
  const mutex = createKeyedMutex();
  /** Cases that this process has opened and not closed. */
  const begun = new Set<string>();
  const indexes = new LRUCache<string, Promise<Index>>(maxEntries(INDEXED_GUILDS));

  const blockOf = (number: number) => Math.floor((number - 1) / BLOCK);
  const document = (guildId: string, block: number) => collections.blocks.of(`${guildId}-${block}`);
  const read = async (guildId: string, block: number): Promise<readonly ModerationCase[]> =>
    (await document(guildId, block).find())?.cases ?? [];

  const find = async (guildId: string, number: number): Promise<ModerationCase | undefined> =>
    (await read(guildId, blockOf(number))).find((one) => one.number === number);

  /** The cases, newest first. */
  async function* newestFirst(guildId: string): AsyncGenerator<ModerationCase> {
    const { last, open } = await collections.ledgers.of(guildId).get();
    for (let block = blockOf(Math.max(1, last)); block >= 0; block -= 1) {
      const cases = await read(guildId, block);
      // Everything older than an empty block was deleted, except open cases.
      if (cases.length === 0 && block < blockOf(last)) {
        const older = open.map(blockOf).filter((other) => other < block);
        for (const kept of [...new Set(older)].sort((one, other) => other - one)) {
          yield* [...(await read(guildId, kept))].reverse();
        }
        return;
      }
      yield* [...cases].reverse();
    }
  }

  const buildIndex = async (guildId: string): Promise<Index> => {
    const index: Index = new Map();
    for await (const { number, userId } of newestFirst(guildId)) {
      if (userId !== undefined) index.set(userId, [number, ...(index.get(userId) ?? [])]);
    }
    return index;
  };
  const indexOf = (guildId: string): Promise<Index> => {
    const known = indexes.get(guildId) ?? buildIndex(guildId);
    indexes.set(guildId, known);
    known.catch(() => indexes.delete(guildId));
    return known;
  };

  /** The newest block whose cases are beyond the bound. */
  const newestOld = async (newest: number): Promise<number> => {
    const { casesPerServer } = await settings.global.get();
    return blockOf(newest) - Math.ceil(casesPerServer / BLOCK);
  };
  const keepIn = async (guildId: string, block: number, keeps: (one: ModerationCase) => boolean) => {
    const cases = await read(guildId, block);
    const kept = cases.filter(keeps);
    if (kept.length === cases.length) return;
    if (kept.length === 0) await document(guildId, block).delete();
    else await document(guildId, block).set({ guildId, cases: kept });
    indexes.delete(guildId);
  };
  /** Removes old blocks, except open cases, which still need an action. */
  const removeOld = async (guildId: string, newest: number, open: readonly number[]) => {
    for (let block = await newestOld(newest); block >= 0 && (await read(guildId, block)).length > 0; block -= 1) {
      await keepIn(guildId, block, ({ number }) => open.includes(number));
    }
  };

  /** The last assigned number: from the ledger, or from a case that was written directly before a crash. */
  const lastNumber = async (guildId: string, known: number): Promise<number> => {
    const newest = (await read(guildId, blockOf(known + 1))).at(-1)?.number ?? 0;
    return Math.max(known, newest);
  };

  const add = async (guildId: string, draft: NewCase): Promise<ModerationCase> => {
    const ledger = collections.ledgers.of(guildId);
    const number = (await lastNumber(guildId, (await ledger.get()).last)) + 1;
    const added: ModerationCase = { ...draft, number };
    begun.add(`${guildId}-${number}`);
    // The ledger is written first: a case that it does not list as open would not be finished after a crash.
    const { open } = await ledger.update((draft) => {
      draft.open.push(number);
    });
    const cases = [...(await read(guildId, blockOf(number))), added];
    await document(guildId, blockOf(number)).set({ guildId, cases });
    await ledger.update((draft) => {
      draft.last = number;
    });
    if (added.userId !== undefined && indexes.has(guildId)) {
      const index = await indexOf(guildId);
      const numbers = index.get(added.userId) ?? [];
      if (!numbers.includes(number)) index.set(added.userId, [...numbers, number]);
    }
    if ((number - 1) % BLOCK === 0) await removeOld(guildId, number, open);
    return added;
  };

  const forgetIn = (guildId: string, key: string, userId: string, keepCases: boolean) =>
    mutex.run(guildId, async () => {
      const { open } = await collections.ledgers.of(guildId).get();
      const about: number[] = [];
      const { cases } = await collections.blocks.of(key).update((draft) => {
        for (const one of draft.cases) {
          if (one.userId === userId) about.push(one.number);
          forgetPerson(one, userId, keepCases || open.includes(one.number));
        }
      });
      if (!keepCases) indexes.delete(guildId);
      return cases.filter(({ number }) => about.includes(number));
    });

  return {
    find,
    newestFirst,
    /** Records a case under the next number. It is open until `close`. */
    open: (guildId: string, draft: NewCase): Promise<ModerationCase> => mutex.run(guildId, () => add(guildId, draft)),
    /**
     * Records past cases under the next numbers, a document at a time.
     * @param isOpen whether something remains to be done about a case
     */
    addPast: (guildId: string, drafts: readonly NewCase[], isOpen: (draft: NewCase) => boolean): Promise<void> =>
      mutex.run(guildId, async () => {
        const ledger = collections.ledgers.of(guildId);
        const last = await lastNumber(guildId, (await ledger.get()).last);
        const added = drafts.map((draft, index) => ({ ...draft, number: last + 1 + index }));
        await ledger.update((draft) => {
          draft.open.push(...added.filter(isOpen).map(({ number }) => number));
        });
        for (const block of new Set(added.map(({ number }) => blockOf(number)))) {
          const cases = added.filter(({ number }) => blockOf(number) === block);
          await document(guildId, block).set({ guildId, cases: [...(await read(guildId, block)), ...cases] });
        }
        await ledger.update((draft) => {
          draft.last = last + added.length;
        });
        indexes.delete(guildId);
      }),
    /** Changes a case; resolves with its new state, once that is written. `undefined` when there is none. */
    change(
      guildId: string,
      number: number,
      change: (draft: ModerationCase) => void,
    ): Promise<ModerationCase | undefined> {
      // Serialised with additions, which write the same document.
      return mutex.run(guildId, async () => {
        if ((await find(guildId, number)) === undefined) return undefined;
        const { cases } = await document(guildId, blockOf(number)).update((draft) => {
          for (const one of draft.cases) if (one.number === number) change(one);
        });
        return cases.find((one) => one.number === number);
      });
    },
    /** Marks a case as finished: no step is left to recover. */
    close: (guildId: string, number: number) =>
      mutex.run(guildId, async () => {
        const { last } = await collections.ledgers.of(guildId).update((draft) => {
          draft.open = draft.open.filter((other) => other !== number);
        });
        begun.delete(`${guildId}-${number}`);
        const block = blockOf(number);
        if (block <= (await newestOld(last))) await keepIn(guildId, block, (one) => one.number !== number);
      }),
    /** The cases about a member, newest first. */
    async ofMember(guildId: string, userId: string): Promise<readonly ModerationCase[]> {
      const numbers = (await indexOf(guildId)).get(userId) ?? [];
      const found: ModerationCase[] = [];
      for (const number of [...numbers].reverse()) {
        const one = await find(guildId, number);
        if (one?.userId === userId) found.push(one);
      }
      return found;
    },
    /** The open cases of all guilds that an earlier run has left. */
    async *unfinished(): AsyncGenerator<{ readonly guildId: string; readonly one: ModerationCase }> {
      for await (const [guildId, { open }] of collections.ledgers.entries()) {
        for (const number of open) {
          if (signal.aborted) return;
          // This process is still working on the case.
          if (begun.has(`${guildId}-${number}`)) continue;
          const one = await find(guildId, number);
          if (one !== undefined) yield { guildId, one };
        }
      }
    },
    /** Exports the cases about a person, and those that they made as a moderator. */
    async export(userId: string): Promise<unknown> {
      const about: object[] = [];
      const asModerator: object[] = [];
      for await (const [, { guildId, cases }] of collections.blocks.entries()) {
        about.push(
          ...cases
            .filter((one) => one.userId === userId)
            .map((one) => ({ guildId, ...factsOf(one), userName: one.userName })),
        );
        asModerator.push(
          ...cases.filter((one) => one.moderatorId === userId).map((one) => ({ guildId, ...factsOf(one) })),
        );
      }
      return { ...(about.length === 0 ? {} : { cases: about }), ...(asModerator.length === 0 ? {} : { asModerator }) };
    },
    /**
     * @param keeps whether a guild keeps cases without their texts
     * @param changed called with each case about the person after its change
     */
    async forget(
      userId: string,
      keeps: (guildId: string) => Promise<boolean>,
      changed: (guildId: string, one: ModerationCase) => Promise<unknown>,
    ): Promise<void> {
      for await (const [key, { guildId, cases }] of collections.blocks.entries()) {
        if (!cases.some((one) => isInvolved(one, userId))) continue;
        for (const one of await forgetIn(guildId, key, userId, await keeps(guildId))) await changed(guildId, one);
      }
    },
  };
}
export type Cases = ReturnType<typeof createCases>;

/** A case without the ids of moderator and member, neither of whom may export the other's data. */
function factsOf({
  moderatorId,
  editedBy,
  userId,
  userName,
  removed,
  post,
  entryId,
  ...facts
}: ModerationCase): object {
  return removed === undefined ? facts : { ...facts, removed: { at: removed.at } };
}

function isInvolved({ userId, moderatorId, editedBy, removed }: ModerationCase, person: string): boolean {
  return [userId, moderatorId, editedBy, removed?.byUserId].includes(person);
}

/** Removes a person from a case. */
function forgetPerson(draft: ModerationCase, person: string, keepsMember: boolean): void {
  if (draft.moderatorId === person) delete draft.moderatorId;
  if (draft.editedBy === person) delete draft.editedBy;
  if (draft.removed?.byUserId === person) delete draft.removed.byUserId;
  if (draft.userId !== person) return;
  delete draft.userName;
  delete draft.reason;
  delete draft.note;
  if (draft.removed !== undefined) delete draft.removed.reason;
  if (!keepsMember) delete draft.userId;
}

type Rules = Pick<GuildSettings, 'warnActions' | 'warnExpiry'>;

/** Whether the points of a warning count. */
export function counts(
  { act, state, removed, at }: ModerationCase,
  { warnExpiry }: Pick<Rules, 'warnExpiry'>,
  now: number,
): boolean {
  return act === 'warn' && state === 'done' && removed === undefined && (warnExpiry === 0 || at + warnExpiry > now);
}

/** The active points of a member's warnings. */
export function pointsOf(cases: readonly ModerationCase[], rules: Rules, now: number): number {
  return cases.reduce((sum, one) => sum + (counts(one, rules, now) ? (one.points ?? 0) : 0), 0);
}

/** The highest threshold that the points have just reached. */
export function crossedThreshold({ warnActions }: Rules, before: number, now: number): Threshold | undefined {
  return warnActions
    .flatMap((text) => parseThreshold(text) ?? [])
    .filter(({ points }) => points > before && points <= now)
    .sort((one, other) => other.points - one.points)[0];
}
