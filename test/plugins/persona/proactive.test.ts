import { definePlugin, Personas } from '@cinnabar/sdk';
import { expect } from 'chai';
import { plan, type Stage, set, setStage, speak, told } from './stage.js';

const HOUR_MS = 3_600_000;
/** The tests' day starts at midnight: there are no quiet hours unless a test wants some. */
const awake = async (stage: Stage) => {
  await set(stage, 'quietFrom', 0);
  await set(stage, 'quietTo', 0);
};

describe('persona: of its own accord', () => {
  const said = ({ general, bot }: Stage) =>
    general.messages
      .filter(({ author }) => author.id === bot.id && !author.name.includes('set'))
      .map(({ content }) => content);
  const live = async (stage: Stage) => {
    await awake(stage);
    await set(stage, 'home', stage.general.id);
  };
  const runs = (stage: Stage) => told(stage.events).filter((event) => event === 'started').length;

  it('does nothing unless that is switched on', async () => {
    await using stage = await setStage(() => plan([speak('Hello?')]));
    await live(stage);
    await stage.advance(48 * HOUR_MS);
    stage.guild.join(stage.discord.createUser({ name: 'carol' }));
    await stage.settled();
    expect(stage.llm.requests).to.have.length(0);
  });

  it('thinks from time to time, within its budget of the day, and uses no tools', async () => {
    await using stage = await setStage(() =>
      plan([{ action: 'UPDATE_MOOD', result: { mood: 'bored', intensity: 2 } }]),
    );
    await live(stage);
    await set(stage, 'timerMinutes', 60);
    await set(stage, 'dayBudget', 2);
    await stage.advance(61_000);
    expect(runs(stage), 'the timer has just been wound up').to.equal(0);
    for (let hour = 0; hour < 6; hour += 1) await stage.advance(HOUR_MS);
    expect(runs(stage)).to.equal(2);
    expect(stage.llm.requests[0]?.system).to.not.include('USE_TOOL');
    expect(JSON.stringify(stage.llm.requests[0]?.messages)).to.include('nobody has said anything to me');
    for (let hour = 0; hour < 24; hour += 1) await stage.advance(HOUR_MS);
    expect(runs(stage), 'the next day has a budget of its own').to.equal(4);
  });

  it('takes "#general" for its home, as people write it', async () => {
    await using stage = await setStage();
    await set(stage, 'home', '#general');
    const answer = stage.general.messages.at(-1)?.content;
    expect(answer).to.include(stage.general.id);
    await set(stage, 'home', '#nosuch');
    expect(stage.general.messages.at(-1)?.content).to.include('it has to be a channel');
  });

  it('keeps quiet at night', async () => {
    await using stage = await setStage(() => plan([]));
    await live(stage);
    await set(stage, 'timerMinutes', 60);
    await set(stage, 'quietFrom', 22);
    await set(stage, 'quietTo', 9);
    await set(stage, 'utcOffset', 2);
    // Midnight is 2 o'clock there; at 7 it is 9.
    for (let hour = 0; hour < 6; hour += 1) await stage.advance(HOUR_MS);
    expect(runs(stage)).to.equal(0);
    for (let hour = 0; hour < 3; hour += 1) await stage.advance(HOUR_MS);
    expect(runs(stage)).to.be.at.least(1);
  });

  it('keeps to channels in which it answers', async () => {
    await using stage = await setStage(() => plan([speak('Hello?')]), { more: ['chat'] });
    await live(stage);
    await set(stage, 'timerMinutes', 60);
    stage.you.say(stage.general, '!ai use chat');
    await stage.settled();
    for (let hour = 0; hour < 4; hour += 1) await stage.advance(HOUR_MS);
    expect(runs(stage)).to.equal(0);
  });

  it('reflects when enough has happened, and keeps what it concludes', async () => {
    const fact = (text: string) => ({ action: 'ADD_MEMORY', result: { text, about: 'alice', importance: 10 } });
    const facts = [
      'Alice moved to Heywood.',
      'Alice has a sister called Mara.',
      'Alice plays the cello.',
      'Alice was born in May.',
      'Alice fears spiders.',
      'Alice studies medicine.',
      'Alice broke her arm.',
      'Alice adopted a dog.',
      'Alice won a chess cup.',
      'Alice hates mushrooms.',
      'Alice drives a taxi at night.',
      'Alice reads Russian novels.',
      'Alice lost her father.',
      'Alice wants to see Iceland.',
      'Alice repairs radios.',
      'Alice was married once.',
    ];
    await using stage = await setStage((prompt) => {
      const [, id = ''] = /<reflect-on>\s*\{"id":"([^"]+)"/.exec(prompt.text) ?? [];
      if (id !== '')
        return plan([
          { action: 'REFLECT', result: { insights: [{ text: 'Alice has been through a lot.', evidence: [id] }] } },
        ]);
      const next = facts.shift();
      return plan(next === undefined ? [] : [fact(next)]);
    });
    await live(stage);
    await set(stage, 'reflection', true);
    while (facts.length > 0) {
      await stage.hears(`Something about me: ${facts.length}`);
      await stage.advance(2_500);
    }
    await stage.advance(120_000);
    expect(told(stage.events)).to.include('finished REFLECT');
    const reflections = told(stage.events).filter((event) => event === 'started REFLECT').length;
    await stage.advance(HOUR_MS);
    expect(
      told(stage.events).filter((event) => event === 'started REFLECT'),
      'it counts anew',
    ).to.have.length(reflections);
    stage.you.say(stage.general, '!persona memories all');
    await stage.settled();
    expect(said(stage).at(-1)).to.include('Alice has been through a lot.');
  });

  it('notices new members', async () => {
    const greeter = definePlugin({
      manifest: { id: 'members', version: '1.0.0', description: 'Asks for members', intents: ['GuildMembers'] },
      setup: () => undefined,
    });
    await using stage = await setStage([plan([speak('Welcome, Carol!')])], { more: [greeter] });
    await live(stage);
    await set(stage, 'onJoin', true);
    stage.guild.join(stage.discord.createUser({ name: 'carol' }));
    await stage.settled();
    expect(said(stage).at(-1)).to.equal('Welcome, Carol!');
    expect(JSON.stringify(stage.llm.requests[0]?.messages)).to.include('somebody new has joined');
  });

  it('notices reactions to what it said, and to nothing else', async () => {
    await using stage = await setStage([
      plan([speak('I like rain.')]),
      plan([{ action: 'UPDATE_MOOD', result: { mood: 'flattered', intensity: 5 } }]),
    ]);
    await live(stage);
    await set(stage, 'onReaction', true);
    const asked = stage.alice.say(stage.general, '!ai What do you like?');
    await stage.settled();
    stage.bob.react(asked, '🎉');
    await stage.settled();
    expect(stage.llm.requests).to.have.length(1);
    const answer = stage.general.messages.find(({ content }) => content === 'I like rain.');
    if (answer === undefined) throw new Error('Nothing was said.');
    stage.bob.react(answer, '❤️');
    await stage.settled();
    expect(JSON.stringify(stage.llm.requests[1]?.messages))
      .to.include('somebody reacted')
      .and.include('I like rain.')
      .and.include('bob');
    const { mood } = await stage.resolve(Personas).state({ guildId: stage.guild.id, channelId: stage.general.id });
    expect(mood.name).to.equal('flattered');
  });
});
