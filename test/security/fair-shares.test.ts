import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalChannel, LocalUser } from '@cinnabar/local-discord';
import { callTools, hang, startAnthropicStandIn } from '@cinnabar/local-models';
import { definePlugin, type Outcome, SettingsCatalog, Tools, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { createGate, createMind } from '../plugins/ai/harness.js';
import { openHarness } from '../plugins/confirm/harness.js';
import { done, openTaskHarness } from '../plugins/tasks/harness.js';
import { makeFolder } from '../support/folder.js';

describe('security: fair shares', () => {
  it('of answers: a member with many slow questions in many servers keeps no other server waiting', async () => {
    const gate = createGate();
    const mind = createMind('chat', (turn) => (turn.text === 'hang' ? gate.passed : turn.reply('All well.')));
    await using host = await createTestHost({ plugins: ['ai', mind.plugin] });
    const elsewhere = Array.from({ length: 2 }, (_, at) => secondGuild(host, `elsewhere-${at}`, host.alice, host.bob));
    await host.discord.settled();
    const channels = [host.guild, ...elsewhere].flatMap((guild) =>
      Array.from({ length: 3 }, (_, at) => guild.createChannel({ name: `slow-${at}` })),
    );
    for (const channel of channels.slice(0, 8)) {
      host.alice.say(channel, `${host.bot} hang`);
      await host.discord.settled();
    }
    await mind.begun(3);
    host.bob.say(channels.at(-1) ?? host.general, `${host.bot} hello`);
    await host.discord.expectMessage({ author: host.bot, content: 'All well.' });
    expect(mind.turns.filter(({ text }) => text === 'hang')).to.have.length(3);
    expect(
      channels.flatMap(({ messages }) => messages).filter(({ content }) => /still busy/.test(content)).length,
    ).to.equal(5);
    gate.open();
    await host.settled();
  });

  it('of what waits in a channel: a member cannot fill it alone', async () => {
    const gate = createGate();
    const mind = createMind('chat', () => gate.passed);
    await using host = await createTestHost({ plugins: ['ai', mind.plugin] });
    for (let number = 0; number < 12; number += 1) host.alice.say(host.general, `${host.bot} question ${number}`);
    await mind.begun(1);
    await host.discord.settled();
    host.bob.say(host.general, `${host.bot} mine`);
    gate.open();
    await host.settled();
    expect(mind.turns.map(({ text }) => text)).to.include('mine');
    expect(mind.turns.filter(({ actor }) => actor.userId === host.alice.id)).to.have.length(6);
  });

  it('of tool calls: servers take turns, and one member’s leave others room', async () => {
    const gate = createGate();
    const slow = slowTool(gate.passed);
    await using host = await createTestHost({ plugins: [slow.plugin] });
    const tools = host.resolve(Tools);
    const call = (user: LocalUser, channel: LocalChannel) =>
      tools.invoke({
        name: 'slow',
        arguments: {},
        actor: { userId: user.id, guildId: channel.guild?.id ?? null, channelId: channel.id },
        origin: 'slow',
      });
    const other = secondGuild(host, 'elsewhere', host.bob).createChannel({ name: 'lobby' });
    await host.discord.settled();
    const flood: Promise<Outcome>[] = Array.from({ length: 30 }, () => call(host.alice, host.general));
    await slow.begun(8);
    const bobs = call(host.bob, other);
    await slow.begun(9);
    expect(slow.running()).to.equal(9);
    gate.open();
    expect(await bobs).to.have.property('status', 'done');
    for (const outcome of await Promise.all(flood)) expect(outcome.status).to.equal('done');
  });

  it('of cards: above a member’s own limit none is added, and no card of another member is removed', async () => {
    await using harness = await openHarness();
    await harness.configure('maxOpen', '2');
    const { alice, bob } = harness.host;
    const bobs = await harness.call(bob, { what: 'bread' });
    const outcomes = [];
    for (const what of ['a', 'b', 'c', 'd']) outcomes.push(await harness.call(alice, { what }));
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['deferred', 'deferred', 'denied', 'denied']);
    expect(outcomes[2]).to.have.property('reason').that.includes('wait for a decision');
    bob.react(harness.said()[0] ?? harness.latest(), '👍');
    await harness.host.settled();
    expect(bobs.status).to.equal('deferred');
    expect(harness.runs).to.deep.equal([{ what: 'bread' }]);
  });

  it('of cards: calls that come at the same moment are counted, too', async () => {
    await using harness = await openHarness();
    await harness.configure('maxOpen', '2');
    const all = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((what) => harness.call(harness.host.alice, { what })));
    expect(all.filter(({ status }) => status === 'deferred')).to.have.length(2);
  });

  it('of calls: an answer asks for at most 20, and the model is told of the rest', async () => {
    await using model = await startAnthropicStandIn();
    const runs: unknown[] = [];
    const plugin = definePlugin({
      manifest: { id: 'counter', version: '1.0.0', description: 'Counts' },
      setup: ({ tool }) =>
        void tool({
          name: 'count',
          description: 'Counts',
          risk: 'read',
          input: z.object({ n: z.number() }),
          run: (given) => runs.push(given),
        }),
    });
    await using host = await createTestHost({
      plugins: ['ai', 'chat', 'llm', plugin],
      settings: { llm: { provider: 'anthropic', model: 'claude-opus-4-8' } },
      env: { ANTHROPIC_BASE_URL: model.baseUrl, ANTHROPIC_API_KEY: 'sk-test' },
    });
    model.push(callTools(Array.from({ length: 35 }, (_, n) => ({ name: 'count', arguments: { n } }))));
    host.alice.say(host.general, `${host.bot} count`);
    await host.settled();
    expect(runs).to.have.length(20);
    expect(JSON.stringify(model.requests.at(1)?.body)).to.include('15 more calls were not run');
  });

  it('of tasks: guilds take turns', async () => {
    const office = await openTaskHarness({ steps: [hang(done('One.')), done('Two.'), done('Three.'), done('Four.')] });
    const { host } = office;
    try {
      await host.resolve(SettingsCatalog).set('tasks', 'maxRunning', '1', office.actor(host.you));
      const first = await office.give('First');
      await office.llm.hanging();
      const [second, third] = [await office.give('Second'), await office.give('Third')];
      const lobby = secondGuild(host, 'elsewhere', host.bob).createChannel({ name: 'lobby' });
      await host.discord.settled();
      host.bob.say(lobby, '!task start Fourth');
      for (let tries = 0; tries < 20 && (await office.tasks.list({ userId: host.bob.id })).length === 0; tries += 1) {
        await host.advance(100);
      }
      const [fourth] = await office.tasks.list({ userId: host.bob.id });
      if (fourth === undefined) throw new Error('the fourth was not started');
      office.llm.release();
      for (const { id } of [first, second, third, fourth]) await office.over(id);
      const begun = office.llm.requests.map(
        ({ messages }) => /First|Second|Third|Fourth/.exec(JSON.stringify(messages))?.[0],
      );
      expect(begun.indexOf('Fourth')).to.be.lessThan(begun.indexOf('Third'));
    } finally {
      await office[Symbol.asyncDispose]();
    }
  });
});

