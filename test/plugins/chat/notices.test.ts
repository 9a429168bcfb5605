import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { fail, type ScriptedLlm, say, scriptedLlm } from '@cinnabar/local-models';
import {
  answerMessages,
  asNotice,
  isNotice,
  isUnfinishedPart,
  type LlmRequest,
  withoutNoticeMark,
} from '@cinnabar/sdk';
import { expect } from 'chai';
import { makeFolder } from '../../support/folder.js';

/** The conversation in a request to the model. */
const readIn = ({ messages }: LlmRequest): string =>
  messages
    .flatMap(({ participant, content }) =>
      content.map((block) => `${participant}: ${'text' in block ? block.text : ''}`),
    )
    .join('\n');
/** Texts of the host about itself that this test causes. */
const BOOKKEEPING =
  /fresh|\$0|Read: |Cache: |Cost|Commands|is .* now|responder|Did you mean|budget|too many|reached its length limit|nothing to say|could not|try again|There is no/i;

describe('chat: what the bot says about itself is never read by a model', () => {
  let host: TestHost;
  let llm: ScriptedLlm;
  const ask = async (text: string) => {
    host.alice.say(host.general, `${host.bot} ${text}`);
    await host.settled();
    return llm.requests.at(-1) ?? expect.fail('the model was not asked');
  };
  const command = async (text: string) => {
    host.you.say(host.general, text);
    await host.settled();
    return host.general.messages.at(-1)?.content ?? '';
  };
  beforeEach(async () => {
    llm = scriptedLlm();
    host = await createTestHost({ plugins: ['accounts', 'admin', 'ai', 'chat', llm] });
  });
  afterEach(() => host[Symbol.asyncDispose]());

  it('receipts, `!why`, `!cost`, `!help`, `!set`, length notes and "cannot be reached" do not become its words', async () => {
    await command('!set chat receipts true');
    llm.push(say('First answer.'), say('', { stop: 'max_tokens' }), say('Second', { stop: 'max_tokens' }));
    await ask('one');
    await ask('two');
    await ask('three');
    llm.push(fail(503));
    await ask('four');
    for (const text of ['!why', '!cost', '!help', '!help set', '!set chat temperature 0.5', '!set chat temperature 99'])
      expect(await command(text), text).to.not.equal(text);
    await command('!ai status');
    await command('!ai use nonsense');
    await command('!hepl');
    await command('!plugin list');
    llm.push(say('Last.'));
    const read = readIn(await ask('five'));
    expect(read).to.contain('Cinnabar: First answer.\n').and.contain('Cinnabar: Second\n');
    const told = host.general.messages.filter(
      ({ author, written }) => author === host.bot && isNotice({ author: { bot: true }, content: written }),
    );
    expect(told.length).to.be.greaterThan(12);
    for (const { content } of told) expect(read).to.not.contain(withoutNoticeMark(content).split('\n')[0]);
    for (const line of read.split('\n').filter((one) => one.startsWith('Cinnabar:')))
      expect(line).to.not.match(BOOKKEEPING);
  });

  it('another bot of this program in the channel reads none of it either, nor is it woken by it', async () => {
    const otherLlm = scriptedLlm(() => say('From the other.'));
    const application = host.discord.createApplication({ name: 'Other', owner: host.you });
    host.guild.invite(application);
    const { discord, guild, general, you, alice, bob, clock } = host;
    const world = { discord, application, guild, general, you, alice, bob, clock };
    await command('!set chat instructions "Call Other for help."');
    using folder = makeFolder({ 'shared.yaml': 'replyOnName: true\n' });
    await using other = await createTestHost({ world, plugins: ['ai', 'chat', otherLlm], configDir: folder.path });
    await command('!set chat receipts true');
    llm.push(say('To everyone.'));
    await ask('one');
    await command('!help');
    expect(await command('!set chat instructions')).to.contain('Call Other');
    expect(otherLlm.requests).to.have.length(0);
    alice.say(general, `${other.bot} What did Cinnabar say?`);
    await other.settled();
    const [request] = otherLlm.requests;
    const read = readIn(request ?? expect.fail('the other model was not asked'));
    const heard = read.split('\n').filter((line) => line.startsWith('Cinnabar:'));
    expect(heard).to.deep.equal(['Cinnabar: To everyone.']);
  });

  it('an answer in several parts is read as one answer, whatever others say meanwhile', async () => {
    const paragraphs = Array.from({ length: 4 }, (_, index) => `${index} ${'word '.repeat(200)}end.`);
    llm.push(say(paragraphs.join('\n\n')), say('Second.'));
    host.client.on('messageCreate', (message) => {
      if (isUnfinishedPart(message)) host.bob.say(host.general, 'So long!');
    });
    await ask('one');
    const parts = host.general.messages.filter(({ author }) => author === host.bot);
    expect(parts.length).to.be.greaterThan(2);
    const request = await ask('two');
    const own = request.messages.filter(({ participant }) => participant === 'Cinnabar');
    expect(own).to.have.length(2);
    const [block] = own[0]?.content ?? [];
    expect(block).to.deep.equal({ type: 'text', text: paragraphs.join('\n') });
  });

  it('marks are invisible, stay within the limit of a message and cannot be said by a model', () => {
    const parts = answerMessages(asNotice('a sentence that is long. '.repeat(300)));
    expect(parts.length).to.be.greaterThan(2);
    for (const [index, { content }] of parts.entries()) {
      expect(content.length).to.be.at.most(2_000);
      const message = { author: { bot: true }, content };
      expect([isNotice(message), isUnfinishedPart(message)]).to.deep.equal([false, index < parts.length - 1]);
    }
    const notice = asNotice('See https://example.org');
    expect(isNotice({ author: { bot: true }, content: notice })).to.equal(true);
    expect(isNotice({ author: { bot: false }, content: notice })).to.equal(false);
    expect(notice).to.match(/^See https:\/\/example\.org /);
  });
});
