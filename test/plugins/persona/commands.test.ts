import { PersonalDataStore, Personas } from '@cinnabar/sdk';
import { expect } from 'chai';
import { plan, type Stage, set, setStage, speak, think } from './stage.js';

const remember = (text: string) => ({ action: 'ADD_MEMORY', result: { text, about: 'alice', importance: 5 } });
const mood = (name: string, intensity: number) => ({ action: 'UPDATE_MOOD', result: { mood: name, intensity } });

describe('persona: commands', () => {
  const state = (stage: Stage, channel = stage.general) =>
    stage.resolve(Personas).state({ guildId: stage.guild.id, channelId: channel.id });
  /** Says a command; what the bot answers. */
  const command = async (stage: Stage, text: string, from = stage.you, channel = stage.general) => {
    const before = channel.messages.length;
    from.say(channel, `!persona ${text}`);
    await stage.settled();
    return channel.messages
      .slice(before + 1)
      .map(({ content }) => content)
      .join('\n');
  };
  const slash = async (stage: Stage, text: string, options: Record<string, string | number> = {}, from = stage.you) => {
    const interaction = from.slash(stage.general, `persona ${text}`, options);
    await stage.settled();
    return interaction;
  };

  it('create a persona, show it, and let it answer by its name', async () => {
    await using stage = await setStage([plan([])]);
    expect(await command(stage, 'create Judy A technician with green hair.')).to.include('**Judy** is here now');
    const shown = await command(stage, 'show', stage.alice);
    expect(shown).to.include('**Judy** (everywhere in this server').and.include('A technician with green hair.');
    await stage.hears('Hello');
    expect(stage.llm.requests[0]?.system).to.match(/^I am "Judy"\./);
    expect(stage.llm.requests[0]?.self).to.equal('Judy');
  });

  it('edit one thing by its name, or several in a form', async () => {
    await using stage = await setStage();
    expect(await command(stage, 'edit appearance Tall & pale')).to.equal('Its appearance is now: Tall & pale');
    const answer = await slash(stage, 'edit');
    const [message] = answer.messages;
    if (message === undefined) throw new Error('There is no button.');
    const opened = stage.you.click(message, 'Open the form');
    await stage.settled();
    const sent = stage.you.submit(opened, { Name: 'Rogue', Environment: 'The Afterlife' });
    await stage.settled();
    expect(sent.messages[0]?.content).to.equal('**Rogue** is up to date.');
    expect(await state(stage)).to.deep.include({
      name: 'Rogue',
      environment: 'The Afterlife',
      appearance: 'Tall & pale',
    });
  });

  it('show and set mood and goals; only admins set them', async () => {
    await using stage = await setStage();
    expect(await command(stage, 'mood cheerful 7')).to.equal('Mood: cheerful (7 of 10)');
    expect(await command(stage, 'mood', stage.alice)).to.equal('Mood: cheerful (7 of 10)');
    expect(await command(stage, 'mood gloomy', stage.alice)).to.match(/may not do that.*admin/);
    expect(await command(stage, 'goals add Learn every name')).to.include('1. Learn every name');
    expect(await command(stage, 'goals add learn every NAME!')).to.equal('That is a goal already.');
    expect(await command(stage, 'goals remove 1', stage.alice)).to.match(/may not do that/);
    expect(await command(stage, 'goals remove 1')).to.equal('It has no goals.');
    expect((await state(stage)).mood).to.deep.equal({ name: 'cheerful', intensity: 7 });
  });

  it('undo what one answer has changed, memories included', async () => {
    await using stage = await setStage([
      plan([mood('glad', 5)]),
      plan([mood('elated', 9), { action: 'ADD_DESIRE', result: { desire: 'Cake' } }, remember('Alice baked a cake.')]),
    ]);
    await stage.hears('Hello');
    await stage.hears('I baked a cake');
    expect(await command(stage, 'memories me', stage.alice)).to.include('Alice baked a cake.');
    const undone = await command(stage, 'undo');
    expect(undone)
      .to.include('mood: elated (9)')
      .and.include('new desire: Cake')
      .and.include('remembered: Alice baked a cake.');
    expect(await state(stage)).to.deep.include({ mood: { name: 'glad', intensity: 5 }, desires: [] });
    expect(await command(stage, 'memories me', stage.alice)).to.include('I remember nothing');
    await command(stage, 'undo');
    expect((await state(stage)).mood.name).to.equal('calm');
    expect(await command(stage, 'undo')).to.equal('There is nothing to undo.');
  });

  it('undo forgetting, too', async () => {
    await using stage = await setStage((prompt) => {
      const [, id] = /"id":"([^"]+)"/.exec(prompt.text) ?? [];
      return plan([
        id === undefined ? remember('Alice is allergic to nuts.') : { action: 'REMOVE_MEMORY', result: { memory: id } },
      ]);
    });
    await stage.hears('I am allergic to nuts');
    await stage.hears('Forget about the nuts');
    expect(await command(stage, 'memories all')).to.not.include('nuts');
    await command(stage, 'undo');
    expect(await command(stage, 'memories all')).to.include('Alice is allergic to nuts.');
  });

  it('reset what is asked for', async () => {
    await using stage = await setStage([plan([mood('glad', 5), remember('Alice is kind.')]), plan([])]);
    await stage.hears('Hello');
    const agreed = async (text: string) => {
      await command(stage, text);
      const question = stage.general.messages.at(-1);
      if (question === undefined) throw new Error('Nothing was asked.');
      stage.you.click(question, 'Reset it');
      await stage.settled();
      return question.content;
    };
    expect(await agreed('reset')).to.include('`!persona undo` brings it back');
    expect((await state(stage)).mood.name).to.equal('calm');
    expect(await command(stage, 'memories me', stage.alice)).to.include('Alice is kind.');
    expect(await agreed('reset everything')).to.include('remembers nothing');
    expect(await command(stage, 'memories me', stage.alice)).to.include('(put out of mind)');
    await stage.hears('Anyone?');
    expect(JSON.stringify(stage.llm.requests.at(-1)?.messages))
      .to.not.include('"said":"Hello"')
      .and.not.include('Hello');
  });

  it('show members what is remembered of them, and delete it', async () => {
    await using stage = await setStage([
      plan([remember('Alice lives in Watson.')]),
      plan([remember('Alice has a cat.')]),
    ]);
    await stage.hears('I live in Watson');
    await stage.hears('I have a cat');
    const mine = (await slash(stage, 'memories', { what: 'me' }, stage.alice)).messages[0];
    expect(mine?.ephemeral).to.equal(true);
    const [, id = ''] = /`(\S+)` Alice lives in Watson/.exec(mine?.content ?? '') ?? [];
    expect(await command(stage, `memories forget ${id}`, stage.bob)).to.equal(
      'There is no memory of yours with that id.',
    );
    expect(await command(stage, 'memories all', stage.bob)).to.match(/Only moderators/);
    expect(await command(stage, `memories forget ${id}`, stage.alice)).to.equal('Forgotten for good.');
    expect(await command(stage, 'memories me', stage.alice))
      .to.include('has a cat')
      .and.not.include('Watson');
    expect(await command(stage, 'memories forget all', stage.alice)).to.equal('Forgotten for good.');
    expect(await command(stage, 'memories me', stage.alice)).to.include('I remember nothing');
  });

  it('trace what happened; thoughts are for the eyes of the caller alone', async () => {
    await using stage = await setStage([plan([think('She has a secret.'), mood('curious', 6), speak('Do tell.')])]);
    await stage.hears('I know something');
    const open = await command(stage, 'trace');
    expect(open).to.include('✓ UPDATE_MOOD: mood: curious').and.include('💬 Do tell.').and.include('💭 (a thought)');
    expect(open).to.not.include('secret');
    const own = await slash(stage, 'trace');
    expect(own.messages[0]?.ephemeral).to.equal(true);
    expect(own.messages[0]?.content).to.include('💭 She has a secret.');
    await set(stage, 'thoughts', 'nowhere');
    expect((await slash(stage, 'trace')).messages[0]?.content).to.not.include('secret');
    expect(await command(stage, 'trace', stage.alice)).to.match(/may not do that/);
  });

  it('let people read thoughts in a thread, where that is wanted', async () => {
    await using stage = await setStage([plan([think('First.')]), plan([think('Second.')])]);
    await set(stage, 'thoughts', 'thread');
    await stage.hears('One');
    await stage.hears('Two');
    const thread = [...stage.guild.threads.values()].find(({ name }) => name === 'Thoughts');
    expect(thread?.messages.map(({ content }) => content).filter((content) => content !== '')).to.deep.equal([
      'First.',
      'Second.',
    ]);
    expect(stage.general.messages.map(({ content }) => content)).to.not.include('First.');
  });

  it('give each channel a persona of its own, where the guild wants that', async () => {
    await using stage = await setStage([plan([mood('glad', 5), remember('Alice sings.')])]);
    await set(stage, 'scope', 'channel');
    const other = stage.guild.createChannel({ name: 'other' });
    await stage.hears('La la');
    await command(stage, 'create Judy Somebody here.', stage.you, other);
    expect((await state(stage)).mood.name).to.equal('glad');
    expect(await state(stage, other)).to.deep.include({ name: 'Judy', mood: { name: 'calm', intensity: 3 } });
    expect(await command(stage, 'memories me', stage.alice, other)).to.include('I remember nothing');
  });

  it('export and forget everything that is kept of a member', async () => {
    await using stage = await setStage([
      plan([
        remember('Alice has a boat.'),
        { action: 'ADD_GOAL', result: { goal: 'See the boat of Alice' } },
        think('A boat!'),
      ]),
      plan([speak('Noted.')]),
    ]);
    await stage.hears('I have a boat');
    await stage.hears('I do not', stage.bob);
    const store = stage.resolve(PersonalDataStore);
    const found = JSON.stringify(await store.export(stage.alice.id));
    for (const part of ['I have a boat', 'Alice has a boat.', 'See the boat of Alice', 'A boat!'])
      expect(found).to.include(part);
    expect(found).to.not.include('I do not');
    await store.forget(stage.alice.id);
    expect(JSON.stringify(await store.export(stage.alice.id))).to.not.include('boat');
    expect((await state(stage)).goals).to.deep.equal([]);
    expect(JSON.stringify(await stage.resolve(Personas).recent(stage.general.id))).to.not.include('boat');
    expect(JSON.stringify(await store.export(stage.bob.id))).to.include('I do not');
  });
});
