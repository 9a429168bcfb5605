import { expect } from 'chai';
import fc from 'fast-check';
import { ANNA, ANNABEL, BOB, DM, ELSEWHERE, GENERAL, type MemoryHarness, openMemoryHarness, STAFF } from './harness.js';

type Place = typeof GENERAL;
type Memory = Awaited<ReturnType<MemoryHarness['memories']['list']>>[number];

const PLACES: readonly Place[] = [
  GENERAL,
  STAFF,
  ELSEWHERE,
  DM,
  { ...DM, channelId: '802' },
  { ...GENERAL, mind: '601' },
];
const PEOPLE = [ANNA, ANNABEL, BOB];
const TEXTS = [
  'I live in Bonn',
  'I live in Rome',
  'I moved to Oslo',
  'I really live in Rome',
  'I love tea',
  "I don't love tea any more",
  'Anna lives in Rome',
  'Annabel loves tea',
  'Bob: have you seen my cat?',
];
const MESSAGES = ['1', '2', '3', '4', '5', '6'];

/** Mostly one place and one person, so that many memories have the same subject. */
const somewhere = fc.oneof({ arbitrary: fc.constant(GENERAL), weight: 3 }, fc.constantFrom(...PLACES));
const adding = fc.record({
  kind: fc.constant('add' as const),
  place: somewhere,
  speaker: fc.constantFrom(ANNA, ANNA, ANNA, ...PEOPLE),
  text: fc.constantFrom(...TEXTS),
  messageId: fc.constantFrom(...MESSAGES),
  visibility: fc.constantFrom<Memory['visibility']>('guild', 'channel', 'dm'),
  /** In hours, so that memories arrive out of order. */
  ago: fc.constantFrom(0, 0, 1, 2),
  supersedes: fc.constantFrom(false, false, true),
});
const deleting = fc.record({
  kind: fc.constant('delete' as const),
  place: somewhere,
  messageId: fc.constantFrom(...MESSAGES),
});
const removing = fc.record({
  kind: fc.constantFrom('remove' as const, 'retract' as const, 'setAside' as const),
  place: somewhere,
  which: fc.nat(3),
});
const reflecting = fc.record({ kind: fc.constant('reflect' as const), place: somewhere });
const editing = fc.record({
  kind: fc.constant('edit' as const),
  place: somewhere,
  messageId: fc.constantFrom(...MESSAGES),
  text: fc.constantFrom(...TEXTS),
});
const histories = fc.array(fc.oneof({ arbitrary: adding, weight: 6 }, deleting, removing, reflecting, editing), {
  minLength: 1,
  maxLength: 25,
  size: 'max',
});
type Step = typeof histories extends fc.Arbitrary<readonly (infer S)[]> ? S : never;

/** Messages that were deleted or changed since they were added. */
type Gone = Set<string>;

async function take(harness: MemoryHarness, step: Step, gone: Gone): Promise<void> {
  const { memories } = harness;
  const { place } = step;
  const { guildId, channelId } = place;
  harness.clock.advance(60_000);
  if (step.kind === 'add') {
    const { speaker, text, messageId, visibility, ago, supersedes } = step;
    const known = (await memories.list(place, { all: true })).slice(0, 2).map(({ id }) => id);
    await memories.add({
      place,
      speaker,
      text,
      messageId: idAt(place, messageId),
      visibility,
      at: harness.clock.now() - ago * 3_600_000,
      supersedes: supersedes ? known : [],
    });
  } else if (step.kind === 'delete') {
    const messageId = idAt(place, step.messageId);
    gone.add(messageId);
    await memories.messageDeleted({ guildId, channelId, messageId });
  } else if (step.kind === 'edit') {
    await memories.messageEdited({ guildId, channelId, messageId: idAt(place, step.messageId) }, step.text);
  } else if (step.kind === 'reflect') {
    const { evidence } = await memories.reflection(place);
    await memories.reflect(place, [{ text: 'What it comes to', evidence: evidence.slice(0, 3).map(({ id }) => id) }]);
  } else {
    const one = (await memories.list(place, { all: true }))[step.which];
    if (one !== undefined) await memories[step.kind](place, one.id);
  }
}

/** Messages of different channels have different ids. */
const idAt = ({ channelId }: Place, messageId: string) => `${channelId}${messageId}`;

const everything = async ({ memories }: MemoryHarness) =>
  (await Promise.all(PLACES.map((place) => memories.list(place, { all: true })))).flat();

