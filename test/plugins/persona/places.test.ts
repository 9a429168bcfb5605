import { type PersonaEvent, Personas } from '@cinnabar/sdk';
import { expect } from 'chai';
import { plan, setStage, speak } from './stage.js';

const remember = (text: string) => ({ action: 'ADD_MEMORY', result: { text, about: 'alice', importance: 8 } });

describe('persona: places', () => {
  it('keeps what it learns in a direct message to itself, and has a state of its own there', async () => {
    await using stage = await setStage([
      plan([
        remember('Alice is looking for another job.'),
        { action: 'UPDATE_MOOD', result: { mood: 'sworn', intensity: 8 } },
      ]),
      plan([]),
      plan([]),
    ]);
    const dm = stage.alice.openDm(stage.application);
    stage.alice.say(dm, '!ai use persona');
    await stage.settled();
    stage.alice.say(dm, 'Between us: I am looking for another job');
    await stage.settled();
    expect(stage.llm.requests).to.have.length(1);
    await stage.hears('What do you know about my job?');
    expect(JSON.stringify(stage.llm.requests[1]?.messages)).to.not.match(/looking for another|sworn/);
    stage.alice.say(dm, 'What do you know about my job?');
    await stage.settled();
    expect(JSON.stringify(stage.llm.requests[2]?.messages)).to.include('looking for another job.').and.include('sworn');
  });

  it('tells each subscriber of its own places', async () => {
    await using stage = await setStage(() => plan([speak(`Number ${stage.llm.requests.length} it is.`)]));
    const other = stage.guild.createChannel({ name: 'other' });
    const heard: PersonaEvent[] = [];
    const stop = stage.resolve(Personas).subscribe({ channelId: other.id }, (event) => {
      heard.push(event);
      throw new Error('A page broke.');
    });
    await stage.hears('Here');
    stage.alice.say(other, '!ai There');
    await stage.settled();
    expect(new Set(heard.map(({ channelId }) => channelId))).to.deep.equal(new Set([other.id]));
    expect(heard.at(-1)).to.deep.include({ type: 'system', event: 'finished' });
    const recent = await stage.resolve(Personas).recent(other.id);
    expect(recent).to.deep.equal(heard);
    const count = heard.length;
    stop();
    stage.alice.say(other, '!ai Again');
    await stage.settled();
    expect(heard).to.have.length(count);
  });

  it('follows a thread to the persona of its channel', async () => {
    await using stage = await setStage([plan([{ action: 'UPDATE_MOOD', result: { mood: 'nosy', intensity: 6 } }])]);
    stage.you.say(stage.general, '!set persona scope channel');
    await stage.settled();
    const thread = stage.alice.startThread(stage.general, 'aside');
    stage.alice.say(thread, '!ai Come here');
    await stage.settled();
    const { mood } = await stage.resolve(Personas).state({ guildId: stage.guild.id, channelId: stage.general.id });
    expect(mood.name).to.equal('nosy');
  });
});
