import { PersonalDataStore, Personas } from '@cinnabar/sdk';
import { expect } from 'chai';
import { type PersonaHarness, plan, set, speak, think, usePersonaHost } from './harness.js';

describe('persona: forgetting', () => {
  const open = usePersonaHost();
  const remember = (text: string) => ({ action: 'ADD_MEMORY', result: { text, about: 'alice', importance: 9 } });
  const traces = async (harness: PersonaHarness, channel = harness.general) =>
    JSON.stringify(await harness.resolve(Personas).recent(channel.id));
  const command = async (harness: PersonaHarness, text: string, from = harness.you) => {
    from.say(harness.general, `!persona ${text}`);
    await harness.settled();
    return harness.general.messages.at(-1)?.content ?? '';
  };
  /** Sends a command with a confirmation, and confirms it. */
  const agree = async (harness: PersonaHarness, text: string, button: string) => {
    await command(harness, text);
    const question = harness.general.messages.at(-1);
    if (question === undefined) throw new Error('Nothing was asked.');
    harness.you.click(question, button);
    await harness.settled();
    return question.content;
  };
  /** Alice tells the persona where she lives in one channel; the persona repeats it in another. */
  const tellTwice = async (harness: PersonaHarness) => {
    const told = harness.alice.say(harness.general, '!ai I live in Watson');
    await harness.settled();
    const other = harness.guild.createChannel({ name: 'other' });
    harness.bob.say(other, '!ai What do you know of alice?');
    await harness.settled();
    expect(await traces(harness, other), 'it is spoken of').to.include('Watson');
    return { told, other };
  };
  const talkative = () =>
    open([plan([remember('Alice lives in Watson.')]), plan([think('It was Watson.')]), plan([]), plan([])]);

  it('a memory for good leaves no trace of it, wherever it was spoken of', async () => {
    await using harness = await talkative();
    const { other } = await tellTwice(harness);
    expect(await command(harness, 'memories forget all', harness.alice)).to.equal('Forgotten for good.');
    expect(await traces(harness)).to.not.include('Watson');
    expect(await traces(harness, other)).to.not.include('Watson');
  });

  it('the content of a deleted message leaves no trace in other channels', async () => {
    await using harness = await talkative();
    const { told, other } = await tellTwice(harness);
    harness.alice.delete(told);
    await harness.settled();
    expect(await traces(harness, other)).to.not.include('Watson');
  });

  it('everything means every channel, and cannot be taken back', async () => {
    await using harness = await talkative();
    const { other } = await tellTwice(harness);
    await command(harness, 'mood gloomy 8');
    expect(await agree(harness, 'reset everything forever:true', 'Delete it for good')).to.include('remembers nothing');
    expect(await traces(harness, other)).to.not.include('Watson');
    harness.bob.say(other, '!ai And now?');
    await harness.settled();
    expect(JSON.stringify(harness.llm.requests.at(-1)?.messages)).to.not.match(/Watson|What do you know of|gloomy/);
    expect(await command(harness, 'undo')).to.equal('There is nothing to undo.');
  });

  it('all memories leaves no trace of them, and nothing of them to be undone', async () => {
    await using harness = await talkative();
    const { other } = await tellTwice(harness);
    await agree(harness, 'reset memories forever:true', 'Delete it for good');
    expect((await traces(harness)) + (await traces(harness, other))).to.not.include('Watson');
    expect(await command(harness, 'undo')).to.not.include('another channel');
  });

  it('by reset asks first: what is asked for is not forgotten before its admin has agreed, nor by another member', async () => {
    await using harness = await talkative();
    await tellTwice(harness);
    expect(await command(harness, 'reset memories')).to.include('`!persona undo` brings it back');
    const question = harness.general.messages.at(-1);
    if (question === undefined) throw new Error('Nothing was asked.');
    const other = harness.bob.click(question, 'Reset it');
    await harness.settled();
    expect(other.messages[0]?.ephemeral).to.equal(true);
    expect(await command(harness, 'memories all')).to.include('Watson');
    harness.you.click(question, 'Cancel');
    await harness.settled();
    expect(question.content).to.include('Not done.');
    expect(await command(harness, 'memories all')).to.include('Watson');
  });

  it('by reset can be undone: who it is, what it remembers and what was said come back', async () => {
    await using harness = await talkative();
    const { other } = await tellTwice(harness);
    await command(harness, 'mood gloomy 8');
    expect(await agree(harness, 'reset everything', 'Reset it')).to.include('brings it back');
    const ask = async () => {
      harness.bob.say(other, '!ai And now?');
      await harness.settled();
      return JSON.stringify(harness.llm.requests.at(-1)?.messages);
    };
    expect(await ask()).to.not.match(/Watson|What do you know of|gloomy/);
    expect(await command(harness, 'memories all')).to.include('I remember nothing');
    expect(await command(harness, 'undo')).to.match(/Taken back/);
    expect(await ask())
      .to.match(/What do you know of alice/)
      .and.match(/gloomy/);
    expect(await command(harness, 'memories all')).to.include('Watson');
  });

  it('is preceded by an export that holds no talk of others about its member', async () => {
    await using harness = await open([
      plan([remember('Alice lives in Watson.')]),
      plan([think('They want to throw Alice out.'), speak('I see.')]),
    ]);
    await harness.hears('I live in Watson');
    const mods = harness.guild.createChannel({ name: 'mods' });
    harness.guild.overwrite(mods, { for: harness.guild.everyone, deny: ['ViewChannel'] });
    for (const member of [harness.bob, harness.bot])
      harness.guild.overwrite(mods, { for: member, allow: ['ViewChannel'] });
    harness.bob.say(mods, '!ai What do we do about alice?');
    await harness.settled();
    const store = harness.resolve(PersonalDataStore);
    expect(JSON.stringify(await store.export(harness.alice.id))).to.not.include('throw Alice out');
    expect(JSON.stringify(await store.export(harness.bob.id))).to.include('throw Alice out');
    await store.forget(harness.alice.id);
    expect(await traces(harness, mods)).to.not.include('throw Alice out');
  });

  it('is not held up by channels that are gone: their persona goes with them', async () => {
    await using harness = await open([plan([{ action: 'UPDATE_MOOD', result: { mood: 'glad', intensity: 5 } }])]);
    await set(harness, 'scope', 'channel');
    const other = harness.guild.createChannel({ name: 'other' });
    harness.alice.say(other, '!ai Hello');
    await harness.settled();
    const place = { guildId: harness.guild.id, channelId: other.id };
    expect((await harness.resolve(Personas).state(place)).mood.name).to.equal('glad');
    harness.guild.deleteChannel(other);
    await harness.settled();
    expect((await harness.resolve(Personas).state(place)).mood.name).to.equal('calm');
  });
});
