import { definePlugin, RESULT_CHARACTERS, Tools, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type Harness, openToolsHarness } from './harness.js';

/** Returns 204,000 characters, or fails with an error of that length. */
const library = definePlugin({
  manifest: { id: 'library', version: '1.0.0', description: 'Long books' },
  setup({ tool }) {
    const plain = { description: 'Reads a book', risk: 'read', input: z.object({}) } as const;
    tool({ ...plain, name: 'read_book', run: () => 'word '.repeat(40_800) });
    tool({
      ...plain,
      name: 'read_shelf',
      present: {
        content: (_, books) => books.map((text) => ({ type: 'text' as const, text })),
      },
      run: () => Array.from({ length: 10 }, () => 'word '.repeat(4_080)),
    });
  },
});

describe('long results of tools', () => {
  let harness: Harness;
  before(async () => {
    harness = await openToolsHarness({ plugins: ['discord-tools', library] });
    for (let n = 1; n <= 60; n += 1) harness.alice.say(harness.general, `line ${n} ${'.'.repeat(900)}`);
    await harness.host.settled();
  });
  after(() => harness[Symbol.asyncDispose]());
  const numbersIn = (text: string) => [...text.matchAll(/^> line (\d+)/gm)].map(([, n]) => Number(n));

  it('of a channel keep the newest messages, and say how to read on, until all are read', async () => {
    const { alice, general, done } = harness;
    const seen: number[] = [];
    let before: string | undefined;
    for (let page = 0; page < 10; page += 1) {
      const input = { channelId: general.id, limit: 100, ...(before === undefined ? {} : { before }) };
      const text = await done(alice, 'discord_read_messages', input);
      expect(text.length).to.be.at.most(RESULT_CHARACTERS);
      if (page === 0) expect(numbersIn(text).at(-1)).to.equal(60);
      seen.unshift(...numbersIn(text));
      before = /read on with before: (\d+)/.exec(text)?.[1];
      if (before === undefined) break;
    }
    expect(seen).to.deep.equal(Array.from({ length: 60 }, (_, index) => index + 1));
  });

  it('read forwards go on from the oldest', async () => {
    const { alice, general, done } = harness;
    const first = general.messages.find(({ content }) => content.startsWith('line 1 '))?.id;
    const text = await done(alice, 'discord_read_messages', { channelId: general.id, limit: 100, after: first });
    expect(numbersIn(text)[0]).to.equal(2);
    const next = /read on with after: (\d+)/.exec(text)?.[1];
    const more = await done(alice, 'discord_read_messages', { channelId: general.id, limit: 100, after: next });
    expect(numbersIn(more)[0]).to.equal((numbersIn(text).at(-1) ?? 0) + 1);
  });

  it('of a search say at which offset to go on', async () => {
    const { alice, guild, done } = harness;
    const input = { guildId: guild.id, content: 'line', limit: 100 };
    const text = await done(alice, 'discord_search_messages', input);
    expect(text.length).to.be.at.most(RESULT_CHARACTERS);
    const offset = Number(/go on with offset: (\d+)/.exec(text)?.[1]);
    expect(numbersIn(text)).to.have.length(offset);
    const more = await done(alice, 'discord_search_messages', { ...input, offset });
    expect(numbersIn(more)[0]).to.equal((numbersIn(text).at(-1) ?? 0) - 1);
  });

  it('never hold more than their caller takes, whatever the tool', async () => {
    const { host, alice, general, guild } = harness;
    const actor = { userId: alice.id, guildId: guild.id, channelId: general.id };
    const call = (name: string, mostCharacters?: number) =>
      host.resolve(Tools).invoke({
        name,
        arguments: {},
        actor,
        origin: 'test',
        ...(mostCharacters === undefined ? {} : { mostCharacters }),
      });
    for (const name of ['read_book', 'read_shelf']) {
      for (const most of [undefined, 1_000]) {
        const outcome = await call(name, most);
        if (outcome.status !== 'done') throw new Error(outcome.status);
        const texts = (outcome.content ?? []).map((block) => (block.type === 'text' ? block.text : '')).join('');
        expect(outcome.text.length, name).to.be.at.most(most ?? RESULT_CHARACTERS);
        expect(texts.length, name).to.be.at.most(most ?? RESULT_CHARACTERS);
        expect(outcome.text).to.match(/cut: only the beginning of 2\d+ characters is shown/);
      }
    }
  });
});
