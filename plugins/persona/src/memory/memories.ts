import { type Clock, type Files, type Logger, openJournal, type Random } from '@cinnabar/sdk';
import { compose } from './compose.js';
import { createEmbedding } from './embedding.js';
import { personalDataIn } from './personal-data.js';
import { planAdd } from './plan/add.js';
import { forgetLeast } from './plan/forget.js';
import { historyOf, removeWhole, unsay } from './plan/remove.js';
import { understand } from './recall/question.js';
import { rank } from './recall/rank.js';
import { freshAt, reflectionOf, reflectionState } from './reflection.js';
import type { Shard } from './shard/shard.js';
import { createShards } from './shard/shards.js';
import { createSources } from './sources.js';
import { covers, mayTell } from './table/audience.js';
import { byTime, stands } from './table/order.js';
import { createDirectory, joined } from './text/names.js';
import { termsOf } from './text/words.js';
import type { Added, Decision, Embed, Listing, Memories, Memory, NewMemory, Place, Recall } from './types.js';

interface Parts {
  /** Where the files lie: a folder of the plugin's own. */
  folder(): Promise<string>;
  /** How they are opened; without it, by the SDK's own `openJournal`. */
  readonly files?: Pick<Files, 'journal'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Pick<Random, 'id'>;
  readonly log: Logger;
  /** Runs a task later, and takes it back when the plugin stops. */
  after(delayMs: number, task: () => unknown): unknown;
  /** Whom reflections are by: the bot's user id. */
  self?(): string | undefined;
  readonly embed?: Embed | undefined;
  /** How much one mind remembers in one guild or direct message; by default 10,000. */
  readonly capacity?: number | undefined;
}

const CAPACITY = 10_000;
const LIMIT = 5;
const MOST_LIMIT = 50;

