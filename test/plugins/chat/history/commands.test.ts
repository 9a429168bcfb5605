import { expect } from 'chai';
import { chatter, type HistoryHarness, linkTo, openHistory } from './harness.js';

describe('chat history: .history', () => {
  let room: HistoryHarness;
  beforeEach(async () => {
    room = await openHistory();
  });
  afterEach(() => room[Symbol.asyncDispose]());

  const contents = async (...args: Parameters<HistoryHarness['read']>) =>
    (await room.read(...args)).messages.map(({ content }) => content);
  const notes = async (...args: Parameters<HistoryHarness['read']>) => (await room.read(...args)).notes;

  it('alone hides everything before it', async () => {
    const { host } = room;
    host.bob.say(host.general, 'hidden');
    host.you.say(host.general, '.history');
    host.bob.say(host.general, 'seen');
    expect(await contents()).to.deep.equal(['.history', 'seen']);
    expect(await room.read()).to.include({ whole: true, restCalls: 0 });
  });

  for (const [form, textOf] of [
    ['with two links', (first: string, last: string) => `.history ${first} ${last}`],
    ['with two links the other way round', (first: string, last: string) => `.history <${last}> <${first}>`],
    ['with lines', (first: string, last: string) => `.history\n---\nlast: ${last}\nfirst: ${first}`],
  ] as const) {
    it(`${form} puts a range of another channel in the place of what was before`, async () => {
      const { host } = room;
      const other = host.guild.createChannel({ name: 'other' });
      const said = chatter(host.bob, other, 5);
      const [, first, , last] = said;
      if (!first || !last) throw new Error('nothing was said');
      host.bob.say(host.general, 'hidden');
      const command = host.you.say(host.general, textOf(linkTo(first), linkTo(last)));
      host.bob.say(host.general, 'seen');
      expect(await contents()).to.deep.equal(['message 2', 'message 3', 'message 4', command.content, 'seen']);
      expect(await room.read()).to.include({ whole: true, restCalls: 0 });
    });
  }

  it('with one link goes on from there as far back as the window reaches', async () => {
    const { host } = room;
    const other = host.guild.createChannel({ name: 'other' });
    const said = chatter(host.bob, other, 300);
    const last = said[249];
    if (!last) throw new Error('nothing was said');
    host.you.say(host.general, `.history ${linkTo(last)}`);
    const found = await contents(host.general, { limit: 100 });
    expect(found).to.have.length(100);
    expect(found.slice(0, 2)).to.deep.equal(['message 152', 'message 153']);
    expect(room.pages()).to.equal(2);
    expect(await room.read(host.general, { limit: 100 })).to.include({ whole: false, restCalls: 0 });
  });

  it('shows edits and deletions in the range, too', async () => {
    const { host } = room;
    const other = host.guild.createChannel({ name: 'other' });
    const [first, second, third] = chatter(host.bob, other, 5);
    if (!first || !second || !third) throw new Error('nothing was said');
    host.you.say(host.general, `.history ${linkTo(third)}`);
    await contents();
    host.bob.delete(first);
    host.bob.edit(second, 'edited');
    room.requests();
    expect((await contents()).slice(0, -1)).to.deep.equal(['edited', 'message 3']);
    expect(room.requests()).to.equal(0);
  });

  it('is honoured from those who have one of the roles, by name or id, or may manage messages', async () => {
    const { host } = room;
    const role = host.guild.createRole({ name: 'Keepers' });
    host.guild.giveRole(host.alice, role);
    host.bob.say(host.general, 'before');
    host.alice.say(host.general, '.history');
    expect(await contents()).to.deep.equal(['before', '.history']);
    expect(await contents(host.general, { historyRoles: ['keepers'] })).to.deep.equal(['.history']);
    expect(await contents(host.general, { historyRoles: [role.id] })).to.deep.equal(['.history']);
    const [note] = await notes();
    expect(note).to.match(/^The `\.history` of message \d+ was not followed: its author may not use it\.$/);
  });

  it('of a member who lost the role no longer counts', async () => {
    const { host } = room;
    const role = host.guild.createRole({ name: 'Keepers' });
    host.guild.giveRole(host.alice, role);
    host.bob.say(host.general, 'before');
    host.alice.say(host.general, '.history');
    expect(await contents(host.general, { historyRoles: ['Keepers'] })).to.have.length(1);
    host.guild.takeRole(host.alice, role);
    host.alice.say(host.general, 'Well?');
    expect(await contents(host.general, { historyRoles: ['Keepers'] })).to.have.length(3);
  });

  it('is not honoured from a bot, whatever it may do', async () => {
    const { host } = room;
    host.bob.say(host.general, 'before');
    host.bot.say(host.general, '.history');
    expect(await contents()).to.deep.equal(['before', '.history']);
  });

  it('shows nothing that the requester may not read', async () => {
    const { host } = room;
    const secret = host.guild.createChannel({ name: 'secret' });
    host.guild.overwrite(secret, { for: host.guild.everyone, deny: ['ViewChannel'] });
    host.guild.overwrite(secret, { for: host.bot, allow: ['ViewChannel'] });
    const hidden = host.you.say(secret, 'the secret');
    const command = host.you.say(host.general, `.history ${linkTo(hidden)}`);
    expect(await contents()).to.deep.equal([command.content]);
    expect(await notes()).to.deep.equal([
      'The target of a `.history` message is left out: it does not exist, or the member who asked or I may not read it.',
    ]);
    expect(await contents(host.general, { as: host.you })).to.deep.equal(['the secret', command.content]);
  });

  it('shows nothing that the bot may not read', async () => {
    const { host } = room;
    const secret = host.guild.createChannel({ name: 'secret' });
    const hidden = host.you.say(secret, 'the secret');
    host.guild.overwrite(secret, { for: host.bot, deny: ['ReadMessageHistory'] });
    const command = host.you.say(host.general, `.history ${linkTo(hidden)}`);
    expect(await contents(host.general, { as: host.you })).to.deep.equal([command.content]);
  });

  it('shows a private thread to those who are in it', async () => {
    const { host } = room;
    const thread = host.you.startThread(host.general, 'private', { private: true });
    host.you.say(thread, `Come in, ${host.bot} and ${host.bob}`);
    await host.settled();
    const channel = host.client.channels.cache.get(thread.id);
    if (!channel?.isThread()) throw new Error('The bot does not see the thread.');
    await channel.members.add(host.bob.id);
    const hidden = host.you.say(thread, 'among us');
    const place = host.guild.createChannel({ name: 'place' });
    const command = host.you.say(place, `.history ${linkTo(hidden)} ${linkTo(hidden)}`);
    expect(await contents(place, { as: host.alice })).to.deep.equal([command.content]);
    expect(await contents(place, { as: host.bob })).to.deep.equal(['among us', command.content]);
    room.requests();
    await contents(place, { as: host.alice });
    await contents(place, { as: host.bob });
    expect(room.requests()).to.equal(0);
  });

  it('leads to no other guild', async () => {
    const { host } = room;
    const elsewhere = host.discord.createGuild({ name: 'Elsewhere', owner: host.you });
    elsewhere.invite(host.application);
    elsewhere.join(host.alice);
    const channel = elsewhere.createChannel({ name: 'there' });
    const said = host.you.say(channel, 'in another guild');
    const forged = linkTo(said).replace(elsewhere.id, host.guild.id);
    const command = host.you.say(host.general, `.history ${linkTo(said)}`);
    expect(await contents()).to.deep.equal([command.content]);
    const other = host.you.say(host.general, `.history ${forged}`);
    expect(await contents()).to.deep.equal([other.content]);
    room.requests();
    await contents();
    expect(room.requests()).to.equal(0);
  });

  it('runs in no circles: time only goes backwards', async () => {
    const { host } = room;
    const other = host.guild.createChannel({ name: 'other' });
    host.bob.say(host.general, 'one');
    const here = host.you.say(host.general, '.history');
    const there = host.you.say(other, `.history ${linkTo(here)}`);
    host.bob.say(other, 'two');
    host.you.edit(here, `.history ${linkTo(there)}`);
    const later = host.you.say(host.general, `.history ${linkTo(here)}`);
    expect(await contents()).to.deep.equal([here.content, later.content]);
  });

  it('is followed from one to the next, but not without end', async () => {
    const { host } = room;
    let last = host.bob.say(host.general, 'the beginning');
    for (let number = 1; number <= 20; number += 1) {
      const next = host.guild.createChannel({ name: `room-${number}` });
      host.you.say(next, `.history ${linkTo(last)}`);
      last = host.bob.say(next, `in room ${number}`);
    }
    const [first] = await contents(last.channel);
    expect(first).to.match(/^\.history/);
    expect((await contents(last.channel)).filter((content) => content.startsWith('in room'))).to.have.length(16);
    expect(await notes(last.channel)).to.deep.equal([
      'The history leads through more than 16 places; the rest is left out.',
    ]);
  });

  it('that cannot be understood hides nothing, and says why', async () => {
    const { host } = room;
    const other = host.guild.createChannel({ name: 'other' });
    const [here, there] = [host.bob.say(host.general, 'before'), host.bob.say(other, 'there')];
    for (const text of [
      '.history yesterday',
      '.history https://example.com/channels/1/2/3',
      `.history\nlast: ${linkTo(here)}\nlast: ${linkTo(here)}`,
      `.history\nfrom: ${linkTo(here)}`,
      `.history ${linkTo(here)} ${linkTo(there)}`,
    ]) {
      host.you.say(host.general, text);
    }
    host.you.say(host.general, '.history-of-rome');
    expect(await contents()).to.have.length(7);
    expect((await notes()).map((note) => note.replace(/\d+/, 'N'))).to.deep.equal([
      'The `.history` of message N was not followed: its two links lead to different channels.',
      'The `.history` of message N was not followed: only `last:` and `first:` may follow.',
      'The `.history` of message N was not followed: `last:` is there twice.',
      'The `.history` of message N was not followed: it takes at most two links to messages.',
      'The `.history` of message N was not followed: it takes at most two links to messages.',
    ]);
  });

  it('takes effect when it is edited, and ends with its message', async () => {
    const { host } = room;
    host.bob.say(host.general, 'before');
    const command = host.you.say(host.general, 'hm');
    expect(await contents()).to.deep.equal(['before', 'hm']);
    host.you.edit(command, '.history');
    expect(await contents()).to.deep.equal(['.history']);
    host.you.delete(command);
    expect(await contents()).to.deep.equal(['before']);
  });

  it('in a direct message is the person’s own, and stays there', async () => {
    const { host } = room;
    const dm = host.alice.openDm(host.bot);
    host.alice.say(dm, 'before');
    const secret = host.bob.say(host.general, 'elsewhere');
    const command = host.alice.say(dm, `.history ${linkTo(secret)}`);
    await host.settled();
    expect(await contents(dm)).to.deep.equal([command.content]);
    expect(await contents(dm, { as: host.bob })).to.deep.equal([]);
  });
});

describe('chat history: permissions in the channel itself', () => {
  it('gives a member who may not read the history nothing, and says so', async () => {
    await using room = await openHistory();
    const { host } = room;
    host.bob.say(host.general, 'before alice came');
    host.guild.overwrite(host.general, { for: host.alice, deny: ['ReadMessageHistory'] });
    expect(await room.read()).to.deep.equal({
      messages: [],
      whole: true,
      restCalls: 0,
      notes: ['The member who asked may not read the history of this channel.'],
    });
    expect((await room.read(host.general, { as: host.bob })).messages).to.have.length(1);
  });

  it('says that the bot may not', async () => {
    await using room = await openHistory();
    const { host } = room;
    host.bob.say(host.general, 'hello');
    host.guild.overwrite(host.general, { for: host.bot, deny: ['ReadMessageHistory'] });
    expect((await room.read()).notes).to.deep.equal(['I may not read the history of this channel.']);
  });
});
