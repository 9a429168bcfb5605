import { type Charge, type Random, t } from '@cinnabar/sdk';
import { createMemoryFiles, type FileOptions, type MemoryFile } from './memory-files.js';
import { byTime, type Change, createEmbedding, isActive, type MemoryIndex } from './memory-index.js';
import { rank } from './search.js';
import { createSourceChanges, personalDataIn } from './source-changes.js';
import {
  type Added,
  commonAudience,
  type Embed,
  type Insight,
  isMember,
  isVisible,
  type Listing,
  type Memory,
  type NewMemory,
  type Place,
  type Recall,
  type Recalled,
  type ReflectionState,
} from './types.js';
import { compose, evidenceOf, forgetLeast, inRange, planAdd, removeWhole, retract, tidy } from './updates.js';

interface MemoryOptions extends FileOptions {
  readonly random: Pick<Random, 'id'>;
  /** The bot's user id, which is the speaker of reflections. */
  self?(): string | undefined;
  readonly embed?: Embed | undefined;
  /** Maximum number of memories of one persona in one guild or direct message; by default 10,000. */
  readonly capacity?: number | undefined;
}

const CAPACITY = 10_000;
const LIMIT = 5;
const MOST_LIMIT = 50;

export type Memories = ReturnType<typeof createMemories>;

/**
 * Opens the memories of all personas. Reads a journal when it is first needed. A write resolves when it is on the disk; writes are made in the order of the
 * calls.
 */
export function createMemories(options: MemoryOptions) {
  const { clock, random, capacity = CAPACITY } = options;
  const files = createMemoryFiles(options);
  const embedding = createEmbedding(options.embed, files, options);
  const { isDeleted, ...sources } = createSourceChanges(files);

  const chargeFor = ({ guildId, channelId, mind }: Place, trigger: string): Charge => ({
    actor: { guildId, channelId, userId: options.self?.() ?? mind },
    responder: 'persona',
    trigger,
  });
  const indexingOf = (place: Place) => chargeFor(place, t('I prepared memories for search by meaning'));
  const searchIn = (place: Place) => chargeFor(place, t('I searched my memories'));

  /** Must be called within `run` of the file. */
  async function addTo(file: MemoryFile, given: NewMemory): Promise<Added> {
    const { index } = file;
    const memory = compose(given, index, random.id(), clock.now());
    if (memory.text === '' || isDeleted(memory.messageId)) {
      return { outcome: 'refused', memory: undefined, replaced: [] };
    }
    const { outcome, replaced, ...change } = planAdd(index, memory, given.supersedes);
    await file.commit(change);
    const tooMuch = forgetLeast(index, capacity, clock.now());
    if (tooMuch !== undefined) await file.commit(tooMuch);
    embedding.follow(file, given.place, indexingOf(given.place));
    const { duplicateOf } = index.get(memory.id) ?? memory;
    return {
      outcome,
      memory: index.get(duplicateOf ?? memory.id) ?? memory,
      replaced: replaced.map((one) => index.get(one.id) ?? one),
    };
  }

  /** Runs a task with a memory that may be known in the place; resolves with `otherwise` if there is none. */
  const onVisible = <T>(
    place: Place,
    id: string,
    otherwise: T,
    task: (file: MemoryFile, memory: Memory) => Promise<T>,
  ) =>
    files.use(place, (file) =>
      file.run(async () => {
        const memory = visible(file, place, id);
        return memory === undefined ? otherwise : task(file, memory);
      }),
    );

  const erased = async (file: MemoryFile, change: Change): Promise<number> => {
    await file.erase(change);
    return change.drop?.length ?? 0;
  };

  return {
    ...sources,
    add: (given: NewMemory) => files.use(given.place, (file) => file.run(() => addTo(file, given))),
    /**
     * The best memories that may be known in the place, by relevance × importance × recency (which falls to 0.995 of its value in an hour); with a query,
     * importance and recency count only slightly.
     */
    retrieve: (recall: Recall) => files.use(recall.place, (file) => recalledFrom(file, recall)),
    /** The memories that may be known in that place, newest first. */
    list: (place: Place, which: Listing = {}): Promise<readonly Memory[]> =>
      files.use(place, async ({ index }) =>
        [...index.all()]
          .filter((memory) => isVisible(memory, place) && fits(memory, which))
          .sort(byTime)
          .reverse(),
      ),
    find: (place: Place, id: string) => files.use(place, async (file) => visible(file, place, id)),
    /**
     * Sets a memory aside, so that `restore` can bring it back; does not restore the memory that it superseded. Resolves with `false` if there is none with
     * that id.
     */
    setAside: (place: Place, id: string) =>
      onVisible(place, id, false, async (file, memory) => {
        await file.commit({ put: [{ ...memory, setAsideAt: clock.now() }] });
        return true;
      }),
    restore: (place: Place, id: string) =>
      onVisible(place, id, false, async (file, memory) => {
        if (memory.setAsideAt === null) return false;
        await file.commit({ put: [{ ...memory, setAsideAt: null }] });
        return true;
      }),
    /**
     * Sets aside all memories of one mind in a guild or direct message. Resolves with the time to pass to `restoreAll`; `undefined` when there were
     * none.
     */
    setAsideAll: (place: Place) =>
      files.use(place, (file) =>
        file.run(async () => {
          const at = clock.now();
          const put = [...file.index.all()].filter(({ setAsideAt }) => setAsideAt === null);
          if (put.length === 0) return undefined;
          await file.commit({ put: put.map((memory) => ({ ...memory, setAsideAt: at })) });
          return at;
        }),
      ),
    restoreAll: (place: Place, at: number) =>
      files.use(place, (file) =>
        file.run(async () => {
          const put = [...file.index.all()].filter(({ setAsideAt }) => setAsideAt === at);
          await file.commit({ put: put.map((memory) => ({ ...memory, setAsideAt: null })) });
        }),
      ),
    /** Deletes a memory with all that it superseded and all that depends on it. Resolves with the number of deleted memories. */
    remove: (place: Place, id: string) => onVisible(place, id, 0, (file) => erased(file, removeWhole(file.index, id))),
    /**
     * Deletes a memory as though it had never been added: those that it superseded become active again, those that depend on it are deleted. Resolves with the
     * number of deleted memories.
     */
    retract: (place: Place, id: string) => onVisible(place, id, 0, (file) => erased(file, retract(file.index, [id]))),
    /** Deletes all memories of one mind in a guild or direct message. */
    clear: (place: Place) => files.use(place, (file) => file.run(() => file.wipe())),
    reflection: (place: Place) => files.use(place, async ({ index }) => reflectionState(index, place)),
    /** Stores the insights of a reflection, and starts the sum of importance anew, also without insights. Leaves out insights without evidence. */
    reflect: (place: Place, insights: readonly Insight[]): Promise<readonly Memory[]> =>
      files.use(place, (file) =>
        file.run(async () => {
          const { index } = file;
          const speaker = options.self?.() ?? place.mind;
          const put = insights.flatMap(
            (insight) => reflectionOf(insight, { index, place, speaker, id: random.id(), now: clock.now() }) ?? [],
          );
          await file.commit({ put, reflected: freshAt(index, place).map(({ id }) => id) });
          embedding.follow(file, place, indexingOf(place));
          return put;
        }),
      ),
    /** A member's statements, and memories about the member, for the host's export and deletion. */
    personalData: personalDataIn(files),
    /** Writes pending changes and closes the files. Must be the last call. */
    async close(): Promise<void> {
      await embedding.idle();
      await files.close();
    },
  };

  async function recalledFrom(file: MemoryFile, recall: Recall): Promise<readonly Recalled[]> {
    const { place, query = '', limit = LIMIT, charge = searchIn(place), signal } = recall;
    embedding.follow(file, place, indexingOf(place));
    const vector = query.trim() === '' ? undefined : await embedding.of(query, charge, signal);
    const now = clock.now();
    const found = rank({ ...recall, ...file, vector, now, limit: clamp(limit) });
    file.recalled(
      found.map(({ memory }) => memory.id),
      now,
    );
    return found;
  }
}

