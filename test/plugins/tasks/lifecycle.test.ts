import type { LocalUser } from '@cinnabar/local-discord';
import { callTool, hang, say } from '@cinnabar/local-models';
import { Llm, PersonalDataStore, Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import { askUser, done, isOver, openTaskHarness, type TaskHarness, use, useTaskHost } from './harness.js';

describe('tasks in a server', () => {
  const open = useTaskHost();
  let harness: TaskHarness;

  afterEach(async () => {
    harness.llm.release();
    await harness[Symbol.asyncDispose]();
  });

  const asked = (id: string) => harness.when(id, ({ pendingQuestion }) => pendingQuestion !== undefined);

  it('wait in order when there is no room, with their place shown, and go on one after another', async () => {
    harness = await open({ steps: [hang(done('One.')), done('Two.'), done('Three.')] });
    const { host } = harness;
    await harness.configure('perMember', '1');
    const first = await harness.give('First');
    await harness.llm.hanging();
    const [second, third] = [await harness.give('Second'), await harness.give('Third')];
    await host.advance(1_000);
    expect([(await harness.tasks.get(second.id))?.place, (await harness.tasks.get(third.id))?.place]).to.deep.equal([
      1, 2,
    ]);
    expect(harness.saying(host.general, 'Third').content).to.include('waiting for room, place 2');
    harness.llm.release();
    for (const { id } of [first, second, third]) await harness.when(id, isOver);
    await harness.over(third.id);
    const begun = harness.llm.requests.map(({ messages }) => /First|Second|Third/.exec(JSON.stringify(messages))?.[0]);
    expect(begun).to.deep.equal(['First', 'Second', 'Third']);
  });

  it('occupy no slot while they wait for a person', async () => {
    harness = await open({ steps: [askUser('Well?'), done('Done.')] });
    await harness.configure('perMember', '1');
    const waiting = await harness.give('Ask me');
    await asked(waiting.id);
    const other = await harness.give('Be quick');
    await harness.over(other.id);
    expect((await harness.tasks.get(waiting.id))?.status).to.equal('waiting_user');
  });

  it('are listed with links, running ones first', async () => {
    harness = await open({ steps: [done('Done.'), askUser('Well?')] });
    const { host } = harness;
    const ended = await harness.give('The first one');
    await harness.over(ended.id);
    const inProgress = await harness.give('The second one');
    await asked(inProgress.id);
    host.bob.say(host.general, '!tasks');
    await host.settled();
    const list = harness.saying(host.general, 'The first one').content.split('\n');
    expect(list[0]).to.include('The second one').and.include('waiting for an answer').and.include(inProgress.link);
    expect(list[1]).to.include('The first one').and.include('complete').and.include(ended.link);
  });

  it('are not listed for who may not see where they are', async () => {
    harness = await open({ steps: [done('Done.')] });
    const { host } = harness;
    const secret = host.guild.createChannel({ name: 'secret' });
    host.guild.overwrite(secret, { for: host.bob, deny: ['ViewChannel'] });
    await host.settled();
    const actor = { ...harness.actor(), channelId: secret.id };
    const { id } = await harness.tasks.start({ prompt: 'A surprise for bob', actor, origin: 'test' });
    await harness.over(id);
    const listFor = async (who: LocalUser) => {
      who.say(host.general, '!tasks');
      await host.settled();
      return harness.said(host.general).at(-1)?.content ?? '';
    };
    expect(await listFor(host.bob)).to.equal('There are no tasks here.');
    // Bob can read the answers to alice in #general, but not her ephemeral ones.
    expect(await listFor(host.alice))
      .to.include('`/tasks` shows them to you alone')
      .and.not.include('A surprise');
    const alone = host.alice.slash(host.general, 'tasks');
    await host.settled();
    expect(alone.response?.content).to.include('A surprise for bob');
  });

  it('pause when the plugin is switched off, and go on when it is switched on again', async () => {
    harness = await open({
      steps: [use('look', 'one'), hang(use('look', 'two')), use('look', 'three'), done('All.')],
    });
    const { host } = harness;
    const { id } = await harness.give('Look');
    await harness.llm.hanging();
    await host.plugins.disable(host.guild.id, 'tasks');
    harness.llm.release();
    await harness.when(id, ({ status }) => status === 'paused');
    expect(harness.deeds).to.have.length(1);
    await host.plugins.enable(host.guild.id, 'tasks');
    await host.advance(10_000);
    const { status } = await harness.over(id);
    expect(status).to.equal('completed');
    expect(harness.deeds).to.have.length(3);
  });

  it('go on after the plugin was loaded again, in the middle of whatever they did', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let begun = () => {};
    const running = new Promise<void>((resolve) => {
      begun = resolve;
    });
    harness = await open({
      steps: [use('stamp', 'one'), done('One.')],
      onDeed() {
        begun();
        return held;
      },
    });
    const { host } = harness;
    const { id } = await harness.give('Stamp one');
    await running;
    await host.plugins.reload('tasks');
    release();
    const { status, unknowns } = await harness.over(id);
    expect([status, unknowns]).to.deep.equal(['completed', []]);
    expect(harness.deeds).to.have.length(1);
    expect(JSON.stringify(harness.llm.requests[1])).to.include('stamp did one');
  });

  it('end when who asked for them has left', async () => {
    harness = await open({ steps: [askUser('Well?')] });
    const { host } = harness;
    const { id } = await harness.give('Ask me');
    await asked(id);
    await host.settled();
    host.guild.remove(host.alice);
    await host.settled();
    await host.advance(300_000);
    await host.advance(10_000);
    const { status, ending } = await harness.over(id);
    expect(status).to.equal('cancelled');
    expect(ending).to.include('has left');
  });

  it('end when who asked for them may not write there any more, and that is still so a little later', async () => {
    harness = await open({ steps: [askUser('Well?')] });
    const { host } = harness;
    const { id } = await harness.give('Ask me');
    await asked(id);
    await host.settled();
    host.guild.overwrite(host.general, { for: host.alice, deny: ['SendMessagesInThreads'] });
    await host.settled();
    await host.advance(10_000);
    expect((await harness.tasks.get(id))?.status).to.equal('waiting_user');
    await host.advance(10_000);
    const { status, ending } = await harness.over(id);
    expect(status).to.equal('cancelled');
    expect(ending).to.include('may not have it done here any more');
  });

  it('are part of what a member can export and have forgotten', async () => {
    harness = await open({ steps: [askUser('Well?'), askUser('And you?')] });
    const { host } = harness;
    const { id } = await harness.give('A private matter');
    await asked(id);
    const other = await harness.give('Of bob', host.bob);
    await asked(other.id);
    const store = host.resolve(PersonalDataStore);
    expect(JSON.stringify(await store.export(host.alice.id)))
      .to.include('A private matter')
      .and.not.include('Of bob');
    await host.settled();
    const forgotten = store.forget(host.alice.id);
    await harness.when(id, isOver);
    await host.discord.settled();
    host.clock.advance(1_000);
    await forgotten;
    expect(await harness.tasks.get(id)).to.equal(undefined);
    expect((await harness.tasks.get(other.id))?.status).to.equal('waiting_user');
  });

  it('are exported without what the model wrote after it had read where the member may not read any more', async () => {
    const ids = { staff: '' };
    harness = await openTaskHarness({
      plugins: ['admin', 'discord-tools'],
      steps: () =>
        harness.llm.requests.length === 1
          ? callTool('discord_read_messages', { channelId: ids.staff })
          : done('In short: no zebra.'),
    });
    const { host } = harness;
    const role = host.guild.createRole({ name: 'Staff' });
    const staff = host.guild.createChannel({
      name: 'staff',
      overwrites: [
        { for: host.guild.everyone, deny: ['ViewChannel'] },
        { for: role, allow: ['ViewChannel', 'ReadMessageHistory'] },
        { for: host.bot, allow: ['ViewChannel', 'ReadMessageHistory'] },
      ],
    });
    ids.staff = staff.id;
    host.guild.giveRole(host.alice, role);
    host.you.say(staff, 'the plan is off');
    host.you.say(host.general, '!set confirm require destructive');
    await host.settled();
    const { id } = await harness.give('Sum it up');
    await harness.over(id);
    const exported = async () => JSON.stringify(await host.resolve(PersonalDataStore).export(host.alice.id));
    expect(await exported())
      .to.include('the plan is off')
      .and.include('no zebra');
    host.guild.takeRole(host.alice, role);
    await host.settled();
    await host.advance(10_000);
    expect(await exported())
      .to.include('Sum it up')
      .and.not.match(/the plan is off|no zebra/);
  });

  it('are what a channel turns everything into whose responder is `tasks`', async () => {
    harness = await openTaskHarness({ steps: [done('Done.')], plugins: ['ai'] });
    const { host } = harness;
    host.you.say(host.general, '!ai use tasks --here');
    await host.settled();
    host.alice.say(host.general, `${host.bot} tidy up`);
    await host.discord.expectMessage({ content: /Task complete/ });
    const [task] = await harness.tasks.list({ guildId: host.guild.id });
    expect([task?.originalPrompt, task?.actor.userId]).to.deep.equal(['tidy up', host.alice.id]);
  });

  it('are begun or not by the first answer of the model where the responder is `tasks-auto`', async () => {
    harness = await openTaskHarness({
      steps: [say('It is noon.'), callTool('begin_task', { goal: 'Tidy everything up' }), done('Done.')],
      plugins: ['ai'],
    });
    const { host } = harness;
    host.you.say(host.general, '!ai use tasks-auto --here');
    await host.settled();
    host.alice.say(host.general, `${host.bot} what time is it?`);
    await host.settled();
    harness.saying(host.general, 'It is noon.');
    expect(await harness.tasks.list({ guildId: harness.host.guild.id })).to.have.length(0);
    host.alice.say(host.general, `${host.bot} tidy up`);
    await host.discord.expectMessage({ content: /Task complete/ });
    expect((await harness.tasks.list({ guildId: harness.host.guild.id }))[0]?.originalPrompt).to.equal(
      'Tidy everything up',
    );
  });

  it('can be started by any mind, with the approval of the member', async () => {
    harness = await open({ steps: [done('Done.')] });
    const { host } = harness;
    const actor = harness.actor();
    const request = { name: 'start_task', arguments: { goal: 'Tidy up' }, actor, origin: 'chat' };
    const outcome = await host.resolve(Tools).invoke(request);
    if (outcome.status !== 'deferred') throw new Error(`it was ${outcome.status}`);
    await host.settled();
    host.alice.react(harness.saying(host.general, 'start a task: Tidy up'), '👍');
    const settled = await outcome.settled;
    expect(settled.status === 'done' ? settled.text : '').to.include('The task has begun, it is not done yet');
    await host.discord.expectMessage({ content: /Task complete/ });
  });

  it('cannot start tasks themselves', async () => {
    harness = await open({ steps: [callTool('start_task', { goal: 'More' }), done('Done.')] });
    const { id } = await harness.give('Multiply');
    await harness.over(id);
    expect(await harness.tasks.list({ guildId: harness.host.guild.id })).to.have.length(1);
    expect(JSON.stringify(harness.llm.requests[0]?.tools)).to.not.include('start_task');
  });

  it('work in the channel where there can be no thread, and in direct messages', async () => {
    harness = await open({ steps: [say('Here I am.'), done('Done.'), done('Done, too.')] });
    const { host } = harness;
    host.guild.overwrite(host.general, { for: host.bot, deny: ['CreatePublicThreads'] });
    await host.settled();
    const { id } = await harness.give('Stay here');
    await harness.over(id);
    harness.saying(host.general, 'Here I am.');
    harness.saying(host.general, 'Task complete');
    const direct = host.alice.openDm(host.application);
    host.alice.say(direct, '!task In private');
    await host.discord.expectMessage({ channel: direct, content: /Task complete/ });
  });

  it('say why, and begin nothing, where the bot may not write or nothing is asked', async () => {
    harness = await open({});
    const { host } = harness;
    const refused = await harness.tasks.start({ prompt: '  ', actor: harness.actor(), origin: 'test' }).catch(String);
    expect(refused).to.include('What is the task?');
    host.guild.overwrite(host.general, { for: host.bot, deny: ['SendMessages'] });
    await host.settled();
    const mute = await harness.tasks.start({ prompt: 'Speak', actor: harness.actor(), origin: 'test' }).catch(String);
    expect(mute).to.include('I may not write in the channel of this task');
    expect(await harness.tasks.list({ guildId: harness.host.guild.id })).to.have.length(0);
    expect(host.resolve(Llm).current.provider).to.equal('scripted');
  });
});
