import { hang } from '@cinnabar/local-models';
import { Personas } from '@cinnabar/sdk';
import { expect } from 'chai';
import { plan, result, type Stage, set, setStage, speak, think } from './stage.js';

describe('persona: what is edited or deleted', () => {
  const remember = (text: string) => ({ action: 'ADD_MEMORY', result: { text, about: 'alice', source: 1 } });
  /** What the model was told last. */
  const situation = ({ llm }: Stage) => JSON.stringify(llm.requests.at(-1)?.messages);
  const mine = async (stage: Stage) => {
    const listing = stage.alice.slash(stage.general, 'persona memories', { what: 'me' });
    await stage.settled();
    return listing.messages[0]?.content ?? '';
  };
  const recent = (stage: Stage) => stage.resolve(Personas).recent(stage.general.id);
  /** The model makes a summary of eleven lines, and hangs over it. */
  const summarising = async () => {
    const stage = await setStage([plan([]), hang(result({ summary: 'Bob counted.' })), plan([]), plan([])]);
    await set(stage, 'historyMessages', 10);
    const counted = Array.from({ length: 11 }, (_, index) => stage.bob.say(stage.general, `number ${index + 1}`));
    const [first] = counted;
    if (first === undefined) throw new Error('Nothing was said.');
    stage.alice.say(stage.general, '!ai Are you done?');
    await stage.llm.hanging();
    return { stage, first };
  };

  it('while it is summarised makes the summary void: a line that was edited, with what it says now', async () => {
    const { stage, first } = await summarising();
    await using _ = stage;
    stage.bob.edit(first, 'number one');
    await stage.discord.settled();
    stage.llm.release();
    await stage.settled();
    await stage.hears('Hello?');
    expect(situation(stage)).to.not.include('Bob counted.').and.not.include('number 1\\"');
  });

  it('while it is summarised makes the summary void: what an earlier one was made from, too', async () => {
    const written = [result({ summary: 'Bob counted.' }), hang(result({ summary: 'Bob counted on.' }))];
    await using stage = await setStage((prompt) => {
      if (!prompt.text.includes('The minutes')) return plan([]);
      return written.shift() ?? result({ summary: 'Written anew.' });
    });
    await set(stage, 'historyMessages', 10);
    const counted = Array.from({ length: 11 }, (_, index) => stage.bob.say(stage.general, `number ${index + 1}`));
    await stage.hears('Are you done?');
    for (let index = 0; index < 8; index += 1) stage.bob.say(stage.general, `more ${index + 1}`);
    stage.alice.say(stage.general, '!ai And now?');
    await stage.llm.hanging();
    const [first] = counted;
    if (first !== undefined) stage.bob.delete(first);
    await stage.discord.settled();
    stage.llm.release();
    await stage.settled();
    await stage.hears('Hello?');
    expect(situation(stage)).to.not.include('Bob counted');
  });

  it('while it is thought about leaves no trace of what it said before', async () => {
    await using stage = await setStage([
      hang(plan([think('They live in Watson.'), remember('Alice lives in Watson.')])),
    ]);
    const secret = stage.alice.say(stage.general, '!ai I live in Watson');
    await stage.llm.hanging();
    stage.alice.edit(secret, '!ai I live somewhere');
    await stage.discord.settled();
    stage.llm.release();
    await stage.settled();
    expect(await recent(stage)).to.deep.equal([]);
    expect(await mine(stage)).to.include('I remember nothing');
  });

  it('is told from what is only sent anew: after a restart a link that has been loaded changes nothing', async () => {
    await using first = await setStage([plan([remember('Alice lives in Watson.')])]);
    const message = first.alice.say(first.general, '!ai I live in Watson');
    await first.settled();
    await first.stop();
    await using second = await setStage([], { world: first, dataDir: first.dataDir });
    second.alice.edit(message, '!ai I live in Watson');
    await second.settled();
    expect(await mine(second)).to.include('Alice lives in Watson.');
    expect(await recent(second)).to.not.have.length(0);
  });

  it('while the bot is away is noticed when it looks again: an edit', async () => {
    await using first = await setStage([plan([remember('Alice lives in Watson.'), think('Watson!')])]);
    const message = first.alice.say(first.general, `<@${first.bot.id}> I live in Watson`);
    await first.settled();
    await first.stop();
    first.alice.edit(message, `<@${first.bot.id}> I live in Heywood`);
    await using second = await setStage([plan([speak('I see.')])], { world: first, dataDir: first.dataDir });
    await second.hears('Hello again');
    expect(situation(second)).to.include('I live in Heywood').and.not.include('Watson');
    expect(await mine(second))
      .to.include('Heywood')
      .and.not.include('Watson');
    expect(JSON.stringify(await recent(second))).to.not.include('Watson');
  });

  it('while the bot is away is noticed when it looks again: what is in the summary, too', async () => {
    await using first = await setStage([plan([]), result({ summary: 'Bob counted.' })]);
    await set(first, 'historyMessages', 10);
    const counted = Array.from({ length: 11 }, (_, index) => first.bob.say(first.general, `number ${index + 1}`));
    await first.hears('Are you done?');
    await first.stop();
    const [one] = counted;
    if (one !== undefined) first.bob.delete(one);
    await using second = await setStage([plan([])], { world: first, dataDir: first.dataDir });
    await second.hears('Hello again');
    expect(situation(second)).to.not.include('Bob counted');
  });
});
