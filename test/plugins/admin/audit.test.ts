import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { expect } from 'chai';

describe('the audit of a server', () => {
  let host: TestHost;
  before(async () => {
    host = await createTestHost({ plugins: ['admin', 'ai', 'confirm'] });
  });
  after(() => host.stop());
  const say = async (who: TestHost['you'], text: string) => {
    who.say(host.general, text);
    await host.settled();
    return host.general.messages.at(-1);
  };
  const audit = async () => {
    const shown = host.you.slash(host.general, 'audit', { count: 50 });
    await host.settled();
    return shown.messages[0]?.content ?? '';
  };

  it('has what admins did, settings, prefixes and plugins, and what members were refused, with who and why', async () => {
    await say(host.you, '!set ai answerCharacters 500');
    await say(host.you, '!prefix add ?');
    await say(host.alice, '!prefix add $');
    await say(host.you, '!prefix add !');
    const shown = await audit();
    expect(shown)
      .to.match(new RegExp(`<@${host.you.id}> set ai answerCharacters 500$`, 'm'))
      .and.match(new RegExp(`<@${host.you.id}> prefix add \\\\??\\?$`, 'm'))
      .and.match(new RegExp(`<@${host.alice.id}> prefix add \\\\?\\$ — denied \\(.*admin`, 'm'))
      .and.match(/prefix add \\?! — refused/);
    expect(await say(host.alice, '!audit'))
      .to.have.property('content')
      .that.includes('You may not do that');
  });

  it('has acts of admins by commands that everyone may use, and of what was refused the reason without the usage', async () => {
    await say(host.you, '!ai use nope');
    await say(host.you, '!ai use default --here');
    await say(host.alice, '!ai use default');
    await say(host.you, '!tool policy');
    const shown = (await audit()).split('\n');
    expect(shown[0]).to.match(/tool policy — refused \(\\?`tool\\?` is missing\.\)$/);
    expect(shown[1]).to.match(/ai use default — denied \(.*admin/);
    expect(shown[2]).to.match(/ai use default --here$/);
    expect(shown[3]).to.match(/ai use nope — refused \(Nothing called/);
  });

  it('has it, too, when confirmations are switched off: what that means is said, and asked, before it is done', async () => {
    const question = await say(host.you, '!plugin disable confirm');
    expect(question?.content).to.include('Without it nothing that a model does here is held for a 👍');
    if (question === undefined) throw new Error('Nothing was asked.');
    expect((await say(host.you, '!plugin info confirm'))?.content).to.include('on here');
    host.you.click(question, 'Switch it off');
    await host.settled();
    expect(question.content).to.include('is off in this server now');
    expect((await say(host.you, '!plugin info confirm'))?.content).to.include('off here');
    expect(await audit()).to.include('plugin disable confirm (agreed)');
  });
});
