import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { callTool, type ScriptedLlm, say, scriptedLlm } from '@cinnabar/local-models';
import { expect } from 'chai';
import { openFence } from '../../../sdk/text/markdown.js';
import { createShelf, letLook } from '../harness.js';

const MESSAGES = { method: 'POST', route: '/channels/:channelId/messages' } as const;

describe('chat: answers in Discord', () => {
  let host: TestHost;
  let llm: ScriptedLlm;
  const open = async (steps: Parameters<typeof scriptedLlm>[0]) => {
    llm = scriptedLlm(steps);
    host = await createTestHost({ plugins: ['accounts', 'admin', 'ai', 'chat', llm, createShelf().plugin] });
    await letLook(host);
  };
  afterEach(() => host[Symbol.asyncDispose]());

  const fromBot = () => host.general.messages.filter(({ author }) => author.id === host.bot.id);
  const ask = async (text = 'Hello') => {
    const asked = host.alice.say(host.general, `${host.bot} ${text}`);
    await host.settled();
    return asked;
  };

  it('are split at 1,800 characters with code fences whole, and only the first replies', async () => {
    const code = Array.from({ length: 150 }, (_, line) => `const line${line} = 'some code that is long';`).join('\n');
    await open([say(`Here:\n\`\`\`js\n${code}\n\`\`\`\nDone.`)]);
    const asked = await ask();
    const parts = fromBot();
    expect(parts.length).to.be.greaterThan(3);
    expect(parts.filter(({ content }) => content.length > 1_800 || openFence(content) !== undefined)).to.deep.equal([]);
    expect(parts.map(({ replyTo }) => replyTo === asked)).to.deep.equal(parts.map((_, index) => index === 0));
  });

  it('are sent once, although Discord lost its own answer', async () => {
    await open([say('Only once.')]);
    host.discord.faults.rest.fail(502, { ...MESSAGES, afterEffect: true });
    await ask();
    expect(fromBot().map(({ content }) => content)).to.deep.equal(['Only once.']);
  });

  it('are sent when Discord is back', async () => {
    await open([say('Here I am.')]);
    host.discord.faults.rest.fail(503, { ...MESSAGES, times: 6 });
    host.alice.say(host.general, `${host.bot} Hello`);
    for (let second = 0; second < 10; second += 1) {
      await host.discord.settled();
      host.clock.advance(1_000);
    }
    await host.settled();
    expect(fromBot().map(({ content }) => content)).to.deep.equal(['Here I am.']);
  });

  it('can ping only the requesters', async () => {
    await open([say('@everyone <@&1> hello')]);
    await ask();
    expect(fromBot()[0]?.mentions.everyone).to.equal(false);
    expect(fromBot()[0]?.mentions.users).to.deep.equal([host.alice]);
  });

  it('show what tools do, when that is wanted, under the name of the tool and through one webhook', async () => {
    await open([callTool('look', { shelf: 'A' }), callTool('look', { shelf: 'B```' }), say('Two shelves.')]);
    host.guild.overwrite(host.general, { for: host.bot, allow: ['ManageWebhooks'] });
    host.you.say(host.general, '!set chat toolOutputVisible true');
    await host.settled();
    await ask('Look');
    const shown = host.general.messages.filter(({ content }) => content.includes('→'));
    expect(shown.map(({ content }) => content)).to.deep.equal([
      '```\n{"shelf":"A"}\n→ On A: a book\n```',
      '```\n{"shelf":"B`\u200B`\u200B`"}\n→ On B`\u200B`\u200B`: a book\n```',
    ]);
    expect(host.discord.requests.of('POST', '/channels/:channelId/webhooks')).to.have.length(1);
    expect(fromBot().at(-1)?.content).to.equal('Two shelves.');
  });

  it('come without tool output where the bot may not make webhooks, and `!why` says so', async () => {
    await open([callTool('look', { shelf: 'A' }), say('A book.')]);
    host.guild.overwrite(host.general, { for: host.bot, deny: ['ManageWebhooks'] });
    host.you.say(host.general, '!set chat toolOutputVisible true');
    await host.settled();
    await ask('Look');
    expect(fromBot().at(-1)?.content).to.equal('A book.');
    host.alice.say(host.general, '!why');
    await host.settled();
    expect(fromBot().at(-1)?.content).to.match(/missing the permission Manage Webhooks/);
    expect(fromBot().at(-1)?.content).to.match(/look \(done\)/);
  });
});
