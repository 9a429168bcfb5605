import { PersonalDataStore, Personas } from '@cinnabar/sdk';
import { expect } from 'chai';
import { plan, type Stage, set, setStage, speak, think } from './stage.js';

describe('persona: forgetting', () => {
  const remember = (text: string) => ({ action: 'ADD_MEMORY', result: { text, about: 'alice', importance: 9 } });
  const traces = async (stage: Stage, channel = stage.general) =>
    JSON.stringify(await stage.resolve(Personas).recent(channel.id));
  const command = async (stage: Stage, text: string, from = stage.you) => {
    from.say(stage.general, `!persona ${text}`);
    await stage.settled();
    return stage.general.messages.at(-1)?.content ?? '';
  };
  /** Gives a command that asks first, and agrees. */
  const agree = async (stage: Stage, text: string, button: string) => {
    await command(stage, text);
    const question = stage.general.messages.at(-1);
    if (question === undefined) throw new Error('Nothing was asked.');
    stage.you.click(question, button);
    await stage.settled();
    return question.content;
  };
  /** Alice tells it where she lives in one channel; in another it is spoken of. */
  const tellTwice = async (stage: Stage) => {
    const told = stage.alice.say(stage.general, '!ai I live in Watson');
    await stage.settled();
    const other = stage.guild.createChannel({ name: 'other' });
    stage.bob.say(other, '!ai What do you know of alice?');
    await stage.settled();
    expect(await traces(stage, other), 'it is spoken of').to.include('Watson');
    return { told, other };
  };
  const talkative = () =>
    setStage([plan([remember('Alice lives in Watson.')]), plan([think('It was Watson.')]), plan([]), plan([])]);

  it('a memory for good leaves no trace of it, wherever it was spoken of', async () => {
    await using stage = await talkative();
    const { other } = await tellTwice(stage);
    expect(await command(stage, 'memories forget all', stage.alice)).to.equal('Forgotten for good.');
    expect(await traces(stage)).to.not.include('Watson');
    expect(await traces(stage, other)).to.not.include('Watson');
  });

  it('what was said in a message that is deleted leaves no trace in other channels', async () => {
    await using stage = await talkative();
    const { told, other } = await tellTwice(stage);
    stage.alice.delete(told);
    await stage.settled();
    expect(await traces(stage, other)).to.not.include('Watson');
  });

  it('everything means every channel, and cannot be taken back', async () => {
    await using stage = await talkative();
    const { other } = await tellTwice(stage);
    await command(stage, 'mood gloomy 8');
    expect(await agree(stage, 'reset everything forever:true', 'Delete it for good')).to.include('remembers nothing');
    expect(await traces(stage, other)).to.not.include('Watson');
    stage.bob.say(other, '!ai And now?');
    await stage.settled();
    expect(JSON.stringify(stage.llm.requests.at(-1)?.messages)).to.not.match(/Watson|What do you know of|gloomy/);
    expect(await command(stage, 'undo')).to.equal('There is nothing to undo.');
  });

  it('all memories leaves no trace of them, and nothing of them to be undone', async () => {
    await using stage = await talkative();
    const { other } = await tellTwice(stage);
    await agree(stage, 'reset memories forever:true', 'Delete it for good');
    expect((await traces(stage)) + (await traces(stage, other))).to.not.include('Watson');
    expect(await command(stage, 'undo')).to.not.include('another channel');
  });

  it('by reset asks first: what is asked for is not forgotten before its admin has agreed, nor by another member', async () => {
    await using stage = await talkative();
    await tellTwice(stage);
    expect(await command(stage, 'reset memories')).to.include('`!persona undo` brings it back');
    const question = stage.general.messages.at(-1);
    if (question === undefined) throw new Error('Nothing was asked.');
    const other = stage.bob.click(question, 'Reset it');
    await stage.settled();
    expect(other.messages[0]?.ephemeral).to.equal(true);
    expect(await command(stage, 'memories all')).to.include('Watson');
    stage.you.click(question, 'Cancel');
    await stage.settled();
    expect(question.content).to.include('Not done.');
    expect(await command(stage, 'memories all')).to.include('Watson');
  });

  it('by reset can be undone: who it is, what it remembers and what was said come back', async () => {
    await using stage = await talkative();
    const { other } = await tellTwice(stage);
    await command(stage, 'mood gloomy 8');
    expect(await agree(stage, 'reset everything', 'Reset it')).to.include('brings it back');
    const ask = async () => {
      stage.bob.say(other, '!ai And now?');
      await stage.settled();
      return JSON.stringify(stage.llm.requests.at(-1)?.messages);
    };
    expect(await ask()).to.not.match(/Watson|What do you know of|gloomy/);
    expect(await command(stage, 'memories all')).to.include('I remember nothing');
    expect(await command(stage, 'undo')).to.match(/Taken back/);
    expect(await ask())
      .to.match(/What do you know of alice/)
      .and.match(/gloomy/);
    expect(await command(stage, 'memories all')).to.include('Watson');
  });

  it('is preceded by an export that holds no talk of others about its member', async () => {
    await using stage = await setStage([
      plan([remember('Alice lives in Watson.')]),
      plan([think('They want to throw Alice out.'), speak('I see.')]),
    ]);
    await stage.hears('I live in Watson');
    const mods = stage.guild.createChannel({ name: 'mods' });
    stage.guild.overwrite(mods, { for: stage.guild.everyone, deny: ['ViewChannel'] });
    for (const member of [stage.bob, stage.bot]) stage.guild.overwrite(mods, { for: member, allow: ['ViewChannel'] });
    stage.bob.say(mods, '!ai What do we do about alice?');
    await stage.settled();
    const store = stage.resolve(PersonalDataStore);
    expect(JSON.stringify(await store.export(stage.alice.id))).to.not.include('throw Alice out');
    expect(JSON.stringify(await store.export(stage.bob.id))).to.include('throw Alice out');
    await store.forget(stage.alice.id);
    expect(await traces(stage, mods)).to.not.include('throw Alice out');
  });

  it('is not held up by channels that are gone: their persona goes with them', async () => {
    await using stage = await setStage([plan([{ action: 'UPDATE_MOOD', result: { mood: 'glad', intensity: 5 } }])]);
    await set(stage, 'scope', 'channel');
    const other = stage.guild.createChannel({ name: 'other' });
    stage.alice.say(other, '!ai Hello');
    await stage.settled();
    const place = { guildId: stage.guild.id, channelId: other.id };
    expect((await stage.resolve(Personas).state(place)).mood.name).to.equal('glad');
    stage.guild.deleteChannel(other);
    await stage.settled();
    expect((await stage.resolve(Personas).state(place)).mood.name).to.equal('calm');
  });
});
