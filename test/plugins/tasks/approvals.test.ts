import type { LocalMessage } from '@cinnabar/local-discord';
import { callTools } from '@cinnabar/local-models';
import { definePlugin, ToolPolicies, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { done, openTaskHarness, type TaskHarness, use, useTaskHost } from './harness.js';

const HOUR_MS = 3_600_000;

describe('approvals of a task that works while I am away', () => {
  const open = useTaskHost();
  let harness: TaskHarness;

  afterEach(async () => {
    harness.llm.release();
    await harness[Symbol.asyncDispose]();
  });

  const notes = (...whats: readonly string[]) =>
    callTools(whats.map((what) => ({ name: 'send_note', arguments: { what } })));
  const waiting = async (id: string) => {
    await harness.when(id, ({ status }) => status === 'waiting_approval');
    await harness.host.settled();
  };
  const pings = ({ mentions }: LocalMessage) => mentions.users.map(({ id }) => id);
  /** Advances the time in steps, with the periodic checks. */
  const pass = async (hours: number) => {
    for (let minutes = 0; minutes < hours * 60; minutes += 30) await harness.host.advance(HOUR_MS / 2);
  };

  it('with the defaults it reads and calculates without asking me, and asks before it writes', async () => {
    harness = await open({
      steps: [
        callTools([{ name: 'calculate', arguments: { expression: '6*7' } }]),
        use('look', 'the shelf'),
        use('send_note', 'hello'),
        done('Done.'),
      ],
    });
    const { id } = await harness.give('Calculate, look, and send a note');
    await waiting(id);
    expect(JSON.stringify(harness.llm.requests[1])).to.include('42');
    expect(harness.deeds.map(({ tool }) => tool)).to.deep.equal(['look']);
    harness.host.alice.click(harness.saying(await harness.thread(id), 'hello'), 'Once');
    expect((await harness.over(id)).status).to.equal('completed');
  });

  it('asks me before it reads, too, where the server wants that, for one tool or for all', async () => {
    harness = await openTaskHarness({
      steps: [use('look', 'one'), use('look', 'two'), done('Done.')],
      plugins: ['admin'],
    });
    const { host } = harness;
    await host.resolve(ToolPolicies).set(host.guild.id, 'look', 'confirm');
    const { id } = await harness.give('Look twice');
    const thread = await harness.thread(id);
    await waiting(id);
    await host.resolve(ToolPolicies).clear(host.guild.id, 'look');
    host.you.say(host.general, '!set confirm readsInTasks false');
    await host.settled();
    host.alice.click(harness.saying(thread, 'one'), 'Once');
    await harness.when(id, ({ status, stepCount }) => status === 'waiting_approval' && stepCount === 2);
    await host.settled();
    host.alice.click(harness.saying(thread, 'two'), 'Once');
    expect((await harness.over(id)).status).to.equal('completed');
  });

  it('sends results that some members of the channel may not read only to the requester', async () => {
    const secret = { id: '' };
    const survey = definePlugin({
      manifest: { id: 'survey', version: '1.0.0', description: 'Reads', intents: ['GuildMessages', 'DirectMessages'] },
      setup: ({ tool }) =>
        tool({
          name: 'survey',
          description: 'Reads everywhere.',
          input: z.object({}),
          risk: 'read',
          sources: () => [{ guildId: harness.host.guild.id, channelId: secret.id }],
          run: () => 'The plan is a surprise party.',
        }),
    });
    harness = await openTaskHarness({
      steps: [callTools([{ name: 'survey', arguments: {} }]), done('Done.')],
      plugins: [survey],
    });
    const { host } = harness;
    const channel = host.guild.createChannel({ name: 'secret' });
    host.guild.overwrite(channel, { for: host.bob, deny: ['ViewChannel'] });
    secret.id = channel.id;
    await host.settled();
    const { id } = await harness.give('What is planned?');
    await harness.over(id);
    expect(JSON.stringify(harness.llm.requests[1])).to.not.include('surprise');
    harness.saying(host.alice.openDm(host.application), 'surprise party');
    harness.saying(await harness.thread(id), 'What it returned is in your direct messages');
  });

  it('asks for all approvals of a step at once, pings me once, and has made me a member of its thread', async () => {
    harness = await open({ steps: [notes('one', 'two', 'three'), done('Sent.')] });
    const { host } = harness;
    const { id } = await harness.give('Send three notes');
    const thread = await harness.thread(id);
    await waiting(id);
    const cards = ['one', 'two', 'three'].map((what) => harness.saying(thread, what));
    expect(cards.map(pings)).to.deep.equal([[host.alice.id], [], []]);
    expect(thread.thread?.members.has(host.alice.id)).to.equal(true);
    // Approvals can be decided in any order, each separately.
    host.alice.click(harness.saying(thread, 'three'), 'Once');
    await host.settled();
    host.alice.click(harness.saying(thread, 'one'), 'Deny');
    await host.settled();
    expect((await harness.tasks.get(id))?.status).to.equal('waiting_approval');
    host.alice.click(harness.saying(thread, 'two'), 'Once');
    expect((await harness.over(id)).status).to.equal('completed');
    expect(harness.deeds.map(({ what }) => what)).to.deep.equal(['three', 'two']);
    const told = JSON.stringify(harness.llm.requests[1]);
    expect(told).to.include('send_note did three').and.include('It was denied');
  });

  it('lets the others through that wait beside what I allow for the whole task', async () => {
    harness = await open({ steps: [notes('one', 'two', 'three'), done('Sent.')] });
    const { id } = await harness.give('Send three notes');
    await waiting(id);
    harness.host.alice.click(harness.saying(await harness.thread(id), 'one'), 'For this task');
    expect((await harness.over(id)).status).to.equal('completed');
    expect(harness.deeds.map(({ what }) => what)).to.deep.equal(['one', 'two', 'three']);
  });

  it('waits a day for my 👍, whatever I write elsewhere meanwhile, and reminds me once', async () => {
    harness = await open({ steps: [use('send_note', 'good night'), done('Sent.')] });
    const { host } = harness;
    const { id } = await harness.give('Send a note');
    const thread = await harness.thread(id);
    await waiting(id);
    const card = harness.saying(thread, 'good night');
    await pass(11);
    host.alice.say(host.general, 'Good evening everybody');
    await host.settled();
    await pass(12);
    host.alice.say(host.general, 'Good morning everybody');
    await host.settled();
    const reminders = harness.said(thread).filter(({ content }) => content.includes('still waits for your decision'));
    expect(reminders.map(pings)).to.deep.equal([[host.alice.id]]);
    host.alice.react(card, '👍');
    expect((await harness.over(id)).status).to.equal('completed');
    expect(harness.deeds.map(({ what }) => what)).to.deep.equal(['good night']);
  });

  it('does not take silence for a refusal: after a day its card expires, and the task goes on without it', async () => {
    harness = await open({ steps: [use('send_note', 'good night'), done('Not sent.')] });
    const { id } = await harness.give('Send a note');
    const thread = await harness.thread(id);
    await waiting(id);
    const card = harness.saying(thread, 'good night');
    await pass(24.5);
    expect((await harness.over(id)).status).to.equal('completed');
    expect(card.content).to.include('Request timed out');
    expect(JSON.stringify(harness.llm.requests[1])).to.include('nobody refused it: no decision was made in time');
    expect(harness.deeds).to.deep.equal([]);
  });

  it('asks me again when the confirmations were loaded anew meanwhile', async () => {
    harness = await open({ steps: [use('send_note', 'hello'), done('Sent.')] });
    const { host } = harness;
    const { id } = await harness.give('Send a note');
    const thread = await harness.thread(id);
    await waiting(id);
    await host.plugins.reload('confirm');
    await host.advance(5_000);
    await host.settled();
    host.alice.click(harness.saying(thread, 'hello'), 'Once');
    expect((await harness.over(id)).status).to.equal('completed');
    expect(harness.deeds.map(({ what }) => what)).to.deep.equal(['hello']);
  });

  it('says of a card that I left undecided when I stop it: not decided', async () => {
    harness = await open({ steps: [use('send_note', 'hello')] });
    const { id } = await harness.give('Send a note');
    const thread = await harness.thread(id);
    await waiting(id);
    harness.host.alice.say(thread, '!task stop');
    await harness.over(id);
    expect(harness.saying(thread, 'Task stopped').content).to.include('Halted: `send_note` (not decided)');
  });
});
