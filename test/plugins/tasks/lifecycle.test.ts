import type { LocalUser } from '@cinnabar/local-discord';
import { callTool, hang, say } from '@cinnabar/local-models';
import { Llm, PersonalDataStore, Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import { askUser, done, isOver, type Office, openOffice, use } from './office.js';

describe('tasks in a server', () => {
  let office: Office;

  afterEach(async () => {
    office.llm.release();
    await office[Symbol.asyncDispose]();
  });

  const asked = (id: string) => office.when(id, ({ pendingQuestion }) => pendingQuestion !== undefined);

  it('wait in order when there is no room, with their place shown, and go on one after another', async () => {
    office = await openOffice({ steps: [hang(done('One.')), done('Two.'), done('Three.')] });
    const { host } = office;
    await office.configure('perMember', '1');
    const first = await office.give('First');
    await office.llm.hanging();
    const [second, third] = [await office.give('Second'), await office.give('Third')];
    await host.advance(1_000);
    expect([(await office.tasks.get(second.id))?.place, (await office.tasks.get(third.id))?.place]).to.deep.equal([
      1, 2,
    ]);
    expect(office.saying(host.general, 'Third').content).to.include('waiting for room, place 2');
    office.llm.release();
    for (const { id } of [first, second, third]) await office.when(id, isOver);
    await office.over(third.id);
    const begun = office.llm.requests.map(({ messages }) => /First|Second|Third/.exec(JSON.stringify(messages))?.[0]);
    expect(begun).to.deep.equal(['First', 'Second', 'Third']);
  });

  it('take no room while they wait for somebody', async () => {
    office = await openOffice({ steps: [askUser('Well?'), done('Done.')] });
    await office.configure('perMember', '1');
    const waiting = await office.give('Ask me');
    await asked(waiting.id);
    const other = await office.give('Be quick');
    await office.over(other.id);
    expect((await office.tasks.get(waiting.id))?.status).to.equal('waiting_user');
  });

  it('are listed with links, running ones first', async () => {
    office = await openOffice({ steps: [done('Done.'), askUser('Well?')] });
    const { host } = office;
    const ended = await office.give('The first one');
    await office.over(ended.id);
    const open = await office.give('The second one');
    await asked(open.id);
    host.bob.say(host.general, '!tasks');
    await host.settled();
    const list = office.saying(host.general, 'The first one').content.split('\n');
    expect(list[0]).to.include('The second one').and.include('waiting for an answer').and.include(open.link);
    expect(list[1]).to.include('The first one').and.include('complete').and.include(ended.link);
  });

  it('are not listed for who may not see where they are', async () => {
    office = await openOffice({ steps: [done('Done.')] });
    const { host } = office;
    const secret = host.guild.createChannel({ name: 'secret' });
    host.guild.overwrite(secret, { for: host.bob, deny: ['ViewChannel'] });
    await host.settled();
    const actor = { ...office.actor(), channelId: secret.id };
    const { id } = await office.tasks.start({ prompt: 'A surprise for bob', actor, origin: 'test' });
    await office.over(id);
    const listFor = async (who: LocalUser) => {
      who.say(host.general, '!tasks');
      await host.settled();
      return office.said(host.general).at(-1)?.content ?? '';
    };
    expect(await listFor(host.bob)).to.equal('There are no tasks here.');
    // Bob reads what alice is answered in #general, but not what she alone is shown.
    expect(await listFor(host.alice))
      .to.include('`/tasks` shows them to you alone')
      .and.not.include('A surprise');
    const alone = host.alice.slash(host.general, 'tasks');
    await host.settled();
    expect(alone.response?.content).to.include('A surprise for bob');
  });

  it('pause when the plugin is switched off, and go on when it is switched on again', async () => {
    office = await openOffice({
      steps: [use('look', 'one'), hang(use('look', 'two')), use('look', 'three'), done('All.')],
    });
    const { host } = office;
    const { id } = await office.give('Look');
    await office.llm.hanging();
    await host.plugins.disable(host.guild.id, 'tasks');
    office.llm.release();
    await office.when(id, ({ status }) => status === 'paused');
    expect(office.deeds).to.have.length(1);
    await host.plugins.enable(host.guild.id, 'tasks');
    await host.advance(10_000);
    const { status } = await office.over(id);
    expect(status).to.equal('completed');
    expect(office.deeds).to.have.length(3);
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
    office = await openOffice({
      steps: [use('stamp', 'one'), done('One.')],
      onDeed() {
        begun();
        return held;
      },
    });
    const { host } = office;
    const { id } = await office.give('Stamp one');
    await running;
    await host.plugins.reload('tasks');
    release();
    const { status, unknowns } = await office.over(id);
    expect([status, unknowns]).to.deep.equal(['completed', []]);
    expect(office.deeds).to.have.length(1);
    expect(JSON.stringify(office.llm.requests[1])).to.include('stamp did one');
  });

  it('end when who asked for them has left', async () => {
    office = await openOffice({ steps: [askUser('Well?')] });
    const { host } = office;
    const { id } = await office.give('Ask me');
    await asked(id);
    await host.settled();
    host.guild.remove(host.alice);
    await host.settled();
    await host.advance(300_000);
    await host.advance(10_000);
    const { status, ending } = await office.over(id);
    expect(status).to.equal('cancelled');
    expect(ending).to.include('has left');
  });

  it('end when who asked for them may not write there any more, and that is still so a little later', async () => {
    office = await openOffice({ steps: [askUser('Well?')] });
    const { host } = office;
    const { id } = await office.give('Ask me');
    await asked(id);
    await host.settled();
    host.guild.overwrite(host.general, { for: host.alice, deny: ['SendMessagesInThreads'] });
    await host.settled();
    await host.advance(10_000);
    expect((await office.tasks.get(id))?.status).to.equal('waiting_user');
    await host.advance(10_000);
    const { status, ending } = await office.over(id);
    expect(status).to.equal('cancelled');
    expect(ending).to.include('may not have it done here any more');
  });

  it('are part of what a member can export and have forgotten', async () => {
    office = await openOffice({ steps: [askUser('Well?'), askUser('And you?')] });
    const { host } = office;
    const { id } = await office.give('A private matter');
    await asked(id);
    const other = await office.give('Of bob', host.bob);
    await asked(other.id);
    const store = host.resolve(PersonalDataStore);
    expect(JSON.stringify(await store.export(host.alice.id)))
      .to.include('A private matter')
      .and.not.include('Of bob');
    await host.settled();
    const forgotten = store.forget(host.alice.id);
    await office.when(id, isOver);
    await host.discord.settled();
    host.clock.advance(1_000);
    await forgotten;
    expect(await office.tasks.get(id)).to.equal(undefined);
    expect((await office.tasks.get(other.id))?.status).to.equal('waiting_user');
  });

  it('are exported without what the model wrote after it had read where the member may not read any more', async () => {
    const ids = { staff: '' };
    office = await openOffice({
      plugins: ['admin', 'discord-tools'],
      steps: () =>
        office.llm.requests.length === 1
          ? callTool('discord_read_messages', { channelId: ids.staff })
          : done('In short: no zebra.'),
    });
    const { host } = office;
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
    const { id } = await office.give('Sum it up');
    await office.over(id);
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
    office = await openOffice({ steps: [done('Done.')], plugins: ['ai'] });
    const { host } = office;
    host.you.say(host.general, '!ai use tasks --here');
    await host.settled();
    host.alice.say(host.general, `${host.bot} tidy up`);
    await host.discord.expectMessage({ content: /Task complete/ });
    const [task] = await office.tasks.list({ guildId: host.guild.id });
    expect([task?.originalPrompt, task?.actor.userId]).to.deep.equal(['tidy up', host.alice.id]);
  });

  it('are begun or not by the first answer of the model where the responder is `tasks-auto`', async () => {
    office = await openOffice({
      steps: [say('It is noon.'), callTool('begin_task', { goal: 'Tidy everything up' }), done('Done.')],
      plugins: ['ai'],
    });
    const { host } = office;
    host.you.say(host.general, '!ai use tasks-auto --here');
    await host.settled();
    host.alice.say(host.general, `${host.bot} what time is it?`);
    await host.settled();
    office.saying(host.general, 'It is noon.');
    expect(await office.tasks.list({})).to.have.length(0);
    host.alice.say(host.general, `${host.bot} tidy up`);
    await host.discord.expectMessage({ content: /Task complete/ });
    expect((await office.tasks.list({}))[0]?.originalPrompt).to.equal('Tidy everything up');
  });

  it('can be started by any mind, with the approval of the member', async () => {
    office = await openOffice({ steps: [done('Done.')] });
    const { host } = office;
    const actor = office.actor();
    const request = { name: 'start_task', arguments: { goal: 'Tidy up' }, actor, origin: 'chat' };
    const outcome = await host.resolve(Tools).invoke(request);
    if (outcome.status !== 'deferred') throw new Error(`it was ${outcome.status}`);
    await host.settled();
    host.alice.react(office.saying(host.general, 'start a task: Tidy up'), '👍');
    const settled = await outcome.settled;
    expect(settled.status === 'done' ? settled.text : '').to.include('The task has begun, it is not done yet');
    await host.discord.expectMessage({ content: /Task complete/ });
  });

  it('cannot start tasks themselves', async () => {
    office = await openOffice({ steps: [callTool('start_task', { goal: 'More' }), done('Done.')] });
    const { id } = await office.give('Multiply');
    await office.over(id);
    expect(await office.tasks.list({})).to.have.length(1);
    expect(JSON.stringify(office.llm.requests[0]?.tools)).to.not.include('start_task');
  });

  it('work in the channel where there can be no thread, and in direct messages', async () => {
    office = await openOffice({ steps: [say('Here I am.'), done('Done.'), done('Done, too.')] });
    const { host } = office;
    host.guild.overwrite(host.general, { for: host.bot, deny: ['CreatePublicThreads'] });
    await host.settled();
    const { id } = await office.give('Stay here');
    await office.over(id);
    office.saying(host.general, 'Here I am.');
    office.saying(host.general, 'Task complete');
    const direct = host.alice.openDm(host.application);
    host.alice.say(direct, '!task In private');
    await host.discord.expectMessage({ channel: direct, content: /Task complete/ });
  });

  it('say why, and begin nothing, where the bot may not write or nothing is asked', async () => {
    office = await openOffice({});
    const { host } = office;
    const refused = await office.tasks.start({ prompt: '  ', actor: office.actor(), origin: 'test' }).catch(String);
    expect(refused).to.include('What is the task?');
    host.guild.overwrite(host.general, { for: host.bot, deny: ['SendMessages'] });
    await host.settled();
    const mute = await office.tasks.start({ prompt: 'Speak', actor: office.actor(), origin: 'test' }).catch(String);
    expect(mute).to.include('I may not write in the channel of this task');
    expect(await office.tasks.list({})).to.have.length(0);
    expect(host.resolve(Llm).current.provider).to.equal('scripted');
  });
});