describe('security: the owner’s ceilings', () => {
  it('hold for what admins set, for what they had set before, and in direct messages', async () => {
    using folder = makeFolder();
    await using host = await createTestHost({ plugins: ['admin', 'ai', 'persona', 'tasks'], configDir: folder.path });
    const catalog = host.resolve(SettingsCatalog);
    const owner = { userId: host.you.id, guildId: host.guild.id, channelId: host.general.id };
    const refusal = (plugin: string, key: string, text: string) =>
      catalog.set(plugin, key, text, owner).then(
        () => undefined,
        (error: Error) => error.message,
      );
    await catalog.set('tasks', 'maxSteps', '200', owner);
    await catalog.set('ai', 'turnsPerMinute', '0', owner);
    expect(await refusal('tasks', 'maxUsd', '9000')).to.include('at most 20');
    expect(await refusal('persona', 'model', 'the-dearest')).to.include('not one of those');
    folder.write(
      'shared.yaml',
      'allowedModels: [cheap-*]\nceilings:\n  tasks: { maxSteps: 10, maxUsd: 50 }\n  ai: { turnsPerMinute: 5 }\n  persona: { maxTokens: 9000 }\n',
    );
    await host.stop();
    await using again = await createTestHost({
      plugins: ['admin', 'ai', 'persona', 'tasks'],
      configDir: folder.path,
      world: host,
      dataDir: host.dataDir,
    });
    const later = again.resolve(SettingsCatalog);
    const value = async (plugin: string, key: string) =>
      (await later.describe(plugin, owner)).find((one) => one.key === key)?.value;
    expect(await value('tasks', 'maxSteps')).to.equal(10);
    expect(await value('ai', 'turnsPerMinute')).to.equal(5);
    expect(await value('persona', 'maxTokens')).to.equal(9000);
    await later.set('tasks', 'maxUsd', '50', owner);
    await later.set('persona', 'model', 'cheap-one', owner);
    const dm = again.alice.openDm(again.application);
    for (let number = 0; number < 6; number += 1) again.alice.say(dm, 'hello');
    await again.settled();
    expect(dm.messages.map(({ content }) => content).join('\n')).to.include('That was a lot at once');
    const { description } = (await later.describe('tasks', owner)).find(({ key }) => key === 'maxSteps') ?? {};
    expect(description).to.include('allows at most 10');
  });
});

function secondGuild(host: TestHost, name: string, ...members: LocalUser[]) {
  const guild = host.discord.createGuild({ name, owner: host.you });
  guild.invite(host.application);
  for (const member of members) guild.join(member);
  return guild;
}

/** A tool that runs until `passed` resolves, and the number of its running calls. */
function slowTool(passed: Promise<void>) {
  let running = 0;
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const plugin = definePlugin({
    manifest: { id: 'slow', version: '1.0.0', description: 'Takes its time' },
    setup({ tool }) {
      tool({
        name: 'slow',
        description: 'Takes its time',
        risk: 'read',
        input: z.object({}),
        async run() {
          running += 1;
          for (const { count, resolve } of waiting) if (running >= count) resolve();
          await passed;
          running -= 1;
          return 'done';
        },
      });
    },
  });
  return {
    plugin,
    running: () => running,
    begun: (count: number) =>
      running >= count ? Promise.resolve() : new Promise<void>((resolve) => waiting.push({ count, resolve })),
  };
}
