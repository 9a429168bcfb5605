import type { LocalMessage } from '@cinnabar/local-discord';
import { callTools } from '@cinnabar/local-models';
import { definePlugin, ToolPolicies, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { done, type Office, openOffice, use } from './office.js';

const HOUR_MS = 3_600_000;

describe('approvals of a task that works while I am away', () => {
  let office: Office;

  afterEach(async () => {
    office.llm.release();
    await office[Symbol.asyncDispose]();
  });

  const notes = (...whats: readonly string[]) =>
    callTools(whats.map((what) => ({ name: 'send_note', arguments: { what } })));
  const waiting = async (id: string) => {
    await office.when(id, ({ status }) => status === 'waiting_approval');
    await office.host.settled();
  };
  const pings = ({ mentions }: LocalMessage) => mentions.users.map(({ id }) => id);
  /** Lets time pass as it does: the sweeps run meanwhile. */
  const pass = async (hours: number) => {
    for (let minutes = 0; minutes < hours * 60; minutes += 30) await office.host.advance(HOUR_MS / 2);
  };

  it('with the defaults it reads and calculates without asking me, and asks before it writes', async () => {
    office = await openOffice({
      steps: [
        callTools([{ name: 'calculate', arguments: { expression: '6*7' } }]),
        use('look', 'the shelf'),
        use('send_note', 'hello'),
        done('Done.'),
      ],
    });
    const { id } = await office.give('Calculate, look, and send a note');
    await waiting(id);
    expect(JSON.stringify(office.llm.requests[1])).to.include('42');
    expect(office.deeds.map(({ tool }) => tool)).to.deep.equal(['look']);
    office.host.alice.click(office.saying(await office.thread(id), 'hello'), 'Once');
    expect((await office.over(id)).status).to.equal('completed');
  });

  it('asks me before it reads, too, where the server wants that, for one tool or for all', async () => {
    office = await openOffice({ steps: [use('look', 'one'), use('look', 'two'), done('Done.')], plugins: ['admin'] });
    const { host } = office;
    await host.resolve(ToolPolicies).set(host.guild.id, 'look', 'confirm');
    const { id } = await office.give('Look twice');
    const thread = await office.thread(id);
    await waiting(id);
    await host.resolve(ToolPolicies).clear(host.guild.id, 'look');
    host.you.say(host.general, '!set confirm readsInTasks false');
    await host.settled();
    host.alice.click(office.saying(thread, 'one'), 'Once');
    await office.when(id, ({ status, stepCount }) => status === 'waiting_approval' && stepCount === 2);
    await host.settled();
    host.alice.click(office.saying(thread, 'two'), 'Once');
    expect((await office.over(id)).status).to.equal('completed');
  });

  it('gives me alone what it has read that not everybody in its channel may read', async () => {
    const secret = { id: '' };
    const survey = definePlugin({
      manifest: { id: 'survey', version: '1.0.0', description: 'Reads', intents: ['GuildMessages', 'DirectMessages'] },
      setup: ({ tool }) =>
        tool({
          name: 'survey',
          description: 'Reads everywhere.',
          input: z.object({}),
          risk: 'read',
          sources: () => [{ guildId: office.host.guild.id, channelId: secret.id }],
          run: () => 'The plan is a surprise party.',
        }),
    });
    office = await openOffice({
      steps: [callTools([{ name: 'survey', arguments: {} }]), done('Done.')],
      plugins: [survey],
    });
    const { host } = office;
    const channel = host.guild.createChannel({ name: 'secret' });
    host.guild.overwrite(channel, { for: host.bob, deny: ['ViewChannel'] });
    secret.id = channel.id;
    await host.settled();
    const { id } = await office.give('What is planned?');
    await office.over(id);
    expect(JSON.stringify(office.llm.requests[1])).to.not.include('surprise');
    office.saying(host.alice.openDm(host.application), 'surprise party');
    office.saying(await office.thread(id), 'What it returned is in your direct messages');
  });

  it('asks for all approvals of a step at once, pings me once, and has made me a member of its thread', async () => {
    office = await openOffice({ steps: [notes('one', 'two', 'three'), done('Sent.')] });
    const { host } = office;
    const { id } = await office.give('Send three notes');
    const thread = await office.thread(id);
    await waiting(id);
    const cards = ['one', 'two', 'three'].map((what) => office.saying(thread, what));
    expect(cards.map(pings)).to.deep.equal([[host.alice.id], [], []]);
    expect(thread.thread?.members.has(host.alice.id)).to.equal(true);
    // In any order, and each by itself.
    host.alice.click(office.saying(thread, 'three'), 'Once');
    await host.settled();
    host.alice.click(office.saying(thread, 'one'), 'Deny');
    await host.settled();
    expect((await office.tasks.get(id))?.status).to.equal('waiting_approval');
    host.alice.click(office.saying(thread, 'two'), 'Once');
    expect((await office.over(id)).status).to.equal('completed');
    expect(office.deeds.map(({ what }) => what)).to.deep.equal(['three', 'two']);
    const told = JSON.stringify(office.llm.requests[1]);
    expect(told).to.include('send_note did three').and.include('It was denied');
  });

  it('lets the others through that wait beside what I allow for the whole task', async () => {
    office = await openOffice({ steps: [notes('one', 'two', 'three'), done('Sent.')] });
    const { id } = await office.give('Send three notes');
    await waiting(id);
    office.host.alice.click(office.saying(await office.thread(id), 'one'), 'For this task');
    expect((await office.over(id)).status).to.equal('completed');
    expect(office.deeds.map(({ what }) => what)).to.deep.equal(['one', 'two', 'three']);
  });

  it('waits a day for my 👍, whatever I write elsewhere meanwhile, and reminds me once', async () => {
    office = await openOffice({ steps: [use('send_note', 'good night'), done('Sent.')] });
    const { host } = office;
    const { id } = await office.give('Send a note');
    const thread = await office.thread(id);
    await waiting(id);
    const card = office.saying(thread, 'good night');
    await pass(11);
    host.alice.say(host.general, 'Good evening everybody');
    await host.settled();
    await pass(12);
    host.alice.say(host.general, 'Good morning everybody');
    await host.settled();
    const reminders = office.said(thread).filter(({ content }) => content.includes('still waits for your decision'));
    expect(reminders.map(pings)).to.deep.equal([[host.alice.id]]);
    host.alice.react(card, '👍');
    expect((await office.over(id)).status).to.equal('completed');
    expect(office.deeds.map(({ what }) => what)).to.deep.equal(['good night']);
  });

  it('takes my silence for no refusal: after a day its card is over, and it goes on without', async () => {
    office = await openOffice({ steps: [use('send_note', 'good night'), done('Not sent.')] });
    const { id } = await office.give('Send a note');
    const thread = await office.thread(id);
    await waiting(id);
    const card = office.saying(thread, 'good night');
    await pass(24.5);
    expect((await office.over(id)).status).to.equal('completed');
    expect(card.content).to.include('Request timed out');
    expect(JSON.stringify(office.llm.requests[1])).to.include('nobody refused it: no decision was made in time');
    expect(office.deeds).to.deep.equal([]);
  });

  it('asks me again when the confirmations were loaded anew meanwhile', async () => {
    office = await openOffice({ steps: [use('send_note', 'hello'), done('Sent.')] });
    const { host } = office;
    const { id } = await office.give('Send a note');
    const thread = await office.thread(id);
    await waiting(id);
    await host.plugins.reload('confirm');
    await host.advance(5_000);
    await host.settled();
    host.alice.click(office.saying(thread, 'hello'), 'Once');
    expect((await office.over(id)).status).to.equal('completed');
    expect(office.deeds.map(({ what }) => what)).to.deep.equal(['hello']);
  });

  it('says of a card that I left undecided when I stop it: not decided', async () => {
    office = await openOffice({ steps: [use('send_note', 'hello')] });
    const { id } = await office.give('Send a note');
    const thread = await office.thread(id);
    await waiting(id);
    office.host.alice.say(thread, '!task stop');
    await office.over(id);
    expect(office.saying(thread, 'Task stopped').content).to.include('Halted: `send_note` (not decided)');
  });
});
