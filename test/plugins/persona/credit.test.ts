import { Accounts } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openPersonaHarness, type PersonaHarness, plan, set, speak, told, usePersonaHost } from './harness.js';

describe('persona: who is credited', () => {
  const open = usePersonaHost();
  const remember = (text: string, about: string, source: number | null = null) => ({
    action: 'ADD_MEMORY',
    result: { text, about, source },
  });
  const memoriesOf = async (harness: PersonaHarness, member: PersonaHarness['alice']) => {
    const listing = member.slash(harness.general, 'persona memories', { what: 'me' });
    await harness.settled();
    return listing.messages[0]?.content ?? '';
  };
  const awake = async (harness: PersonaHarness) => {
    await set(harness, 'quietFrom', 0);
    await set(harness, 'quietTo', 0);
    await set(harness, 'home', harness.general.id);
  };

  it('with what is remembered: the author of the line that it is from', async () => {
    await using harness = await open([plan([remember('The party is on Friday.', 'party', 1)])]);
    harness.bob.say(harness.general, 'The party is on Friday');
    await harness.hears('Did you hear that?');
    expect(await memoriesOf(harness, harness.bob)).to.include('The party is on Friday.');
    expect(await memoriesOf(harness, harness.alice)).to.not.include('The party is on Friday.');
  });

  it('with nothing that is from a line that is not there', async () => {
    await using harness = await open([plan([remember('Alice owes Bob money.', 'alice', 40)])]);
    await harness.hears('Hello');
    expect(told(harness.events)).to.include('failed ADD_MEMORY');
    expect(await memoriesOf(harness, harness.alice)).to.not.include('owes');
  });

  it('with nothing about people that was not said', async () => {
    await using harness = await open([
      plan([]),
      plan([remember('I like quiet evenings.', 'Cinnabar'), remember('Alice is in love.', 'alice')]),
    ]);
    await awake(harness);
    await set(harness, 'timerMinutes', 60);
    await harness.hears('Hello');
    await harness.advance(61_000);
    await harness.advance(3_600_000);
    expect(told(harness.events)).to.include('failed ADD_MEMORY').and.include('finished ADD_MEMORY');
    expect(await memoriesOf(harness, harness.alice)).to.not.include('in love');
  });

  it('with the cost of runs without a request: the bot itself', async () => {
    const usage = { inputTokens: 100, outputTokens: 10 };
    await using harness = await openPersonaHarness([plan([speak('I like rain.')]), { ...plan([]), usage }], {
      more: ['accounts'],
    });
    await awake(harness);
    await set(harness, 'onReaction', true);
    await harness.hears('What do you like?');
    const answer = harness.general.messages.find(({ content }) => content === 'I like rain.');
    if (answer === undefined) throw new Error('Nothing was said.');
    harness.bob.react(answer, '❤️');
    await harness.settled();
    const [receipt] = await harness.resolve(Accounts).receipts(harness.general.id, 'persona');
    expect(receipt?.trigger).to.equal('Somebody reacted to what I had said');
    expect(receipt?.actor.userId).to.equal(harness.bot.id);
  });
});