const clamp = (limit: number) => Math.min(MOST_LIMIT, Math.max(1, Math.trunc(limit)));

function visible({ index }: MemoryFile, place: Place, id: string): Memory | undefined {
  const memory = index.get(id);
  return memory !== undefined && isVisible(memory, place) ? memory : undefined;
}

function fits(memory: Memory, { about, by, of, all }: Listing): boolean {
  if (all !== true && !isActive(memory)) return false;
  if (about !== undefined && memory.subject !== about) return false;
  if (by !== undefined && memory.speaker !== by) return false;
  return of === undefined || memory.subject === of || memory.speaker === of;
}

/** Sum of importance at which a reflection is due. */
const DUE = 150;
const MOST_EVIDENCE = 100;
const INSIGHT_IMPORTANCE = 7;

/** The facts since the last reflection that may be known in the place, and the sum of their importance. */
function reflectionState(index: MemoryIndex, place: Place): ReflectionState {
  const fresh = freshAt(index, place);
  const sum = fresh.reduce((total, { importance }) => total + importance, 0);
  return { due: sum >= DUE, sum, evidence: fresh.slice(-MOST_EVIDENCE) };
}

function freshAt(index: MemoryIndex, place: Place): readonly Memory[] {
  return index.pending().filter((memory) => isActive(memory) && isVisible(memory, place));
}

/** A reflection as a memory; `undefined` without evidence. Its audience is one that may know all of its evidence. */
function reflectionOf(
  insight: Insight,
  at: {
    readonly index: MemoryIndex;
    readonly place: Place;
    /** The bot's user id; the mind if that is unknown. */
    readonly speaker: string;
    readonly id: string;
    readonly now: number;
  },
): Memory | undefined {
  const { index, place, speaker, id, now } = at;
  const evidence = insight.evidence
    .flatMap((each) => index.get(each) ?? [])
    .filter((memory) => memory.setAsideAt === null && isVisible(memory, place));
  const audience = commonAudience(evidence);
  const text = tidy(insight.text, 2_000);
  if (audience === undefined || text === '') return undefined;
  const subjects = new Set(evidence.map(({ subject }) => subject));
  const [only] = subjects;
  const subject = insight.subject ?? (subjects.size === 1 && only !== undefined ? only : place.mind);
  const importance = inRange(insight.importance ?? INSIGHT_IMPORTANCE);
  const { visibility } = audience;
  const name = evidence.find((memory) => memory.subject === subject)?.subjectName ?? undefined;
  const composed = compose(
    { place, text, speaker, subject, subjectName: name, importance, visibility },
    index,
    id,
    now,
  );
  return {
    ...composed,
    kind: 'reflection',
    channelId: audience.channelId,
    evidence: evidence.flatMap(evidenceOf).filter(({ people }) => people.every(isMember)),
  };
}
