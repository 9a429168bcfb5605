import { fail, hang, say } from '@cinnabar/local-models';
import { definePlugin, PersonaActions, Personas, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import {
  openPersonaHarness,
  type PersonaHarness,
  plan,
  result,
  set,
  speak,
  think,
  told,
  usePersonaHost,
} from './harness.js';

describe('persona: planning', () => {
  const open = usePersonaHost();
  const promptOf = (harness: PersonaHarness, index: number) => {
    const request = harness.llm.requests[index];
    const text = request?.messages.flatMap(({ content }) =>
      content.map((block) => ('text' in block ? block.text : '')),
    );
    return { system: request?.system ?? '', text: text?.join('\n') ?? '' };
  };

  it('tells the planner every action with the context that it needs and the form of its result', async () => {
    await using harness = await open([plan([])]);
    await harness.hears('Hello');
    const { system } = promptOf(harness, 0);
    expect(system).to.include('- UPDATE_MOOD: Change my current mood');
    expect(system).to.match(
      /UPDATE_MOOD.*\n {2}Context needed: .+\n {2}Result: \{"mood": string .*"intensity": number/,
    );
    expect(system).to.include('- FEEL_AND_ANSWER:');
    expect(system, 'there is nothing to reflect on, and no tool').to.not.match(/- (REFLECT|USE_TOOL):/);
    expect(system).to.include('always stay silent');
  });

  it('repairs a malformed plan once', async () => {
    await using harness = await open([say('I think I should say hello!'), plan([speak('Hello.')])]);
    expect(await harness.hears('Hello')).to.deep.equal(['Hello.']);
    expect(promptOf(harness, 1).text).to.include('could not be used');
  });

  it('refuses a plan that stays malformed, with a sentence to the requester', async () => {
    await using harness = await open([say('no'), say('{"actions": 4}')]);
    expect(await harness.hears('Hello')).to.deep.equal([
      'I could not make up my mind about that. Please say it again, or put it differently.',
    ]);
    expect(told(harness.events)).to.deep.equal(['started', 'plan_refused', 'finished']);
  });

  it('drops actions that there are not, and says so', async () => {
    await using harness = await open([plan([{ action: 'DANCE' }, speak('La la.')])]);
    expect(await harness.hears('Dance!')).to.deep.equal(['La la.']);
    expect(told(harness.events)).to.deep.equal(['started', 'action_dropped', 'planned', 'said: La la.', 'finished']);
    expect(harness.events[1]).to.have.property('message', 'there is no action called "DANCE"');
  });

  it('asks again only for results that the plan has left open', async () => {
    await using harness = await open([
      plan([think('She is glad.'), { action: 'UPDATE_MOOD', context: 'joy is catching' }, speak('Lovely!')]),
      result({ mood: 'glad', intensity: 6 }),
    ]);
    expect(await harness.hears('I passed!')).to.deep.equal(['Lovely!']);
    expect(harness.llm.requests).to.have.length(2);
    const { text } = promptOf(harness, 1);
    expect(text).to.include('I carry out UPDATE_MOOD now').and.include('joy is catching');
    expect(text, 'what was done is told').to.include('{"action":"THINK","result":"She is glad."}');
  });

  it('goes on when one action cannot be carried out', async () => {
    await using harness = await open([
      plan([{ action: 'REMOVE_GOAL', result: { goal: 'fly', outcome: 'abandoned' } }, speak('Never mind.')]),
      result({ message: 'I had no such goal.' }),
    ]);
    expect(await harness.hears('Forget about flying')).to.deep.equal(['I had no such goal.']);
    expect(told(harness.events)).to.deep.equal([
      'started',
      'planned',
      'started REMOVE_GOAL',
      'failed REMOVE_GOAL',
      'action_failed',
      'said: I had no such goal.',
      'finished',
    ]);
  });

  it('carries actions out after those that they depend on', async () => {
    await using harness = await open([
      plan([{ action: 'UPDATE_MOOD', result: { mood: 'sad', intensity: 4 } }, think('That was sad.')]),
    ]);
    await harness.hears('My cat ran away');
    expect(told(harness.events)).to.deep.equal([
      'started',
      'planned',
      'thought: That was sad.',
      'started UPDATE_MOOD',
      'finished UPDATE_MOOD',
      'silent',
      'finished',
    ]);
  });

  it('writes chains out', async () => {
    await using harness = await open([
      plan([{ action: 'FEEL_AND_ANSWER', context: 'she is kind' }]),
      result({ thought: 'How kind.' }),
      result({ mood: 'warm', intensity: 5 }),
      result({ message: 'Thank you!' }),
    ]);
    expect(await harness.hears('I baked you a cake')).to.deep.equal(['Thank you!']);
    expect(told(harness.events)).to.include.members(['thought: How kind.', 'finished UPDATE_MOOD']);
  });

  it('carries out nothing after DONE', async () => {
    await using harness = await open([plan([{ action: 'DONE' }, speak('Too late.')])]);
    expect(await harness.hears('Hello')).to.deep.equal([]);
  });

  it('runs neighbours that may run at the same time together, and tells of them one after another', async () => {
    await using harness = await open([
      plan([{ action: 'ADD_GOAL' }, { action: 'ADD_DESIRE' }, speak('So it is.')]),
      hang(result({ goal: 'Sleep more' })),
      hang(result({ desire: 'A nap' })),
    ]);
    harness.alice.say(harness.general, '!ai You look tired');
    await harness.llm.hanging();
    await harness.llm.hanging();
    expect(harness.llm.requests, 'both ask before either is answered').to.have.length(3);
    harness.llm.release();
    await harness.settled();
    expect(told(harness.events)).to.deep.equal([
      'started',
      'planned',
      'started ADD_GOAL',
      'finished ADD_GOAL',
      'started ADD_DESIRE',
      'finished ADD_DESIRE',
      'said: So it is.',
      'finished',
    ]);
  });

  it('is taught more by other plugins, as long as they are enabled', async () => {
    const watered: string[] = [];
    const garden = definePlugin({
      manifest: { id: 'garden', version: '1.0.0', description: 'Plants' },
      inject: { actions: PersonaActions },
      setup({ services, defer }) {
        defer(
          services.actions.register('garden', {
            name: 'WATER_PLANTS',
            description: 'Water the plants of this server',
            contextNeeded: 'Which of them look thirsty',
            result: z.object({ litres: z.number().describe('How much') }),
            execute({ litres }, { trigger, context }) {
              watered.push(`${litres} l because ${context} (${trigger.type})`);
              return 'They look better.';
            },
          }),
        );
      },
    });
    const water = { action: 'WATER_PLANTS', context: 'it is hot', result: { litres: 3 } };
    await using harness = await openPersonaHarness([plan([water]), plan([water])], { more: [garden] });
    await harness.hears('It is so hot');
    expect(watered).to.deep.equal(['3 l because it is hot (user_input)']);
    expect(told(harness.events)).to.include('finished WATER_PLANTS');
    harness.you.say(harness.general, '!plugin disable garden');
    await harness.settled();
    await harness.hears('Still hot');
    expect(watered).to.have.length(1);
    expect(told(harness.events)).to.include('action_dropped');
  });

  it('refuses to be taught an action of a name that is taken or not allowed', async () => {
    await using harness = await openPersonaHarness();
    const actions = harness.resolve(PersonaActions);
    const named = (name: string) => () =>
      actions.register('garden', { name, description: '', contextNeeded: '', result: z.object({}), execute: () => '' });
    expect(named('SPEAK')).to.throw('already registered by the plugin "persona"');
    expect(named('speak up')).to.throw('not allowed');
    const takeBack = named('WAVE')();
    await takeBack();
    expect(named('WAVE')).to.not.throw();
  });

  it('ends when its time is up, whatever the model does', async () => {
    await using harness = await open([hang()]);
    await set(harness, 'maxSeconds', 10);
    harness.alice.say(harness.general, '!ai Hello?');
    await harness.llm.hanging();
    await harness.advance(10_000);
    await harness.discord.expectMessage({ author: harness.bot, content: /could not make up my mind in time/ });
    expect(told(harness.events)).to.deep.equal(['started', 'bound_reached', 'finished']);
  });

  it('ends when its tokens are used up', async () => {
    const usage = { inputTokens: 3_000, outputTokens: 10 };
    await using harness = await open([
      { ...plan([{ action: 'THINK' }, { action: 'SPEAK' }]), usage },
      { ...result({ thought: 'Hm.' }), usage },
    ]);
    await set(harness, 'maxTokens', 5_000);
    expect(await harness.hears('Hello')).to.deep.equal([
      'I did not get to an answer: my plan was longer than I may go on for. Please ask for less at once.',
    ]);
    expect(told(harness.events)).to.deep.equal(['started', 'planned', 'thought: Hm.', 'bound_reached', 'finished']);
  });

  it('tells the requester when the model cannot be reached', async () => {
    await using harness = await open([fail(503)]);
    expect(await harness.hears('Hello')).to.deep.equal(['The language model cannot be reached at the moment.']);
    expect(told(harness.events)).to.deep.equal(['started', 'stopped', 'finished']);
  });

  it('keeps what was said when the model fails afterwards', async () => {
    await using harness = await open([plan([speak('Let me think.')], { canExtend: true }), fail(503)]);
    expect(await harness.hears('Hello')).to.deep.equal(['Let me think.']);
    expect(told(harness.events)).to.deep.equal(['started', 'planned', 'said: Let me think.', 'stopped', 'finished']);
  });

  it('may react to what it does not answer', async () => {
    await using harness = await open([plan([])]);
    await set(harness, 'silentReaction', '👀');
    const asked = harness.alice.say(harness.general, '!ai I am off to bed');
    await harness.settled();
    expect(harness.general.messages.at(-1)).to.equal(asked);
    expect(asked.reactions.map(({ emoji }) => emoji.name)).to.deep.equal(['👀']);
  });

  it('answers a slash command also when it stays silent', async () => {
    await using harness = await open([plan([think('Nothing to add.')])]);
    const interaction = harness.alice.slash(harness.general, 'ai', { text: 'Good night' });
    await harness.settled();
    expect(interaction.messages.map(({ content }) => content)).to.deep.equal(['*(says nothing)*']);
  });

  it('keeps its state across a restart', async () => {
    await using first = await openPersonaHarness([
      plan([{ action: 'UPDATE_APPEARANCE', result: { appearance: 'Green hair' } }]),
    ]);
    await first.hears('Dye your hair green!');
    await first.stop();
    await using second = await openPersonaHarness([], { world: first, dataDir: first.dataDir });
    const state = await second.resolve(Personas).state({ guildId: second.guild.id, channelId: second.general.id });
    expect(state.appearance).to.equal('Green hair');
  });
});

describe('persona: when it is stopped', () => {
  it('breaks off what it is doing, and leaves nothing behind', async () => {
    await using harness = await openPersonaHarness([plan([think('One moment.'), { action: 'SPEAK' }]), hang()]);
    harness.alice.say(harness.general, '!ai Hello');
    await harness.llm.hanging();
    const unloaded = harness.plugins.unload('persona');
    await harness.discord.settled();
    // Running work has a few seconds to end.
    harness.clock.advance(10_000);
    await unloaded;
    await harness.settled();
    expect(harness.plugins.list().find(({ id }) => id === 'persona')?.effects).to.deep.equal([]);
    expect(told(harness.events).at(-1)).to.equal('finished');
    await harness.plugins.load('persona');
    harness.llm.push(plan([speak('I am back.')]));
    expect(await harness.hears('Hello?')).to.deep.equal(['I am back.']);
  });
});
