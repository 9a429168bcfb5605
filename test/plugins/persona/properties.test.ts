import { say } from '@cinnabar/local-models';
import { type PersonaEvent, Personas } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';
import { openPersonaHarness, type PersonaHarness, set } from './harness.js';

const NAMES = [
  'THINK',
  'UPDATE_MOOD',
  'ADD_MEMORY',
  'REMOVE_MEMORY',
  'UPDATE_APPEARANCE',
  'UPDATE_ENVIRONMENT',
  'ADD_GOAL',
  'REMOVE_GOAL',
  'ADD_DESIRE',
  'REMOVE_DESIRE',
  'SPEAK',
  'USE_TOOL',
  'REFLECT',
  'DONE',
  'FEEL_AND_ANSWER',
];
const LIMITS = { maxActions: 5, maxCalls: 4, maxExtensions: 2 };

/** Valid and invalid results of an action. */
const anyResult = fc.oneof(
  fc.record({ thought: fc.string() }),
  fc.record({ mood: fc.string(), intensity: fc.oneof(fc.integer({ min: -5, max: 15 }), fc.string()) }),
  fc.record({ message: fc.string({ maxLength: 3_000 }) }),
  fc.record({ text: fc.string(), about: fc.string(), importance: fc.double(), source: fc.integer() }),
  fc.record({ goal: fc.string(), desire: fc.string(), outcome: fc.constantFrom('completed', 'satisfied', 'eaten') }),
  fc.record({ tool: fc.string(), arguments: fc.dictionary(fc.string(), fc.jsonValue()) }),
  fc.dictionary(fc.string(), fc.jsonValue()),
  fc.constant(null),
);
const anyPlan = fc
  .record({
    reasoning: fc.string(),
    actions: fc.array(
      fc.record({ action: fc.oneof(fc.constantFrom(...NAMES), fc.string()), context: fc.string(), result: anyResult }),
      { maxLength: 12 },
    ),
    can_extend: fc.boolean(),
  })
  .map((plan) => JSON.stringify(plan));
/** Any answer of a model: a plan, part of one, a result, any JSON, or invalid JSON. */
const anyAnswer = fc.oneof(
  { weight: 5, arbitrary: anyPlan },
  { weight: 2, arbitrary: anyResult.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.tuple(anyPlan, fc.nat()).map(([text, at]) => text.slice(0, at % (text.length + 1))) },
  { weight: 1, arbitrary: fc.jsonValue().map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.string() },
);

describe('persona: whatever the model plans', () => {
  let harness: PersonaHarness;
  let answers: readonly string[] = [];
  let asked = 0;
  before(async function () {
    this.timeout(60_000);
    harness = await openPersonaHarness(() => say(answers[asked++ % answers.length] ?? ''));
    harness.you.say(harness.general, '!set ai turnsPerMinute 0');
    for (const [key, value] of Object.entries(LIMITS)) await set(harness, key, value);
  });
  after(() => harness[Symbol.asyncDispose]());

  /** Sends one message, to which the model gives these answers repeatedly. */
  const run = async (given: readonly string[]) => {
    answers = given;
    asked = 0;
    const before = harness.events.length;
    const said = await harness.hears('What do you think?');
    return { said, events: harness.events.slice(before), calls: asked };
  };

  const expectBounded = async ({ said, events, calls }: Awaited<ReturnType<typeof run>>) => {
    expect(calls).to.be.at.most(LIMITS.maxCalls);
    expect(actionsIn(events)).to.be.at.most(LIMITS.maxActions);
    expect(systemEvents(events)[0]).to.equal('started');
    expect(systemEvents(events).at(-1)).to.equal('finished');
    const spoken = events.flatMap((event) => (event.type === 'text' && !event.isThought ? [event] : []));
    // The result is an own message, a sentence about a failure, or silence.
    if (spoken.length === 0) expect(said.length).to.be.at.most(1);
    expect(said.join('\n')).to.not.match(/Something went wrong/);
    const state = await harness.resolve(Personas).state({ guildId: harness.guild.id, channelId: harness.general.id });
    expect(state.mood.intensity).to.be.within(0, 10);
    expect(state.goals.length).to.be.at.most(20);
    expect(state.desires.length).to.be.at.most(20);
    expect(started(events)).to.deep.equal(finished(events));
  };

  it('ends within its bounds, with a sentence or silence, and its state consistent', async function () {
    this.timeout(60_000);
    await fc.assert(
      fc.asyncProperty(fc.array(anyAnswer, { minLength: 1, maxLength: 6 }), async (given) =>
        expectBounded(await run(given)),
      ),
      { numRuns: 20 },
    );
  });

  it('ends when it plans ten thousand actions', async () => {
    const actions = Array.from({ length: 10_000 }, (_, index) => ({
      action: NAMES[index % 11] ?? 'THINK',
      context: `number ${index}`,
      result: { thought: `I count ${index}`, message: `Saying ${index} aloud`, mood: 'busy', intensity: 9 },
    }));
    const end = await run([JSON.stringify({ reasoning: 'all of it', actions, can_extend: true })]);
    await expectBounded(end);
    expect(systemEvents(end.events)).to.include('action_dropped');
  });

  it('ends when it wants to go on for ever', async () => {
    const end = await run([
      JSON.stringify({
        reasoning: 'more',
        actions: [{ action: 'THINK', context: '', result: { thought: 'Hm.' } }],
        can_extend: true,
      }),
    ]);
    await expectBounded(end);
    expect(systemEvents(end.events).filter((event) => event === 'extended').length).to.be.at.most(LIMITS.maxExtensions);
  });
});

function actionsIn(events: readonly PersonaEvent[]): number {
  return events.filter((event) => event.type === 'text' || event.type === 'tool-finished').length;
}

function systemEvents(events: readonly PersonaEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'system' ? [event.event] : []));
}

const started = (events: readonly PersonaEvent[]) =>
  events.flatMap((event) => (event.type === 'tool-started' ? [event.toolId] : [])).sort();
const finished = (events: readonly PersonaEvent[]) =>
  events.flatMap((event) => (event.type === 'tool-finished' ? [event.toolId] : [])).sort();
