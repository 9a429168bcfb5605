import { setImmediate } from 'node:timers/promises';
import type { LocalChannel, LocalMessage, LocalUser } from '@cinnabar/local-discord';
import { expect } from 'chai';
import fc from 'fast-check';
import { chatter, type HistoryHarness, openHistory } from './harness.js';

const EMOJI = ['🙃', '🫥'];

/** A random event; numbers select among the existing messages. */
const happening = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('say'), who: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('edit', 'delete', 'clear'), what: fc.nat() }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constantFrom('react', 'unreact'), who: fc.nat(), what: fc.nat(), emoji: fc.nat() }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('read'), limit: fc.integer({ min: 1, max: 150 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('hold', 'release', 'settle') }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('pass'), turns: fc.integer({ min: 1, max: 30 }) }) },
);
type Happening = {
  readonly kind: string;
  readonly who?: number;
  readonly what?: number;
  readonly emoji?: number;
  readonly limit?: number;
  readonly turns?: number;
};

interface Scene {
  readonly person: LocalUser;
  readonly message: LocalMessage | undefined;
  readonly sign: string;
  readonly limit: number;
  readonly turns: number;
}

describe('chat history: whatever happens in whatever order', () => {
  let room: HistoryHarness;
  before(async () => {
    room = await openHistory();
  });
  after(() => room[Symbol.asyncDispose]());

  /** The expected history: the last `limit` messages, with reactions of others than the bot. */
  const truth = (channel: LocalChannel, limit: number, { host }: HistoryHarness = room) =>
    channel.messages.slice(-limit).map(({ id, content, reactions }) => [
      id,
      content,
      reactions
        .filter(({ users }) => [...users].some((user) => user !== host.bot))
        .map(({ emoji }) => emoji.name)
        .sort(),
    ]);
  const seen = async (channel: LocalChannel, limit: number, { read }: HistoryHarness = room) =>
    (await read(channel, { limit })).messages.map(({ id, content, reactions }) => [id, content, [...reactions].sort()]);

  const play = async (channel: LocalChannel, happenings: readonly Happening[], room: HistoryHarness) => {
    const { host } = room;
    const { rest } = host.discord.faults;
    const people = [host.alice, host.bob, host.bot];
    const readings: Promise<unknown>[] = [];
    const held: (() => void)[] = [];
    const release = () => {
      for (const letGo of held.splice(0)) letGo();
    };
    const actions: Readonly<Record<string, (scene: Scene) => unknown>> = {
      say: ({ person }) => person.say(channel, `said ${channel.messages.length}`),
      edit: ({ message }) => message?.author.user?.edit(message, `${message.content}!`),
      delete: ({ message }) => message && host.you.delete(message),
      clear: ({ message, sign }) => message && host.you.clearReactions(message, sign),
      react: ({ message, person, sign }) => message && person.react(message, sign),
      unreact: ({ message, person, sign }) => message && person.unreact(message, sign),
      read: ({ limit }) => readings.push(room.readNow(channel, { limit })),
      hold: () => held.push(rest.hold({ route: '/channels/:channelId/messages' })),
      release,
      settle: () => host.settled(),
      // Stops between Discord's read and its response.
      async pass({ turns }) {
        for (let turn = 0; turn < turns; turn += 1) await setImmediate();
      },
    };
    for (const { kind, who = 0, what = 0, emoji = 0, limit = 1, turns = 1 } of happenings) {
      await actions[kind]?.({
        person: people[who % people.length] ?? host.alice,
        // Few messages, so that each is changed often.
        message: channel.messages.at(-1 - (what % 3)),
        sign: EMOJI[emoji % EMOJI.length] ?? '🙃',
        limit,
        turns,
      });
    }
    release();
    rest.clear();
    await Promise.all(readings);
    await host.settled();
  };

  it('shows what Discord has', async function () {
    this.timeout(60_000);
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 130 }),
        fc.constantFrom(0, 2),
        fc.array(happening, { minLength: 5, maxLength: 60 }),
        fc.integer({ min: 1, max: 150 }),
        async (before, latencyMs, happenings, limit) => {
          runs += 1;
          const channel = room.host.guild.createChannel({ name: `run-${runs}` });
          chatter(room.host.bob, channel, before);
          await room.host.settled();
          room.host.discord.faults.rest.latencyMs = latencyMs;
          await play(channel, happenings, room);
          expect(await seen(channel, limit)).to.deep.equal(truth(channel, limit));
          expect(await seen(channel, 400)).to.deep.equal(truth(channel, 400));
          expect((await room.read(channel)).restCalls).to.equal(0);
        },
      ),
      { numRuns: 20 },
    );
  });

  it('shows what Discord has after lost sessions, too', async function () {
    this.timeout(60_000);
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(happening, { minLength: 5, maxLength: 30 }),
        fc.array(happening, { minLength: 1, maxLength: 20 }),
        fc.array(happening, { maxLength: 20 }),
        async (before, during, after) => {
          runs += 1;
          const channel = room.host.guild.createChannel({ name: `lost-${runs}` });
          chatter(room.host.bob, channel, 30);
          await room.host.settled();
          await play(channel, [...before, { kind: 'read', limit: 100 }], room);
          const unheard = during.filter(({ kind }) => !['read', 'hold', 'release', 'settle', 'pass'].includes(kind));
          await room.loseSession(() => void play(channel, unheard, room));
          await play(channel, after, room);
          expect(await seen(channel, 400)).to.deep.equal(truth(channel, 400));
          expect((await room.read(channel)).restCalls).to.equal(0);
        },
      ),
      { numRuns: 5 },
    );
  });

  it('shows what Discord has when it may keep next to nothing', async function () {
    this.timeout(60_000);
    const limits = { channels: 2, all: { messages: 60, bytes: 60_000 }, channelBytes: 20_000 };
    await using tight = await openHistory(limits);
    const channels = ['a', 'b', 'c'].map((name) => tight.host.guild.createChannel({ name }));
    await tight.host.settled();
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...channels),
        fc.array(happening, { minLength: 5, maxLength: 60 }),
        fc.integer({ min: 1, max: 150 }),
        async (channel, happenings, limit) => {
          await play(channel, happenings, tight);
          expect(await seen(channel, limit, tight)).to.deep.equal(truth(channel, limit, tight));
          expect(tight.history.held.messages).to.be.at.most(limits.all.messages);
          expect(tight.history.held.bytes).to.be.at.most(limits.channelBytes * limits.channels);
        },
      ),
      { numRuns: 12 },
    );
  });
});
