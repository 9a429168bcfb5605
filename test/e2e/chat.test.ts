import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalMessage } from '@cinnabar/local-discord';
import { callTool, hang, type StandIn, say, startAnthropicStandIn } from '@cinnabar/local-models';
import { ToolPolicies } from '@cinnabar/sdk';
import { expect } from 'chai';
import { createShelf } from '../plugins/chat/harness.js';
import { journalsBelow } from '../support/data.js';

/** A red picture of 1 × 1 pixels. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const CONFIG = ['maxTokens: 1234', 'recencyWindow: 60', ''].join('\n');
const PIN = ['.config', 'toolOutputVisible: true'].join('\n');
const LONG = `On shelf A there is a book. ${'It is a good one. '.repeat(150)}`.trim();

const linkTo = ({ channel, id }: LocalMessage, guildId: string) =>
  `https://discord.com/channels/${guildId}/${channel.id}/${id}`;

describe('a mention, from Discord to the model and back', () => {
  let host: TestHost;
  let model: StandIn;
  let configDir: string;

  beforeEach(async () => {
    model = await startAnthropicStandIn();
    configDir = await mkdtemp(join(tmpdir(), 'cinnabar-e2e-chat-'));
    await writeFile(join(configDir, 'shared.yaml'), CONFIG);
    host = await createTestHost({
      plugins: ['accounts', 'admin', 'ai', 'chat', 'llm', 'mcp', createShelf().plugin],
      settings: { llm: { provider: 'anthropic', model: 'claude-opus-4-8' } },
      env: { ANTHROPIC_BASE_URL: model.baseUrl, ANTHROPIC_API_KEY: 'sk-test' },
      configDir,
    });
    await host.resolve(ToolPolicies).set(host.guild.id, 'look', 'allow');
    host.guild.overwrite(host.general, { for: host.bot, allow: ['ManageWebhooks'] });
  });
  afterEach(async () => {
    // The host would wait for a hanging response.
    model.release();
    await host[Symbol.asyncDispose]();
    await model[Symbol.asyncDispose]();
    await rm(configDir, { recursive: true, force: true });
  });

  const asked = (method: string, path: string) =>
    host.discord.requests.of(method, `/channels/:channelId${path}`).length;
  // Checks whether a member may still read a place always request Discord; they are not counted as reads.
  const reads = () =>
    host.discord.requests.all.filter(({ method, path }) => method === 'GET' && !path.includes('/members/')).length;
  const bodyOf = (index: number) => JSON.stringify(model.requests.at(index)?.body);

  it('takes the fourteen steps of the design', async function () {
    // All but Discord and the model is real, which may exceed the default limit on a busy machine.
    this.timeout(60_000);
    const archive = host.guild.createChannel({ name: 'archive' });
    const [first, last] = ['The library opened in 1999.', 'It has two shelves.'].map((text) =>
      host.bob.say(archive, text),
    );
    if (first === undefined || last === undefined) throw new Error('Nothing was said.');
    host.bob.say(host.general, 'This is before the history that counts.');
    host.you.pin(host.you.say(host.general, PIN));
    host.you.say(host.general, `.history ${linkTo(first, host.guild.id)} ${linkTo(last, host.guild.id)}`);
    host.bob.say(host.general, 'A picture of it', {
      files: [{ name: 'library.png', data: Buffer.from(PIXEL, 'base64'), contentType: 'image/png' }],
    });
    host.bob.say(host.general, '. this is between us');
    await host.settled();
    expect(asked('GET', '/messages'), 'nothing is read before it is needed').to.equal(0);

    // 1 and 2: the event arrives, and is for the bot. 3: it types at once, and again while the model thinks.
    model.push(hang(callTool('look', { shelf: 'A' })), say(LONG), say('You are welcome.'));
    const question = host.alice.say(host.general, `${host.bot} what is on shelf A?`);
    await model.hanging();
    await host.discord.settled();
    expect(asked('POST', '/typing')).to.equal(1);
    host.clock.advance(8_000);
    await host.discord.settled();
    expect(asked('POST', '/typing')).to.equal(2);

    // 4: the history, across channels, with its picture and the pinned configuration.
    expect(asked('GET', '/messages')).to.be.within(1, 3);
    expect(asked('GET', '/messages/pins')).to.equal(1);
    const request = bodyOf(0);
    expect(request).to.include('The library opened in 1999.').and.include(PIXEL);
    expect(request).to.not.include('before the history that counts');
    // 5: files and pins. 6: nothing is remembered yet. 7: dot messages are left out, the end is marked for the cache.
    expect(request).to.include('"max_tokens":1234').and.include('cache_control');
    expect(request).to.not.include('between us');
    // 8: the requester's tools. 9: the provider's format.
    expect(request).to.include('"name":"look"');
    expect(request).to.not.include('close_library');
    expect(model.requests[0]?.path).to.equal('/v1/messages');

    model.release();
    await host.settled();
    // 10: the tool runs, and its call is stored, shown and sent to the model.
    expect(model.requests).to.have.length(2);
    expect(bodyOf(1)).to.include('"tool_use"').and.include('On A: a book');
    const shown = host.general.messages.find(
      ({ author, content }) => author.id !== host.bot.id && content.includes('→'),
    );
    expect(shown?.content).to.include('On A: a book');
    expect(await keptCalls(host)).to.deep.equal([{ name: 'look', messageId: question.id, output: 'On A: a book' }]);

    // 12: the answer, in parts. 11: no more typing.
    const parts = host.general.messages.filter(({ author }) => author.id === host.bot.id);
    expect(parts.map(({ content }) => content.length > 1_800)).to.deep.equal([false, false]);
    expect(
      parts
        .map(({ content }) => content)
        .join(' ')
        .replaceAll(/\s+/g, ' '),
    ).to.equal(LONG);
    expect(parts[0]?.replyTo).to.equal(question);
    const typed = asked('POST', '/typing');
    await host.advance(30_000);
    expect(asked('POST', '/typing')).to.equal(typed);

    // 13 and 14: the cached history serves the next request, which begins like the previous one and needs no request to Discord.
    const before = reads();
    host.alice.say(host.general, `${host.bot} thank you`);
    await host.settled();
    expect(reads()).to.equal(before);
    expect(bodyOf(2)).to.include('On A: a book').and.include('thank you');
    await host.discord.expectMessage({ author: host.bot, content: 'You are welcome.' });
    host.alice.say(host.general, '!why');
    await host.settled();
    await host.discord.expectMessage({ author: host.bot, content: /was mentioned[\s\S]*\*\*Tokens\*\*/ });
  });
});

/** The journal `tools/{bot}/{channel}/{YYYY-MM-DD-HH}`. */
async function keptCalls(host: TestHost) {
  const hours = await journalsBelow(host.dataDir, ['tools', host.bot.id, host.general.id]);
  const [[hour = '', lines = []] = []] = Object.entries(hours);
  expect(hour).to.match(/^\d{4}-\d{2}-\d{2}-\d{2}$/);
  return lines.map((line) => {
    const { call, result } = JSON.parse(line);
    return { name: call.name, messageId: call.messageId, output: result.output };
  });
}
