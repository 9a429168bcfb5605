import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { say, scriptedLlm } from '@cinnabar/local-models';
import { Random } from '@cinnabar/sdk';
import { expect } from 'chai';
import { inNewGuild } from '../../../support/shared-host.js';

describe('chat: what it answers unasked', () => {
  const llm = scriptedLlm(() => say('Here I am.'));
  let shared: TestHost;
  let host: TestHost;
  /** Number of the model's requests before the test. */
  let earlier: number;
  before(async () => {
    shared = await createTestHost({ plugins: ['admin', 'ai', 'chat', llm] });
  });
  after(() => shared[Symbol.asyncDispose]());
  beforeEach(async () => {
    host = await inNewGuild(shared);
    earlier = llm.requests.length;
  });
  afterEach(() => host[Symbol.asyncDispose]());

  const set = async (key: string, value: string) => {
    host.you.say(host.general, `!set chat ${key} ${value}`);
    await host.settled();
    await host.advance(10_001);
  };
  const says = async (text: string) => {
    host.alice.say(host.general, text);
    await host.settled();
    return llm.requests.length - earlier;
  };
  const otherBot = () => {
    const other = host.discord.createApplication({ name: 'Other', owner: host.you });
    host.guild.invite(other);
    return other.user;
  };

  it('is nothing until it is enabled', async () => {
    expect(await says('What does Cinnabar think?')).to.equal(0);
  });

  it('is its name, as a word of its own, once that is switched on', async () => {
    await set('replyOnName', 'true');
    expect(await says('What does cinnabar think?')).to.equal(1);
    expect(await says('Cinnabars are red, and so is vermilioncinnabar')).to.equal(1);
    expect(await says('„Cinnabar“, said Bob')).to.equal(2);
  });

  it('is its inner name where it has one', async () => {
    await set('innerName', 'Mercury');
    await set('replyOnName', 'true');
    expect(await says('Cinnabar?')).to.equal(0);
    expect(await says('Mercury, are you there?')).to.equal(1);
  });

  it('is said once, although it is mentioned and named at the same time', async () => {
    await set('replyOnName', 'true');
    expect(await says(`${host.bot} Cinnabar?`)).to.equal(1);
    expect(await says('!ai Cinnabar?')).to.equal(2);
  });

  it('is a share of all messages', async () => {
    await set('replyOnRandom', '4');
    const random = host.resolve(Random);
    const next = random.next;
    const drawn = [0.9, 0.24, 0.26, 0];
    random.next = () => drawn.shift() ?? 0.9;
    try {
      for (const text of ['one', 'two', 'three', 'four', 'five']) await says(text);
    } finally {
      random.next = next;
    }
    expect(llm.requests).to.have.length(earlier + 2);
  });

  it('is what a pinned message of the channel says, and no more once it is unpinned', async () => {
    const pin = host.you.say(host.general, '.config\nreplyOnName: true');
    host.you.pin(pin);
    await host.settled();
    expect(await says('Cinnabar?')).to.equal(1);
    host.you.unpin(pin);
    await host.settled();
    expect(await says('Cinnabar?')).to.equal(1);
  });

  it('is answered by a bot to a bot only so often in a row', async () => {
    await set('botChainLength', '3');
    const other = otherBot();
    const asks = async () => {
      other.say(host.general, `${host.bot} and you?`);
      await host.settled();
      await host.advance(2_000);
      return llm.requests.length - earlier;
    };
    host.alice.say(host.general, 'Talk to each other');
    await host.settled();
    expect(await asks()).to.equal(1);
    expect(await asks()).to.equal(2);
    expect(await asks()).to.equal(2);
    host.alice.say(host.general, 'Go on');
    await host.settled();
    expect(await asks()).to.equal(3);
  });

  it('is nothing of what other bots say among themselves, or where bots are not answered', async () => {
    await set('replyOnRandom', '1');
    const other = otherBot();
    other.say(host.general, 'I am a bot');
    await host.settled();
    expect(llm.requests).to.have.length(earlier);
    await set('replyOnRandom', '0');
    await set('botChainLength', '0');
    const before = llm.requests.length;
    other.say(host.general, `${host.bot} and you?`);
    await host.settled();
    expect(llm.requests).to.have.length(before);
  });

  it('asks nothing of Discord for messages that are not for it', async () => {
    await says('warm up');
    const before = host.discord.requests.all.length;
    for (let number = 0; number < 20; number += 1) await says(`message ${number}`);
    expect(host.discord.requests.all.length).to.equal(before);
  });
});
