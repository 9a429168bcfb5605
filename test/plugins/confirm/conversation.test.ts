import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { callTool, callToolRaw, callTools, say, scriptedLlm } from '@cinnabar/local-models';
import { definePlugin, type Plugin, Tools, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { toldTo } from './harness.js';

/** The whole flow: a member's message, the model's call, the member's confirmation, the change in the party. */
async function openConversation(model: 'llm' | Plugin) {
  const host = await createTestHost({ plugins: ['ai', 'chat', 'party', 'confirm', model] });
  return {
    host,
    /** The bot's messages in response. */
    async says(text: string) {
      const known = saidIn(host).length;
      host.alice.say(host.general, `!ai ${text}`);
      await host.settled();
      return saidIn(host).slice(known);
    },
    /** Adds the member's reaction to the bot's latest card. @returns the bot's next messages */
    async reacts(emoji: '👍' | '👎') {
      const known = saidIn(host).length;
      const card = saidIn(host).findLast(({ reactions }) => reactions.length > 0);
      if (card === undefined) throw new Error('there is no card');
      host.alice.react(card, emoji);
      await host.settled();
      return saidIn(host)
        .slice(known)
        .map(({ content }) => content);
    },
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}
const saidIn = ({ general, bot }: TestHost) => general.messages.filter(({ author }) => author.id === bot.id);

/** The form of the text in a channel with several readers. */
const forAlice = ({ host }: { readonly host: TestHost }, text: string) => toldTo(host.alice, text);

const isCard = (content: string) => content.startsWith('📋 Confirmation Required');

describe('a conversation with the party, confirmed by reactions', () => {
  it('adds, views and removes a character in plain language, offline', async () => {
    await using talk = await openConversation('llm');
    const [card] = await talk.says("Add V to my party, he's a Solo");
    expect(card?.content).to.equal(
      "📋 Confirmation Required\n\nI'll add V to your party:\n• Role: Solo\n• Gear Preferences: None\n\n👍 Confirm  👎 Cancel",
    );
    expect(await talk.reacts('👍')).to.deep.equal([forAlice(talk, '✓ V has been added to your party!')]);
    await talk.says('Who is in my party?');
    expect(await talk.reacts('👍')).to.deep.equal([
      forAlice(talk, '👥 Your party (1)\n• **V** – Solo (Gear Preferences: None)'),
    ]);
    await talk.says('Remove V from my party');
    expect(await talk.reacts('👍')).to.deep.equal([forAlice(talk, '✓ V has been removed from your party.')]);
  });

  it('attaches a result that would fill many messages', async () => {
    const page = definePlugin({
      manifest: { id: 'page', version: '1.0.0', description: 'Reads' },
      setup: ({ tool }) =>
        void tool({
          name: 'read',
          description: 'Reads',
          input: z.object({}),
          risk: 'read',
          run: () => 'word '.repeat(5_000),
        }),
    });
    await using host = await createTestHost({ plugins: ['confirm', page] });
    const actor = { userId: host.alice.id, guildId: host.guild.id, channelId: host.general.id };
    await host.resolve(Tools).invoke({ name: 'read', arguments: {}, actor, origin: 'test' });
    await host.settled();
    const [card] = saidIn(host);
    if (card === undefined) throw new Error('there is no card');
    host.alice.react(card, '👍');
    await host.settled();
    const answers = saidIn(host).slice(1);
    expect(answers).to.have.lengthOf(1);
    expect(answers[0]?.attachments[0]).to.deep.include({ filename: 'answer.txt', size: 25_000 });
  });

  it('cancels each in its own words', async () => {
    await using talk = await openConversation('llm');
    for (const [text, answer] of [
      ["Add V to my party, he's a Solo", 'Cancelled adding V to your party.'],
      ['Remove V from my party', 'Cancelled removing V from your party.'],
      ['Who is in my party?', 'Cancelled viewing party members.'],
    ] as const) {
      await talk.says(text);
      expect(await talk.reacts('👎')).to.deep.equal([forAlice(talk, answer)]);
    }
    const model = scriptedLlm([callTool('recommend_gear', { loot_description: '2 SMGs' })]);
    await using other = await openConversation(model);
    await other.says('Distribute 2 SMGs');
    expect(await other.reacts('👎')).to.deep.equal([forAlice(other, 'Cancelled gear recommendation.')]);
  });

  it('recommends gear, asking the model again only once it is confirmed', async () => {
    const distribution = {
      items: [{ id: 1, name: 'Rifle', from: 'a rifle', number: '', amount: 1 }],
      not_loot: [],
      assignments: [{ item_id: 1, character: 'V', reason: 'Solo.' }],
    };
    const llm = scriptedLlm([
      callTool('add_party_character', { name: 'V', role: 'Solo' }),
      callTool('recommend_gear', { loot_description: 'a rifle' }),
      say(JSON.stringify(distribution)),
    ]);
    await using talk = await openConversation(llm);
    await talk.says('Add V');
    await talk.reacts('👍');
    await talk.says('Who gets a rifle?');
    const before = llm.requests.length;
    expect((await talk.reacts('👍')).join())
      .to.include('🎒 Gear Recommendations')
      .and.to.include('Rifle');
    expect(llm.requests.length).to.equal(before + 1);
  });

  it('goes on while a card waits, which still counts afterwards', async () => {
    const llm = scriptedLlm([callTool('add_party_character', { name: 'V', role: 'Solo' }), say('It is noon.')]);
    await using talk = await openConversation(llm);
    await talk.says('Add V');
    expect((await talk.says('What time is it?')).map(({ content }) => content)).to.deep.equal(['It is noon.']);
    expect(await talk.reacts('👍')).to.deep.equal([forAlice(talk, '✓ V has been added to your party!')]);
  });

  it('adds six characters of one message with one card of six lines and one 👍', async () => {
    const names = ['V', 'Jackie', 'Judy', 'Panam', 'River', 'Kerry'];
    const calls = names.map((name) => ({ name: 'add_party_character', arguments: { name, role: 'Solo' } }));
    await using talk = await openConversation(scriptedLlm([callTools(calls)]));
    const said = (await talk.says('Add all')).map(({ content }) => content);
    expect(said.filter(isCard)).to.deep.equal(said);
    expect(said).to.have.length(1);
    expect(said[0]?.match(/^\d\. I'll add \w+ to your party: Role: Solo; Gear Preferences: None$/gm)).to.have.length(6);
    const told = names.map((name) => `✓ ${name} has been added to your party!`).join('\n');
    expect(await talk.reacts('👍')).to.deep.equal([forAlice(talk, told)]);
  });

  it('answers `/ai` with what it waits for, not with “Done.”, while a card waits', async () => {
    await using talk = await openConversation(
      scriptedLlm([callTool('add_party_character', { name: 'V', role: 'Solo' })]),
    );
    const slash = talk.host.alice.slash(talk.host.general, 'ai', { text: 'Add V' });
    await talk.host.settled();
    expect(slash.messages.map(({ content }) => content)).to.deep.equal([
      'Nothing has run yet: it waits for your 👍 on the card below.',
    ]);
  });

  it('answers a call that cannot be read with a request to try again, and goes on', async () => {
    const llm = scriptedLlm([callToolRaw('add_party_character', '{"name": "V", '), say('Hello.')]);
    await using talk = await openConversation(llm);
    const [answer] = await talk.says('Add V');
    expect(answer?.content).to.equal("I couldn't process that request. Please try again.");
    expect((await talk.says('Hello')).map(({ content }) => content)).to.deep.equal(['Hello.']);
  });

  it('tells the model that nothing has run, and on the next turn how it ended', async () => {
    const llm = scriptedLlm([callTool('add_party_character', { name: 'V', role: 'Solo' }), say('Yes.')]);
    await using talk = await openConversation(llm);
    await talk.says('Add V');
    await talk.reacts('👎');
    await talk.says('Is V in?');
    expect(JSON.stringify(llm.requests.at(-1)?.messages)).to.include('did not run');
  });
});
