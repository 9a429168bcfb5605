import { PersonalDataStore, Personas } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type PersonaHarness, plan, set, speak, think, usePersonaHost } from './harness.js';

const remember = (text: string) => ({ action: 'ADD_MEMORY', result: { text, about: 'alice', importance: 5 } });
const mood = (name: string, intensity: number) => ({ action: 'UPDATE_MOOD', result: { mood: name, intensity } });

describe('persona: commands', () => {
  const open = usePersonaHost();
  const state = (harness: PersonaHarness, channel = harness.general) =>
    harness.resolve(Personas).state({ guildId: harness.guild.id, channelId: channel.id });
  /** Sends a command. @returns the bot's answer */
  const command = async (harness: PersonaHarness, text: string, from = harness.you, channel = harness.general) => {
    const before = channel.messages.length;
    from.say(channel, `!persona ${text}`);
    await harness.settled();
    return channel.messages
      .slice(before + 1)
      .map(({ content }) => content)
      .join('\n');
  };
  const slash = async (
    harness: PersonaHarness,
    text: string,
    options: Record<string, string | number> = {},
    from = harness.you,
  ) => {
    const interaction = from.slash(harness.general, `persona ${text}`, options);
    await harness.settled();
    return interaction;
  };

  it('create a persona, show it, and let it answer by its name', async () => {
    await using harness = await open([plan([])]);
    expect(await command(harness, 'create Judy A technician with green hair.')).to.include('**Judy** is here now');
    const shown = await command(harness, 'show', harness.alice);
    expect(shown).to.include('**Judy** (everywhere in this server').and.include('A technician with green hair.');
    await harness.hears('Hello');
    expect(harness.llm.requests[0]?.system).to.match(/^I am "Judy"\./);
    expect(harness.llm.requests[0]?.self).to.equal('Judy');
  });

  it('edit one thing by its name, or several in a form', async () => {
    await using harness = await open();
    expect(await command(harness, 'edit appearance Tall & pale')).to.equal('Its appearance is now: Tall & pale');
    const answer = await slash(harness, 'edit');
    const [message] = answer.messages;
    if (message === undefined) throw new Error('There is no button.');
    const opened = harness.you.click(message, 'Open the form');
    await harness.settled();
    const sent = harness.you.submit(opened, { Name: 'Rogue', Environment: 'The Afterlife' });
    await harness.settled();
    expect(sent.messages[0]?.content).to.equal('**Rogue** is up to date.');
    expect(await state(harness)).to.deep.include({
      name: 'Rogue',
      environment: 'The Afterlife',
      appearance: 'Tall & pale',
    });
  });

  it('show and set mood and goals; only admins set them', async () => {
    await using harness = await open();
    expect(await command(harness, 'mood cheerful 7')).to.equal('Mood: cheerful (7 of 10)');
    expect(await command(harness, 'mood', harness.alice)).to.equal('Mood: cheerful (7 of 10)');
    expect(await command(harness, 'mood gloomy', harness.alice)).to.match(/may not do that.*admin/);
    expect(await command(harness, 'goals add Learn every name')).to.include('1. Learn every name');
    expect(await command(harness, 'goals add learn every NAME!')).to.equal('That is a goal already.');
    expect(await command(harness, 'goals remove 1', harness.alice)).to.match(/may not do that/);
    expect(await command(harness, 'goals remove 1')).to.equal('It has no goals.');
    expect((await state(harness)).mood).to.deep.equal({ name: 'cheerful', intensity: 7 });
  });

  it('undo what one answer has changed, memories included', async () => {
    await using harness = await open([
      plan([mood('glad', 5)]),
      plan([mood('elated', 9), { action: 'ADD_DESIRE', result: { desire: 'Cake' } }, remember('Alice baked a cake.')]),
    ]);
    await harness.hears('Hello');
    await harness.hears('I baked a cake');
    expect(await command(harness, 'memories me', harness.alice)).to.include('Alice baked a cake.');
    const undone = await command(harness, 'undo');
    expect(undone)
      .to.include('mood: elated (9)')
      .and.include('new desire: Cake')
      .and.include('remembered: Alice baked a cake.');
    expect(await state(harness)).to.deep.include({ mood: { name: 'glad', intensity: 5 }, desires: [] });
    expect(await command(harness, 'memories me', harness.alice)).to.include('I remember nothing');
    await command(harness, 'undo');
    expect((await state(harness)).mood.name).to.equal('calm');
    expect(await command(harness, 'undo')).to.equal('There is nothing to undo.');
  });

  it('undo forgetting, too', async () => {
    await using harness = await open((prompt) => {
      const [, id] = /"id":"([^"]+)"/.exec(prompt.text) ?? [];
      return plan([
        id === undefined ? remember('Alice is allergic to nuts.') : { action: 'REMOVE_MEMORY', result: { memory: id } },
      ]);
    });
    await harness.hears('I am allergic to nuts');
    await harness.hears('Forget about the nuts');
    expect(await command(harness, 'memories all')).to.not.include('nuts');
    await command(harness, 'undo');
    expect(await command(harness, 'memories all')).to.include('Alice is allergic to nuts.');
  });

  it('reset what is asked for', async () => {
    await using harness = await open([plan([mood('glad', 5), remember('Alice is kind.')]), plan([])]);
    await harness.hears('Hello');
    const agreed = async (text: string) => {
      await command(harness, text);
      const question = harness.general.messages.at(-1);
      if (question === undefined) throw new Error('Nothing was asked.');
      harness.you.click(question, 'Reset it');
      await harness.settled();
      return question.content;
    };
    expect(await agreed('reset')).to.include('`!persona undo` brings it back');
    expect((await state(harness)).mood.name).to.equal('calm');
    expect(await command(harness, 'memories me', harness.alice)).to.include('Alice is kind.');
    expect(await agreed('reset everything')).to.include('remembers nothing');
    expect(await command(harness, 'memories me', harness.alice)).to.include('(put out of mind)');
    await harness.hears('Anyone?');
    expect(JSON.stringify(harness.llm.requests.at(-1)?.messages))
      .to.not.include('"said":"Hello"')
      .and.not.include('Hello');
  });

  it('show members what is remembered of them, and delete it', async () => {
    await using harness = await open([
      plan([remember('Alice lives in Watson.')]),
      plan([remember('Alice has a cat.')]),
    ]);
    await harness.hears('I live in Watson');
    await harness.hears('I have a cat');
    const mine = (await slash(harness, 'memories', { what: 'me' }, harness.alice)).messages[0];
    expect(mine?.ephemeral).to.equal(true);
    const [, id = ''] = /`(\S+)` Alice lives in Watson/.exec(mine?.content ?? '') ?? [];
    expect(await command(harness, `memories forget ${id}`, harness.bob)).to.equal(
      'There is no memory of yours with that id.',
    );
    expect(await command(harness, 'memories all', harness.bob)).to.match(/Only moderators/);
    expect(await command(harness, `memories forget ${id}`, harness.alice)).to.equal('Forgotten for good.');
    expect(await command(harness, 'memories me', harness.alice))
      .to.include('has a cat')
      .and.not.include('Watson');
    expect(await command(harness, 'memories forget all', harness.alice)).to.equal('Forgotten for good.');
    expect(await command(harness, 'memories me', harness.alice)).to.include('I remember nothing');
  });

  it('trace what happened; thoughts are for the eyes of the caller alone', async () => {
    await using harness = await open([plan([think('She has a secret.'), mood('curious', 6), speak('Do tell.')])]);
    await harness.hears('I know something');
    const shown = await command(harness, 'trace');
    expect(shown).to.include('✓ UPDATE_MOOD: mood: curious').and.include('💬 Do tell.').and.include('💭 (a thought)');
    expect(shown).to.not.include('secret');
    const own = await slash(harness, 'trace');
    expect(own.messages[0]?.ephemeral).to.equal(true);
    expect(own.messages[0]?.content).to.include('💭 She has a secret.');
    await set(harness, 'thoughts', 'nowhere');
    expect((await slash(harness, 'trace')).messages[0]?.content).to.not.include('secret');
    expect(await command(harness, 'trace', harness.alice)).to.match(/may not do that/);
  });

  it('let people read thoughts in a thread, where that is wanted', async () => {
    await using harness = await open([plan([think('First.')]), plan([think('Second.')])]);
    await set(harness, 'thoughts', 'thread');
    await harness.hears('One');
    await harness.hears('Two');
    const thread = [...harness.guild.threads.values()].find(({ name }) => name === 'Thoughts');
    expect(thread?.messages.map(({ content }) => content).filter((content) => content !== '')).to.deep.equal([
      'First.',
      'Second.',
    ]);
    expect(harness.general.messages.map(({ content }) => content)).to.not.include('First.');
  });

  it('give each channel a persona of its own, where the guild wants that', async () => {
    await using harness = await open([plan([mood('glad', 5), remember('Alice sings.')])]);
    await set(harness, 'scope', 'channel');
    const other = harness.guild.createChannel({ name: 'other' });
    await harness.hears('La la');
    await command(harness, 'create Judy Somebody here.', harness.you, other);
    expect((await state(harness)).mood.name).to.equal('glad');
    expect(await state(harness, other)).to.deep.include({ name: 'Judy', mood: { name: 'calm', intensity: 3 } });
    expect(await command(harness, 'memories me', harness.alice, other)).to.include('I remember nothing');
  });

  it('export and forget everything that is kept of a member', async () => {
    await using harness = await open([
      plan([
        remember('Alice has a boat.'),
        { action: 'ADD_GOAL', result: { goal: 'See the boat of Alice' } },
        think('A boat!'),
      ]),
      plan([speak('Noted.')]),
    ]);
    await harness.hears('I have a boat');
    await harness.hears('I do not', harness.bob);
    const store = harness.resolve(PersonalDataStore);
    const found = JSON.stringify(await store.export(harness.alice.id));
    for (const part of ['I have a boat', 'Alice has a boat.', 'See the boat of Alice', 'A boat!'])
      expect(found).to.include(part);
    expect(found).to.not.include('I do not');
    await store.forget(harness.alice.id);
    expect(JSON.stringify(await store.export(harness.alice.id))).to.not.include('boat');
    expect((await state(harness)).goals).to.deep.equal([]);
    expect(JSON.stringify(await harness.resolve(Personas).recent(harness.general.id))).to.not.include('boat');
    expect(JSON.stringify(await store.export(harness.bob.id))).to.include('I do not');
  });
});
