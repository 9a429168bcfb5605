import { Personas } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type PersonaHarness, plan, set, usePersonaHost } from './harness.js';

describe('persona: goals and desires', () => {
  const open = usePersonaHost();
  const goal = (text: string) => ({ action: 'ADD_GOAL', result: { goal: text } });
  const desire = (text: string) => ({ action: 'ADD_DESIRE', result: { desire: text } });
  const situation = ({ llm }: PersonaHarness) => JSON.stringify(llm.requests.at(-1)?.messages);
  const goalsIn = async (harness: PersonaHarness, channel = harness.general) =>
    (await harness.resolve(Personas).state({ guildId: harness.guild.id, channelId: channel.id })).goals;
  const command = async (harness: PersonaHarness, text: string, channel = harness.general) => {
    harness.you.say(channel, `!persona ${text}`);
    await harness.settled();
    return channel.messages.at(-1)?.content ?? '';
  };
  const secretChannel = (harness: PersonaHarness) => {
    const secret = harness.guild.createChannel({ name: 'secret' });
    harness.guild.overwrite(secret, { for: harness.guild.everyone, deny: ['ViewChannel'] });
    for (const member of [harness.alice, harness.bot])
      harness.guild.overwrite(secret, { for: member, allow: ['ViewChannel'] });
    return secret;
  };

  it('that come from a private channel are told there alone, although the mind is one', async () => {
    await using harness = await open([plan([goal('Help Alice to resign'), desire('Keep the secret of Alice')])]);
    const secret = secretChannel(harness);
    harness.alice.say(secret, '!ai I want to resign');
    await harness.settled();
    expect(await goalsIn(harness, secret)).to.deep.equal(['Help Alice to resign']);
    expect(await goalsIn(harness)).to.deep.equal([]);
    expect(await command(harness, 'show')).to.not.match(/resign|secret/);
    expect(await command(harness, 'goals')).to.equal('It has no goals.');
    expect(await command(harness, 'goals remove resign')).to.equal('There is no such goal.');
    expect(await command(harness, 'undo')).to.not.match(/resign|secret/);
    expect(await goalsIn(harness, secret)).to.deep.equal([]);
  });

  it('that come from a private channel are not told to a model elsewhere', async () => {
    await using harness = await open([plan([goal('Help Alice to resign')]), plan([]), plan([])]);
    const secret = secretChannel(harness);
    harness.alice.say(secret, '!ai I want to resign');
    await harness.settled();
    await harness.hears('What are you up to?');
    expect(situation(harness)).to.not.include('Help Alice to resign');
    harness.alice.say(secret, '!ai And here?');
    await harness.settled();
    expect(situation(harness)).to.include('Help Alice to resign');
  });

  for (const how of ['delete', 'edit'] as const) {
    it(`go with the message that led to them: ${how}`, async () => {
      await using harness = await open([plan([goal('See the boat of Alice'), desire('A boat')])]);
      await command(harness, 'goals add Learn every name');
      const message = harness.alice.say(harness.general, '!ai I have a boat');
      await harness.settled();
      expect(await goalsIn(harness)).to.deep.equal(['Learn every name', 'See the boat of Alice']);
      if (how === 'delete') harness.alice.delete(message);
      else harness.alice.edit(message, '!ai I have nothing');
      await harness.settled();
      expect(await goalsIn(harness)).to.deep.equal(['Learn every name']);
      expect(await command(harness, 'undo')).to.not.match(/boat/i);
      await command(harness, 'undo');
      expect(await goalsIn(harness)).to.deep.equal([]);
    });
  }

  it('that come from a private channel take no room elsewhere: twenty secret desires leave space for twenty others', async () => {
    const secrets = Array.from({ length: 20 }, (_, index) => desire(`Keep secret number ${index} of Alice`));
    await using harness = await open([plan(secrets), plan([desire('Hear a story')])]);
    await set(harness, 'maxActions', 30);
    const secret = secretChannel(harness);
    harness.alice.say(secret, '!ai I have secrets');
    await harness.settled();
    await harness.hears('Tell us a story');
    expect(await command(harness, 'desires')).to.equal('**Desires**\n1. Hear a story');
  });

  it('are shown and changed by command: `persona desires`, as `persona goals`', async () => {
    await using harness = await open();
    expect(await command(harness, 'desires add Hear a good story')).to.include('1. Hear a good story');
    expect(await command(harness, 'desires remove 1')).to.equal('It has no desires.');
  });

  it('stay here when a card is made, unless they were given to it', async () => {
    await using harness = await open([plan([goal('See the boat of Alice')])]);
    await command(harness, 'goals add Learn every name');
    await harness.hears('I have a boat');
    const exported = harness.you.slash(harness.general, 'persona export');
    await harness.settled();
    const [file] = exported.messages[0]?.attachments ?? [];
    const card = Buffer.from(file?.data ?? []).toString('utf8');
    expect(card).to.include('Learn every name').and.not.include('boat');
  });
});
