import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestHost } from '@cinnabar/core/testing';
import { callTool, say, scriptedLlm } from '@cinnabar/local-models';
import { type ToolProgress, Tools } from '@cinnabar/sdk';
import { expect } from 'chai';
import { endpointOf, mintToken } from './bearer.js';
import { call, openMcpHarness, textOf } from './harness.js';

const script = (name: string) =>
  join(createRequire(import.meta.url).resolve(`@modelcontextprotocol/${name}/package.json`), '../dist/index.js');

describe('the reference server "everything"', function () {
  this.timeout(60_000);
  let host: TestHost;
  before(async () => {
    host = await openMcpHarness({
      everything: { command: process.execPath, args: [script('server-everything')], tier: 'everyone' },
    });
  });
  after(() => host[Symbol.asyncDispose]());

  it('has its schemas kept, and arguments checked by them before it is asked', async () => {
    const sum = host
      .resolve(Tools)
      .list()
      .find(({ name }) => name === 'everything_get_sum');
    expect(sum?.inputSchema).to.have.nested.property('properties.a.type', 'number');
    expect(textOf(await call(host, 'everything_get_sum', { a: 2, b: 3 }))).to.contain('5');
    expect(textOf(await call(host, 'everything_get_sum', { a: 2 }))).to.equal(
      "The arguments for everything_get_sum are not right: input: must have required property 'b'",
    );
  });

  it('gives images, which are said to be there and handed on', async () => {
    const outcome = await call(host, 'everything_get_tiny_image');
    expect(textOf(outcome)).to.match(/\[image: image\/png, \d+ KB\]/);
    expect(outcome).to.have.nested.property('content[1].type', 'image');
  });

  it('gives links, resources and structured data', async () => {
    expect(textOf(await call(host, 'everything_get_resource_links', { count: 2 }))).to.match(/\[link: .+\]/);
    const resource = { resourceType: 'Text', resourceId: 1 };
    expect(textOf(await call(host, 'everything_get_resource_reference', resource))).to.match(/\[resource: demo:.+\]\n/);
    const weather = await call(host, 'everything_get_structured_content', { location: 'Chicago' });
    expect(textOf(weather)).to.match(/"temperature":\d+/);
  });

  it('shows progress', async () => {
    const progress: ToolProgress[] = [];
    await call(
      host,
      'everything_trigger_long_running_operation',
      { duration: 0.2, steps: 4 },
      { onProgress: (one) => progress.push(one) },
    );
    expect(progress[0]).to.deep.equal({ progress: 1, total: 4 });
    expect(progress[1]).to.deep.equal({ progress: 2, total: 4 });
  });

  it('is used by another host through this one', async () => {
    // The tokens are this host's: requests of the other host are subject to this host's access rules, policies and history.
    await using middle = await openMcpHarness(
      { everything: { command: process.execPath, args: [script('server-everything')] } },
      { settings: { mcp: { listen: '127.0.0.1:0' } } },
    );
    const headers = { authorization: ['Bearer $', '{MIDDLE_TOKEN}'].join('') };
    await using far = await openMcpHarness(
      { middle: { url: await endpointOf(middle), headers, tier: 'everyone' } },
      { env: { MIDDLE_TOKEN: await mintToken(middle) } },
    );
    const outcome = await call(far, 'middle_everything_get_tiny_image');
    expect(outcome).to.have.nested.property('content[1].mimeType', 'image/png');
    await middle.plugins.unload('mcp');
    expect(textOf(await call(far, 'middle_everything_echo', { message: 'x' }))).to.match(
      /The MCP server "middle" stopped while this was running/,
    );
  });
});

describe('a conversation that reads a file', () => {
  it('goes from a sentence over a model, a card and a 👍 to the reference server "filesystem", and back', async function () {
    this.timeout(60_000);
    const folder = await mkdtemp(join(tmpdir(), 'cinnabar-files-'));
    try {
      const path = join(folder, 'shopping.txt');
      await writeFile(path, 'milk and eggs');
      const llm = scriptedLlm([callTool('files_read_text_file', { path }), say('You need milk and eggs.')]);
      const files = { command: process.execPath, args: [script('server-filesystem'), folder], tier: 'everyone' };
      await using host = await openMcpHarness({ files }, { plugins: ['ai', 'chat', 'confirm', llm] });
      host.alice.say(host.general, '!ai What do I have to buy?');
      await host.settled();
      const card = host.general.messages.findLast(({ reactions }) => reactions.length > 0);
      if (card === undefined) throw new Error('there is no card');
      expect(card.content).to.contain('shopping.txt');
      host.alice.react(card, '👍');
      await host.settled();
      const said = host.general.messages
        .filter(({ author }) => author.id === host.bot.id)
        .map(({ content }) => content);
      expect(said.at(-1)).to.contain('milk and eggs');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
