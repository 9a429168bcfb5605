import { Accounts } from '@cinnabar/sdk';
import { expect } from 'chai';
import { plan, type Stage, set, setStage, speak, told } from './stage.js';

describe('persona: who is credited', () => {
  const remember = (text: string, about: string, source: number | null = null) => ({
    action: 'ADD_MEMORY',
    result: { text, about, source },
  });
  const memoriesOf = async (stage: Stage, member: Stage['alice']) => {
    const listing = member.slash(stage.general, 'persona memories', { what: 'me' });
    await stage.settled();
    return listing.messages[0]?.content ?? '';
  };
  const awake = async (stage: Stage) => {
    await set(stage, 'quietFrom', 0);
    await set(stage, 'quietTo', 0);
    await set(stage, 'home', stage.general.id);
  };

  it('with what is remembered: whoever said the line that it is from', async () => {
    await using stage = await setStage([plan([remember('The party is on Friday.', 'party', 1)])]);
    stage.bob.say(stage.general, 'The party is on Friday');
    await stage.hears('Did you hear that?');
    expect(await memoriesOf(stage, stage.bob)).to.include('The party is on Friday.');
    expect(await memoriesOf(stage, stage.alice)).to.not.include('The party is on Friday.');
  });

  it('with nothing that is from a line that is not there', async () => {
    await using stage = await setStage([plan([remember('Alice owes Bob money.', 'alice', 40)])]);
    await stage.hears('Hello');
    expect(told(stage.events)).to.include('failed ADD_MEMORY');
    expect(await memoriesOf(stage, stage.alice)).to.not.include('owes');
  });

  it('with nothing about people that nobody has said', async () => {
    await using stage = await setStage([
      plan([]),
      plan([remember('I like quiet evenings.', 'Cinnabar'), remember('Alice is in love.', 'alice')]),
    ]);
    await awake(stage);
    await set(stage, 'timerMinutes', 60);
    await stage.hears('Hello');
    await stage.advance(61_000);
    await stage.advance(3_600_000);
    expect(told(stage.events)).to.include('failed ADD_MEMORY').and.include('finished ADD_MEMORY');
    expect(await memoriesOf(stage, stage.alice)).to.not.include('in love');
  });

  it('with the cost of what nobody asked for: the bot itself', async () => {
    const usage = { inputTokens: 100, outputTokens: 10 };
    await using stage = await setStage([plan([speak('I like rain.')]), { ...plan([]), usage }], { more: ['accounts'] });
    await awake(stage);
    await set(stage, 'onReaction', true);
    await stage.hears('What do you like?');
    const answer = stage.general.messages.find(({ content }) => content === 'I like rain.');
    if (answer === undefined) throw new Error('Nothing was said.');
    stage.bob.react(answer, '❤️');
    await stage.settled();
    const [receipt] = await stage.resolve(Accounts).receipts(stage.general.id, 'persona');
    expect(receipt?.trigger).to.equal('Somebody reacted to what I had said');
    expect(receipt?.actor.userId).to.equal(stage.bot.id);
  });
});
