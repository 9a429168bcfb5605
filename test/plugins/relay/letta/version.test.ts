import { type LettaStandIn, startLettaStandIn } from '@cinnabar/local-letta';
import { expect } from 'chai';
import { type AgentBot, letIn, startAgentBot } from '../harness.js';
import { startLetta } from './harness.js';

describe('relay: the version of a Letta server', () => {
  it('is what the server says', async () => {
    await using world = await startLetta({ version: '0.16.6' });
    expect(await world.agents.version()).to.equal('0.16.6');
  });

  it('is not known when the server says something else', async () => {
    await using world = await startLetta({ version: 'next' });
    expect(await world.agents.version()).to.equal(undefined);
  });
});

describe('relay: what the setup says of a Letta server', () => {
  let bot: AgentBot;
  const servers: LettaStandIn[] = [];
  before(async () => {
    bot = await startAgentBot({ plugins: ['admin'] });
    servers.push(bot.letta);
    await letIn(bot);
  });
  after(async () => {
    await bot[Symbol.asyncDispose]();
    for (const server of servers.slice(1)) await server[Symbol.asyncDispose]();
  });
  const use = async (version: string) => {
    const server = await startLettaStandIn({ clock: bot.clock, version });
    servers.push(server);
    // Every stand-in assigns the same id to its first agent.
    server.addAgent({ name: 'aurora' });
    await bot.admin(`!set relay baseUrl ${server.baseUrl}`);
  };
  /** It ends before the server requests the tools. */
  const setUp = async () => {
    servers.at(-1)?.faults.fail(500, { method: 'POST' });
    const report = await bot.admin('!relay setup');
    servers.at(-1)?.faults.clear();
    return report;
  };

  for (const [version, isOlder] of [
    ['0.9.12', true],
    ['0.16.7', true],
    ['0.16.8', false],
    ['1.0.0', false],
  ] as const) {
    it(`is ${isOlder ? '' : 'not '}that ${version} is older than the one that was tried`, async () => {
      await use(version);
      const report = await setUp();
      expect(report).to.include(`is version ${version}`);
      expect(report.includes('I was tried with 0.16.8')).to.equal(isOlder);
    });
  }

  describe('that takes no tools at private addresses', () => {
    const NOTE = 'it refuses tools at addresses of a private network';
    for (const [url, isPrivate] of [
      ['http://127.0.0.1:8808/mcp', true],
      ['http://localhost:8808/mcp', true],
      ['http://192.168.1.4/mcp', true],
      ['http://[fd00::1]:8808/mcp', true],
      ['http://bot.svc.cluster.local/mcp', true],
      ['https://bot.example.org/mcp', false],
      ['https://8.8.8.8/mcp', false],
    ] as const) {
      it(`is that ${url} is ${isPrivate ? 'private' : 'public'}`, async () => {
        await bot.admin(`!set relay mcpUrl ${url}`);
        const report = await setUp();
        expect(report.replaceAll('\\', '')).to.include(`offered at ${url}`);
        expect(report.includes(NOTE)).to.equal(isPrivate);
      });
    }

    it('is nothing of addresses where the server is older than 0.16.7', async () => {
      await use('0.16.6');
      await bot.admin('!set relay mcpUrl http://127.0.0.1:8808/mcp');
      expect(await setUp()).to.not.include(NOTE);
      await use('0.16.7');
      expect(await setUp()).to.include(NOTE);
    });
  });
});
