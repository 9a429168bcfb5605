import { definePlugin, Personas } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openPersonaHarness, type PersonaHarness, plan, set, speak, told, usePersonaHost } from './harness.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The tests' clock starts at midnight, so quiet hours are disabled unless a test enables them. */
const awake = async (harness: PersonaHarness) => {
  await set(harness, 'quietFrom', 0);
  await set(harness, 'quietTo', 0);
};

describe('persona: of its own accord', () => {
  const open = usePersonaHost();
  const said = ({ general, bot }: PersonaHarness) =>
    general.messages
      .filter(({ author }) => author.id === bot.id && !author.name.includes('set'))
      .map(({ content }) => content);
  const live = async (harness: PersonaHarness) => {
    await awake(harness);
    await set(harness, 'home', harness.general.id);
  };
  const runs = (harness: PersonaHarness) => told(harness.events).filter((event) => event === 'started').length;

  it('does nothing unless that is switched on', async () => {
    await using harness = await open(() => plan([speak('Hello?')]));
    await live(harness);
    await harness.advance(48 * HOUR_MS);
    harness.guild.join(harness.discord.createUser({ name: 'carol' }));
    await harness.settled();
    expect(harness.llm.requests).to.have.length(0);
  });

  it('thinks from time to time, within its budget of the day, and uses no tools', async () => {
    await using harness = await openPersonaHarness(() =>
      plan([{ action: 'UPDATE_MOOD', result: { mood: 'bored', intensity: 2 } }]),
    );
    await live(harness);
    await set(harness, 'timerMinutes', 60);
    await set(harness, 'dayBudget', 2);
    await harness.advance(61_000);
    expect(runs(harness), 'the timer has just been wound up').to.equal(0);
    for (let hour = 0; hour < 6; hour += 1) await harness.advance(HOUR_MS);
    expect(runs(harness)).to.equal(2);
    expect(harness.llm.requests[0]?.system).to.not.include('USE_TOOL');
    expect(JSON.stringify(harness.llm.requests[0]?.messages)).to.include('nobody has said anything to me');
    for (let hour = 0; hour < 24; hour += 1) await harness.advance(HOUR_MS);
    expect(runs(harness), 'the next day has a budget of its own').to.equal(4);
  });

  it('takes "#general" for its home, as people write it', async () => {
    await using harness = await open();
    await set(harness, 'home', '#general');
    const answer = harness.general.messages.at(-1)?.content;
    expect(answer).to.include(harness.general.id);
    await set(harness, 'home', '#nosuch');
    expect(harness.general.messages.at(-1)?.content).to.include('no channel here is called');
  });

  it('does nothing in the quiet hours of its server', async () => {
    const cases = [
      { quietFrom: 22, quietTo: 8, utcOffset: 0, quiet: [22, 23, 0, 7], awake: [8, 12, 21] },
      { quietFrom: 1, quietTo: 6, utcOffset: 0, quiet: [1, 5], awake: [0, 6, 23] },
      { quietFrom: 22, quietTo: 8, utcOffset: 3, quiet: [19, 4], awake: [5, 18] },
      { quietFrom: 5, quietTo: 5, utcOffset: 0, quiet: [], awake: [4, 5, 6] },
    ];
    const harnesses: PersonaHarness[] = [];
    for (const { quiet, awake: _, ...hours } of cases) {
      const harness = await open(() => plan([]));
      await live(harness);
      await set(harness, 'timerMinutes', 60);
      await set(harness, 'dayBudget', 24);
      for (const [key, value] of Object.entries(hours)) await set(harness, key, value);
      harnesses.push(harness);
    }
    const { clock, advance } = harnesses[0] ?? expect.fail();
    // Winds up the timers.
    await advance(61_000);
    const looked = [...new Set(cases.flatMap(({ quiet, awake }) => [...quiet, ...awake]))];
    const dayAfter = Math.ceil(clock.now() / DAY_MS + 1) * DAY_MS;
    for (const hour of looked.sort((one, other) => one - other))
      await advance(dayAfter + (hour + 0.25) * HOUR_MS + hour * 60_000 - clock.now());
    for (const [index, { quiet, awake, ...hours }] of cases.entries()) {
      const acted = harnesses[index]?.events.flatMap((event) =>
        event.type === 'system' && event.event === 'started' ? new Date(event.at).getUTCHours() : [],
      );
      expect(
        quiet.filter((hour) => acted?.includes(hour)),
        JSON.stringify(hours),
      ).to.deep.equal([]);
      expect(acted, JSON.stringify(hours)).to.include.members(awake);
    }
    for (const harness of harnesses) await harness[Symbol.asyncDispose]();
  });

  it('keeps to channels in which it answers', async () => {
    await using harness = await openPersonaHarness(() => plan([speak('Hello?')]), { more: ['chat'] });
    await live(harness);
    await set(harness, 'timerMinutes', 60);
    harness.you.say(harness.general, '!ai use chat');
    await harness.settled();
    for (let hour = 0; hour < 4; hour += 1) await harness.advance(HOUR_MS);
    expect(runs(harness)).to.equal(0);
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
    await using harness = await openPersonaHarness((prompt) => {
      const [, id = ''] = /<reflect-on>\s*\{"id":"([^"]+)"/.exec(prompt.text) ?? [];
      if (id !== '')
        return plan([
          { action: 'REFLECT', result: { insights: [{ text: 'Alice has been through a lot.', evidence: [id] }] } },
        ]);
      const next = facts.shift();
      return plan(next === undefined ? [] : [fact(next)]);
    });
    await live(harness);
    await set(harness, 'reflection', true);
    while (facts.length > 0) {
      await harness.hears(`Something about me: ${facts.length}`);
      await harness.advance(2_500);
    }
    await harness.advance(120_000);
    expect(told(harness.events)).to.include('finished REFLECT');
    const reflections = told(harness.events).filter((event) => event === 'started REFLECT').length;
    await harness.advance(HOUR_MS);
    expect(
      told(harness.events).filter((event) => event === 'started REFLECT'),
      'it counts anew',
    ).to.have.length(reflections);
    harness.you.say(harness.general, '!persona memories all');
    await harness.settled();
    expect(said(harness).at(-1)).to.include('Alice has been through a lot.');
  });

  it('notices new members', async () => {
    const greeter = definePlugin({
      manifest: { id: 'members', version: '1.0.0', description: 'Asks for members', intents: ['GuildMembers'] },
      setup: () => undefined,
    });
    await using harness = await openPersonaHarness([plan([speak('Welcome, Carol!')])], { more: [greeter] });
    await live(harness);
    await set(harness, 'onJoin', true);
    harness.guild.join(harness.discord.createUser({ name: 'carol' }));
    await harness.settled();
    expect(said(harness).at(-1)).to.equal('Welcome, Carol!');
    expect(JSON.stringify(harness.llm.requests[0]?.messages)).to.include('somebody new has joined');
  });

  it('notices reactions to what it said, and to nothing else', async () => {
    await using harness = await open([
      plan([speak('I like rain.')]),
      plan([{ action: 'UPDATE_MOOD', result: { mood: 'flattered', intensity: 5 } }]),
    ]);
    await live(harness);
    await set(harness, 'onReaction', true);
    const asked = harness.alice.say(harness.general, '!ai What do you like?');
    await harness.settled();
    harness.bob.react(asked, '🎉');
    await harness.settled();
    expect(harness.llm.requests).to.have.length(1);
    const answer = harness.general.messages.find(({ content }) => content === 'I like rain.');
    if (answer === undefined) throw new Error('Nothing was said.');
    harness.bob.react(answer, '❤️');
    await harness.settled();
    expect(JSON.stringify(harness.llm.requests[1]?.messages))
      .to.include('somebody reacted')
      .and.include('I like rain.')
      .and.include('bob');
    const { mood } = await harness
      .resolve(Personas)
      .state({ guildId: harness.guild.id, channelId: harness.general.id });
    expect(mood.name).to.equal('flattered');
  });
});
