import { hang } from '@cinnabar/local-models';
import { Personas } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openPersonaHarness, type PersonaHarness, plan, result, set, speak, think, usePersonaHost } from './harness.js';

describe('persona: what is edited or deleted', () => {
  const open = usePersonaHost();
  const remember = (text: string) => ({ action: 'ADD_MEMORY', result: { text, about: 'alice', source: 1 } });
  /** The latest request to the model. */
  const situation = ({ llm }: PersonaHarness) => JSON.stringify(llm.requests.at(-1)?.messages);
  const mine = async (harness: PersonaHarness) => {
    const listing = harness.alice.slash(harness.general, 'persona memories', { what: 'me' });
    await harness.settled();
    return listing.messages[0]?.content ?? '';
  };
  const recent = (harness: PersonaHarness) => harness.resolve(Personas).recent(harness.general.id);
  /** The model's summary of eleven lines hangs. */
  const summarising = async () => {
    const harness = await open([plan([]), hang(result({ summary: 'Bob counted.' })), plan([]), plan([])]);
    await set(harness, 'historyMessages', 10);
    const counted = Array.from({ length: 11 }, (_, index) => harness.bob.say(harness.general, `number ${index + 1}`));
    const [first] = counted;
    if (first === undefined) throw new Error('Nothing was said.');
    harness.alice.say(harness.general, '!ai Are you done?');
    await harness.llm.hanging();
    return { harness, first };
  };

  it('while it is summarised makes the summary void: a line that was edited, with what it says now', async () => {
    const { harness, first } = await summarising();
    await using _ = harness;
    harness.bob.edit(first, 'number one');
    await harness.discord.settled();
    harness.llm.release();
    await harness.settled();
    await harness.hears('Hello?');
    expect(situation(harness)).to.not.include('Bob counted.').and.not.include('number 1\\"');
  });

  it('while it is summarised makes the summary void: what an earlier one was made from, too', async () => {
    const written = [result({ summary: 'Bob counted.' }), hang(result({ summary: 'Bob counted on.' }))];
    await using harness = await open((prompt) => {
      if (!prompt.text.includes('The minutes')) return plan([]);
      return written.shift() ?? result({ summary: 'Written anew.' });
    });
    await set(harness, 'historyMessages', 10);
    const counted = Array.from({ length: 11 }, (_, index) => harness.bob.say(harness.general, `number ${index + 1}`));
    await harness.hears('Are you done?');
    for (let index = 0; index < 8; index += 1) harness.bob.say(harness.general, `more ${index + 1}`);
    harness.alice.say(harness.general, '!ai And now?');
    await harness.llm.hanging();
    const [first] = counted;
    if (first !== undefined) harness.bob.delete(first);
    await harness.discord.settled();
    harness.llm.release();
    await harness.settled();
    await harness.hears('Hello?');
    expect(situation(harness)).to.not.include('Bob counted');
  });

  it('while it is thought about leaves no trace of what it said before', async () => {
    await using harness = await open([hang(plan([think('They live in Watson.'), remember('Alice lives in Watson.')]))]);
    const secret = harness.alice.say(harness.general, '!ai I live in Watson');
    await harness.llm.hanging();
    harness.alice.edit(secret, '!ai I live somewhere');
    await harness.discord.settled();
    harness.llm.release();
    await harness.settled();
    expect(await recent(harness)).to.deep.equal([]);
    expect(await mine(harness)).to.include('I remember nothing');
  });

  it('is told from what is only sent anew: after a restart a link that has been loaded changes nothing', async () => {
    await using first = await openPersonaHarness([plan([remember('Alice lives in Watson.')])]);
    const message = first.alice.say(first.general, '!ai I live in Watson');
    await first.settled();
    await first.stop();
    await using second = await openPersonaHarness([], { world: first, dataDir: first.dataDir });
    second.alice.edit(message, '!ai I live in Watson');
    await second.settled();
    expect(await mine(second)).to.include('Alice lives in Watson.');
    expect(await recent(second)).to.not.have.length(0);
  });

  it('while the bot is away is noticed when it looks again: an edit', async () => {
    await using first = await openPersonaHarness([plan([remember('Alice lives in Watson.'), think('Watson!')])]);
    const message = first.alice.say(first.general, `<@${first.bot.id}> I live in Watson`);
    await first.settled();
    await first.stop();
    first.alice.edit(message, `<@${first.bot.id}> I live in Heywood`);
    await using second = await openPersonaHarness([plan([speak('I see.')])], { world: first, dataDir: first.dataDir });
    await second.hears('Hello again');
    expect(situation(second)).to.include('I live in Heywood').and.not.include('Watson');
    expect(await mine(second))
      .to.include('Heywood')
      .and.not.include('Watson');
    expect(JSON.stringify(await recent(second))).to.not.include('Watson');
  });

  it('while the bot is away is noticed when it looks again: what is in the summary, too', async () => {
    await using first = await openPersonaHarness([plan([]), result({ summary: 'Bob counted.' })]);
    await set(first, 'historyMessages', 10);
    const counted = Array.from({ length: 11 }, (_, index) => first.bob.say(first.general, `number ${index + 1}`));
    await first.hears('Are you done?');
    await first.stop();
    const [one] = counted;
    if (one !== undefined) first.bob.delete(one);
    await using second = await openPersonaHarness([plan([])], { world: first, dataDir: first.dataDir });
    await second.hears('Hello again');
    expect(situation(second)).to.not.include('Bob counted');
  });
});