async function withHistory(check: (harness: MemoryHarness, gone: Gone) => Promise<void>, runs = 20): Promise<void> {
  await fc.assert(
    fc.asyncProperty(histories, async (steps) => {
      await using harness = await openMemoryHarness();
      const gone: Gone = new Set();
      for (const step of steps) await take(harness, step, gone);
      await check(harness, gone);
    }),
    { numRuns: runs },
  );
}

describe('persona: whatever is remembered, deleted, edited and reflected on', () => {
  it('is never told in another guild, another direct message, by another mind, or outside the channel it is for', async () => {
    await withHistory(async (harness) => {
      for (const place of PLACES) {
        for (const query of ['Where does Anna live?', 'tea', '', 'my cat']) {
          const found = await harness.memories.retrieve({ place, query, askedBy: ANNA, limit: 50 });
          for (const { memory } of found) expectMayBeTold(memory, place);
        }
        for (const memory of await harness.memories.list(place, { all: true })) expectMayBeTold(memory, place);
      }
    });
  });

  it('leaves nothing of a deleted message, nor of anything that rests on it, in memory or after a restart', async () => {
    await withHistory(async (harness, gone) => {
      const check = async (one: MemoryHarness) => {
        for (const memory of await everything(one)) {
          const sources = [memory.messageId, ...memory.evidence.map(({ messageId }) => messageId)];
          expect(sources.filter((id) => id !== null && gone.has(id))).to.deep.equal([]);
        }
      };
      await check(harness);
      await using later = await harness.restart(false);
      await check(later);
    });
  });

  it('is never superseded by itself, by something earlier, or by something that is not there', async () => {
    await withHistory(async (harness) => {
      const all = new Map((await everything(harness)).map((memory) => [memory.id, memory]));
      for (const memory of all.values()) {
        if (memory.supersededBy !== null) {
          const later = all.get(memory.supersededBy);
          expect(later, 'what it was superseded by').not.to.equal(undefined);
          expect(isLater(later, memory), `${later?.text} is later than ${memory.text}`).to.equal(true);
        }
        for (const { id } of memory.evidence) expect(all.has(id), 'what it rests on').to.equal(true);
        if (memory.duplicateOf === null) continue;
        expect(all.get(memory.duplicateOf)?.duplicateOf, 'what speaks for it').to.equal(null);
      }
    });
  });

  it('is the same after a restart as before it', async () => {
    await withHistory(async (harness) => {
      const before = await everything(harness);
      await using crashed = await harness.restart(false);
      const after = await everything(crashed);
      await using settled = await crashed.restart();
      const byId = (memories: readonly Memory[]) =>
        memories
          .map((memory) => [memory.id, memory.text, memory.supersededBy, memory.duplicateOf, memory.setAsideAt])
          .sort();
      expect(byId(after)).to.deep.equal(byId(before));
      expect(byId(await everything(settled))).to.deep.equal(byId(before));
    }, 15);
  });

  it('is the same as if deleted messages had never been sent', async () => {
    const said = fc.record({
      speaker: fc.constantFrom(ANNA, ANNA, BOB),
      text: fc.constantFrom(
        'I live in Bonn',
        'I live in Rome',
        'Anna lives in Oslo',
        'Anna lives in Porto',
        'I love tea',
        'I hate tea',
      ),
      deleted: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(said, { minLength: 2, maxLength: 8, size: 'max' }), async (all) => {
        await using harness = await openMemoryHarness();
        await using unheard = await openMemoryHarness();
        for (const [index, { speaker, text, deleted }] of all.entries()) {
          await harness.say(speaker, text, { messageId: `${index}` });
          if (!deleted) await unheard.say(speaker, text, { messageId: `${index}` });
        }
        const { guildId, channelId } = GENERAL;
        const refs = all.flatMap(({ deleted }, index) =>
          deleted ? [{ guildId, channelId, messageId: `${index}` }] : [],
        );
        await harness.memories.messageDeleted(refs);
        expect(await harness.standing()).to.deep.equal(await unheard.standing());
      }),
      { numRuns: 60 },
    );
  });
});

const isLater = (one: Memory | undefined, other: Memory): boolean =>
  one !== undefined && (one.at > other.at || (one.at === other.at && one.id > other.id));

function expectMayBeTold({ guildId, channelId, visibility }: Memory, place: Place): void {
  expect(guildId).to.equal(place.guildId);
  if (guildId === null)
    expect({ channelId, visibility }).to.deep.equal({ channelId: place.channelId, visibility: 'dm' });
  else if (visibility === 'channel') expect(channelId).to.equal(place.channelId);
  else expect(visibility).to.equal('guild');
}