/** Opens what personas remember. Nothing is read before it is asked for. */
export function createMemories(parts: Parts): Memories {
  const { clock, random, log, capacity = CAPACITY } = parts;
  const shards = createShards({ files: { journal: openJournal }, ...parts });
  const embedding = createEmbedding({ embed: parts.embed, shards, clock, log });
  const sources = createSources({ shards, addTo });

  /** Adds to a shard whose turn it is. */
  async function addTo(shard: Shard, given: NewMemory, decision: Decision | undefined): Promise<Added> {
    const { table } = shard;
    const memory = compose(given, table, random.id(), clock.now());
    if (memory.text === '' || sources.isDeleted(memory.messageId)) {
      return { outcome: 'refused', memory: undefined, replaced: [] };
    }
    const plan = planAdd(table, memory, decision, random.id);
    await shard.commit({ put: plan.put, drop: plan.drop, reflected: plan.reflected });
    const tooMuch = forgetLeast(table, capacity, clock.now());
    if (tooMuch !== undefined) await shard.commit(tooMuch);
    embedding.follow(shard, given.place);
    const now = (one: Memory) => table.get(one.id) ?? one;
    return {
      outcome: plan.outcome,
      memory: plan.memory && now(plan.memory),
      replaced: plan.replaced.map(now),
    };
  }

  /** Changes what the place may see of one memory. */
  const onVisible = <T>(place: Place, id: string, otherwise: T, task: (shard: Shard, memory: Memory) => Promise<T>) =>
    shards.use(place, (shard) =>
      shard.run(async () => {
        const memory = visible(shard, place, id);
        return memory === undefined ? otherwise : task(shard, memory);
      }),
    );

  const erased = async (shard: Shard, change: ReturnType<typeof unsay>): Promise<number> => {
    await shard.erase(change);
    return change.drop?.length ?? 0;
  };

  return {
    add: (given, decision) => shards.use(given.place, (shard) => shard.run(() => addTo(shard, given, decision))),
    similar: (given, limit = LIMIT) =>
      shards.use(given.place, async ({ table, search }) => {
        const memory = compose(given, table, '', clock.now());
        const scores = search.find(
          termsOf(memory.text),
          (other) => other.subject === memory.subject && other.kind === 'fact' && covers(memory, other),
        );
        const onSame = memory.attribute === null ? [] : table.onAttribute(memory.subject, memory.attribute);
        const found = [...onSame.filter((other) => stands(other) && covers(memory, other))];
        for (const id of scores.keys()) found.push(...[table.get(id) ?? []].flat());
        return [...new Set(found)].slice(0, clamp(limit));
      }),
    retrieve: (recall) => shards.use(recall.place, (shard) => recalledFrom(shard, recall)),
    list: (place, which = {}) =>
      shards.use(place, async ({ table }) =>
        [...table.all()]
          .filter((memory) => mayTell(memory, place) && fits(memory, which))
          .sort(byTime)
          .reverse(),
      ),
    find: (place, id) => shards.use(place, async (shard) => visible(shard, place, id)),
    history: (place, id) =>
      shards.use(place, async (shard) => {
        if (visible(shard, place, id) === undefined) return [];
        return historyOf(shard.table, id).filter((memory) => mayTell(memory, place));
      }),
    setAside: (place, id) =>
      onVisible(place, id, false, async (shard, memory) => {
        await shard.commit({ put: [{ ...memory, setAsideAt: clock.now() }] });
        return true;
      }),
    restore: (place, id) =>
      onVisible(place, id, false, async (shard, memory) => {
        if (memory.setAsideAt === null) return false;
        await shard.commit({ put: [{ ...memory, setAsideAt: null }] });
        return true;
      }),
    setAsideAll: (place) =>
      shards.use(place, (shard) =>
        shard.run(async () => {
          const at = clock.now();
          const put = [...shard.table.all()].filter(({ setAsideAt }) => setAsideAt === null);
          if (put.length === 0) return undefined;
          await shard.commit({ put: put.map((memory) => ({ ...memory, setAsideAt: at })) });
          return at;
        }),
      ),
    restoreAll: (place, at) =>
      shards.use(place, (shard) =>
        shard.run(async () => {
          const put = [...shard.table.all()].filter(({ setAsideAt }) => setAsideAt === at);
          await shard.commit({ put: put.map((memory) => ({ ...memory, setAsideAt: null })) });
        }),
      ),
    remove: (place, id) => onVisible(place, id, 0, (shard) => erased(shard, removeWhole(shard.table, id))),
    retract: (place, id) => onVisible(place, id, 0, (shard) => erased(shard, unsay(shard.table, [id]))),
    clear: (place) => shards.use(place, (shard) => shard.run(() => shard.wipe())),
    messageDeleted: sources.messageDeleted,
    messageEdited: sources.messageEdited,
    channelDeleted: sources.channelDeleted,
    guildDeleted: sources.guildDeleted,
    reflection: (place) => shards.use(place, async ({ table }) => reflectionState(table, place)),
    reflect: (place, insights) =>
      shards.use(place, (shard) =>
        shard.run(async () => {
          const { table } = shard;
          const speaker = parts.self?.() ?? place.mind;
          const put = insights.flatMap(
            (insight) => reflectionOf({ table, place, insight, speaker, id: random.id(), now: clock.now() }) ?? [],
          );
          await shard.commit({ put, reflected: freshAt(table, place).map(({ id }) => id) });
          embedding.follow(shard, place);
          return put;
        }),
      ),
    personalData: personalDataIn(shards),
    async close() {
      await embedding.idle();
      await shards.close();
    },
  };

  async function recalledFrom(
    shard: Shard,
    { place, query, askedBy, about, people = [], limit = LIMIT, signal }: Recall,
  ) {
    const { table, search } = shard;
    const present = createDirectory();
    for (const person of people) present.add(person);
    const asked = query?.trim() ?? '';
    embedding.follow(shard, place);
    const vector = asked === '' ? undefined : await embedding.of(asked, signal);
    const directory = joined(present, table.names);
    const question =
      asked === '' && about === undefined
        ? undefined
        : understand({ query: asked, askedBy, about, directory, knows: search.knows });
    const now = clock.now();
    const found = rank({ table, search, place, question, vector, now, limit: clamp(limit) });
    shard.recalled(
      found.map(({ memory }) => memory.id),
      now,
    );
    return found;
  }
}

const clamp = (limit: number) => Math.min(MOST_LIMIT, Math.max(1, Math.trunc(limit)));

function visible({ table }: Shard, place: Place, id: string): Memory | undefined {
  const memory = table.get(id);
  return memory !== undefined && mayTell(memory, place) ? memory : undefined;
}

function fits(memory: Memory, { about, by, of, all }: Listing): boolean {
  if (all !== true && !stands(memory)) return false;
  if (about !== undefined && memory.subject !== about) return false;
  if (by !== undefined && memory.speaker !== by) return false;
  return of === undefined || memory.subject === of || memory.speaker === of;
}
