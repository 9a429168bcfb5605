import { createTestHost } from '@cinnabar/core/testing';
import { hang, say, scriptedLlm } from '@cinnabar/local-models';
import { expect } from 'chai';

describe('chat: dot messages, `.config` and `.history`', () => {
  it('never start a turn: by mention, reply, name or in a direct message', async () => {
    const llm = scriptedLlm(() => say('Fine.'));
    await using host = await createTestHost({ plugins: ['admin', 'ai', 'chat', llm] });
    host.you.say(host.general, '!set chat replyOnName true');
    host.alice.say(host.general, `${host.bot} Hello`);
    await host.settled();
    const [answer] = host.general.messages.filter(({ content }) => content === 'Fine.');
    if (answer === undefined) throw new Error('there is no answer');
    const before = llm.requests.length;
    host.alice.say(host.general, `. ${host.bot} what a bot`);
    host.alice.say(host.general, '.Cinnabar is odd');
    host.alice.say(host.general, '.config\nname: x', { replyTo: answer });
    host.alice.say(host.alice.openDm(host.bot), '.history');
    await host.settled();
    expect(llm.requests).to.have.length(before);
  });

  it('do not begin with an ellipsis: three dots or more are words like any other', async () => {
    const llm = scriptedLlm(() => say('Fine.'));
    await using host = await createTestHost({ plugins: ['ai', 'chat', llm] });
    host.bob.say(host.general, '.... the code is 1234');
    host.alice.say(host.general, `... well, ${host.bot}, hi`);
    await host.settled();
    expect(llm.requests).to.have.length(1);
    expect(JSON.stringify(llm.requests[0]?.messages)).to.include('1234').and.include('... well');
  });

  it('are in no request, whatever emoji is under them', async () => {
    const llm = scriptedLlm(() => say('Fine.'));
    await using host = await createTestHost({ plugins: ['ai', 'chat', llm] });
    const config = host.alice.say(host.general, '.config\nmaxImages: 1');
    const aside = host.alice.say(host.general, '.between us');
    host.bob.react(config, '👁️‍🗨️');
    await host.settled();
    host.alice.say(host.general, '!ai Hello');
    await host.settled();
    expect(JSON.stringify(llm.requests[0]?.messages)).to.not.include('maxImages').and.not.include(aside.content);
  });

  it('take a question back that is edited into one', async () => {
    const llm = scriptedLlm([hang()]);
    await using host = await createTestHost({ plugins: ['ai', 'chat', llm] });
    const question = host.alice.say(host.general, `${host.bot} Hello`);
    await llm.hanging();
    host.alice.edit(question, `.${host.bot} Hello`);
    await host.settled();
    expect(llm.requests[0]?.signal?.aborted).to.equal(true);
    expect(host.general.messages).to.have.length(1);
  });

  it('say once in the channel why a `.history` is refused, and no model reads that', async () => {
    const llm = scriptedLlm(() => say('Fine.'));
    await using host = await createTestHost({ plugins: ['ai', 'chat', llm] });
    const secret = host.guild.createChannel({ name: 'secret' });
    host.guild.overwrite(secret, { for: host.bot, deny: ['ReadMessageHistory'] });
    const hidden = host.you.say(secret, 'hidden');
    const link = `https://discord.com/channels/${host.guild.id}/${secret.id}/${hidden.id}`;
    for (const text of ['.history', '.history', '.historyless']) host.alice.say(host.general, text);
    for (const text of ['.history', '.history what']) host.you.say(host.general, text);
    await host.settled();
    host.clock.advance(61_000);
    host.you.say(host.general, `.history ${link}`);
    await host.settled();
    const told = host.general.messages.filter(({ author }) => author.id === host.bot.id);
    expect(told.map(({ content }) => content.replace(/[^\x20-\x7e]/g, ''))).to.have.members([
      'I do not follow this `.history`: it takes the permission to manage messages here, or a role that the admins have chosen for it.',
      'I do not follow this `.history`: it takes at most two links to messages.',
      'This `.history` has no effect: the target of its link does not exist, or you or I may not read it.',
    ]);
    host.alice.say(host.general, '!ai Hello');
    await host.settled();
    expect(JSON.stringify(llm.requests[0]?.messages))
      .to.not.include('I do not follow')
      .and.not.include('leads nowhere');
  });
});
