import { createTestHost } from '@cinnabar/core/testing';
import { say, startAnthropicStandIn, startOpenAiStandIn } from '@cinnabar/local-models';
import { Personas } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openPersonaHarness, plan, result, speak, think, told } from '../plugins/persona/harness.js';

describe('a persona, from Discord to its plan and back', () => {
  it('thinks, changes its mood, stores a memory and speaks: one call, every event in order', async () => {
    await using stage = await openPersonaHarness([
      plan([
        think('Alice trusts me with that.'),
        { action: 'UPDATE_MOOD', context: 'she confided in me', result: { mood: 'touched', intensity: 7 } },
        {
          action: 'ADD_MEMORY',
          context: 'her sister',
          result: { text: 'Alice has a sister called Mara.', about: 'alice', importance: 6 },
        },
        speak('I did not know you have a sister. Tell me about Mara.'),
        { action: 'DONE' },
      ]),
    ]);
    const said = await stage.hears('I have a sister, Mara. Nobody here knows.');

    expect(said).to.deep.equal(['I did not know you have a sister. Tell me about Mara.']);
    expect(told(stage.events)).to.deep.equal([
      'started',
      'planned',
      'thought: Alice trusts me with that.',
      'started UPDATE_MOOD',
      'finished UPDATE_MOOD',
      'started ADD_MEMORY',
      'finished ADD_MEMORY',
      'said: I did not know you have a sister. Tell me about Mara.',
      'finished',
    ]);
    expect(stage.llm.requests).to.have.length(1);
    const state = await stage.resolve(Personas).state({ guildId: stage.guild.id, channelId: stage.general.id });
    expect(state.mood).to.deep.equal({ name: 'touched', intensity: 7 });
    const listing = stage.alice.slash(stage.general, 'persona memories', { what: 'me' });
    await stage.settled();
    expect(listing.messages[0]?.content).to.include('Alice has a sister called Mara.');
  });

  it('stays silent when it has nothing to say', async () => {
    await using stage = await openPersonaHarness([
      plan([think('They are talking among themselves.'), { action: 'DONE' }]),
    ]);
    expect(await stage.hears('See you all tomorrow')).to.deep.equal([]);
    expect(told(stage.events)).to.deep.equal([
      'started',
      'planned',
      'thought: They are talking among themselves.',
      'silent',
      'finished',
    ]);
  });

  it('is stopped when it repeats itself', async () => {
    await using stage = await openPersonaHarness([
      plan([speak('The rain never stops in this city, does it?')]),
      plan([think('Rain again.'), speak('The rain never stops in this city, does it?'), speak('Really.')]),
      result({ message: 'The rain never stops in this city, does it?' }),
    ]);
    expect(await stage.hears('What a day')).to.deep.equal(['The rain never stops in this city, does it?']);
    const first = stage.events.length;
    const [word, ...others] = await stage.hears('I bought a bicycle');
    expect(others).to.deep.equal([]);
    expect(word).to.match(/I have just told you that/);
    expect(told(stage.events.slice(first))).to.deep.equal([
      'started',
      'planned',
      'thought: Rain again.',
      'repetition_stopped',
      'finished',
    ]);
    const stopped = stage.events.find((event) => event.type === 'system' && event.event === 'repetition_stopped');
    expect(stopped)
      .to.have.property('message')
      .that.matches(/repetition: .*rain/i);
  });

  it('extends its plan twice', async () => {
    await using stage = await openPersonaHarness([
      plan([think('Who is she?')], { canExtend: true }),
      plan([{ action: 'ADD_GOAL', context: 'get to know her' }], { canExtend: true }),
      result({ goal: 'Find out what Alice likes' }),
      plan([speak('What do you do all day, Alice?')], { canExtend: false }),
    ]);
    expect(await stage.hears('Hello there')).to.deep.equal(['What do you do all day, Alice?']);
    expect(told(stage.events)).to.deep.equal([
      'started',
      'planned',
      'thought: Who is she?',
      'extended',
      'started ADD_GOAL',
      'finished ADD_GOAL',
      'extended',
      'said: What do you do all day, Alice?',
      'finished',
    ]);
  });
});

describe('a persona, on every kind of provider', () => {
  const answer = say(
    JSON.stringify({
      reasoning: 'She greets me.',
      actions: [
        { action: 'THINK', context: '', result: { thought: 'A greeting.' } },
        { action: 'SPEAK', context: 'greet back', result: { message: 'Good evening, Alice.' } },
      ],
      can_extend: false,
    }),
  );
  const kinds = [
    ['anthropic', startAnthropicStandIn, 'claude-opus-4-8', 'ANTHROPIC'],
    ['openai', startOpenAiStandIn, 'gpt-5.1', 'OPENAI'],
  ] as const;
  for (const [provider, start, model, prefix] of kinds) {
    it(`plans in one request: ${provider}`, async () => {
      await using server = await start({ steps: [answer] });
      await using host = await createTestHost({
        plugins: ['ai', 'llm', 'persona'],
        settings: { llm: { provider, model }, ai: { defaultResponder: 'persona' } },
        env: { [`${prefix}_BASE_URL`]: server.baseUrl, [`${prefix}_API_KEY`]: 'sk-test' },
      });
      host.alice.say(host.general, '!ai Good evening');
      await host.settled();
      await host.discord.expectMessage({ author: host.bot, content: 'Good evening, Alice.' });
      expect(server.requests).to.have.length(1);
      expect(JSON.stringify(server.requests[0]?.body)).to.include('can_extend').and.include('Good evening');
    });
  }
});
