import { type PersonaEvent, Personas } from '@cinnabar/sdk';
import { expect } from 'chai';
import { plan, speak, usePersonaHost } from './harness.js';

const remember = (text: string) => ({ action: 'ADD_MEMORY', result: { text, about: 'alice', importance: 8 } });

describe('persona: places', () => {
  const open = usePersonaHost();
  it('keeps what it learns in a direct message to itself, and has a state of its own there', async () => {
    await using harness = await open([
      plan([
        remember('Alice is looking for another job.'),
        { action: 'UPDATE_MOOD', result: { mood: 'sworn', intensity: 8 } },
      ]),
      plan([]),
      plan([]),
    ]);
    const dm = harness.alice.openDm(harness.application);
    harness.alice.say(dm, '!ai use persona');
    await harness.settled();
    harness.alice.say(dm, 'Between us: I am looking for another job');
    await harness.settled();
    expect(harness.llm.requests).to.have.length(1);
    await harness.hears('What do you know about my job?');
    expect(JSON.stringify(harness.llm.requests[1]?.messages)).to.not.match(/looking for another|sworn/);
    harness.alice.say(dm, 'What do you know about my job?');
    await harness.settled();
    expect(JSON.stringify(harness.llm.requests[2]?.messages))
      .to.include('looking for another job.')
      .and.include('sworn');
  });

  it('tells each subscriber of its own places', async () => {
    await using harness = await open(() => plan([speak(`Number ${harness.llm.requests.length} it is.`)]));
    const other = harness.guild.createChannel({ name: 'other' });
    const heard: PersonaEvent[] = [];
    const stop = harness.resolve(Personas).subscribe({ channelId: other.id }, (event) => {
      heard.push(event);
      throw new Error('A page broke.');
    });
    await harness.hears('Here');
    harness.alice.say(other, '!ai There');
    await harness.settled();
    expect(new Set(heard.map(({ channelId }) => channelId))).to.deep.equal(new Set([other.id]));
    expect(heard.at(-1)).to.deep.include({ type: 'system', event: 'finished' });
    const recent = await harness.resolve(Personas).recent(other.id);
    expect(recent).to.deep.equal(heard);
    const count = heard.length;
    stop();
    harness.alice.say(other, '!ai Again');
    await harness.settled();
    expect(heard).to.have.length(count);
  });

  it('follows a thread to the persona of its channel', async () => {
    await using harness = await open([plan([{ action: 'UPDATE_MOOD', result: { mood: 'nosy', intensity: 6 } }])]);
    harness.you.say(harness.general, '!set persona scope channel');
    await harness.settled();
    const thread = harness.alice.startThread(harness.general, 'aside');
    harness.alice.say(thread, '!ai Come here');
    await harness.settled();
    const { mood } = await harness
      .resolve(Personas)
      .state({ guildId: harness.guild.id, channelId: harness.general.id });
    expect(mood.name).to.equal('nosy');
  });
});
