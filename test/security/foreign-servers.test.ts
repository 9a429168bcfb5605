import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createTestHost } from '@cinnabar/core/testing';
import { definePlugin, Ledger, Tools, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openHarness } from '../plugins/confirm/harness.js';
import { ask, CHILD, call, openMcpHarness, textOf } from '../plugins/mcp/harness.js';

const PASSWORD = 'seven-quiet-otters';
const SECRET = 'sk-abcdefghijklmnop1234';

describe('security: MCP servers', function () {
  this.timeout(60_000);

  it('with names under which tools could collide are refused in the configuration', async () => {
    const startWith = (names: readonly string[]) =>
      createTestHost({
        plugins: ['mcp'],
        settings: { mcp: { servers: Object.fromEntries(names.map((name) => [name, { command: 'x' }])) } },
      });
    for (const names of [
      ['a', 'a_b'],
      ['a-b', 'a_b'],
    ]) {
      const refused = await startWith(names).catch(String);
      expect(refused).to.equal(
        `UserError: The configuration is wrong: mcp.servers.a_b: its tools could have the same names as those of "${names[0]}": give one of them another name`,
      );
    }
    await using _ = await startWith(['a', 'ab', 'b_a']);
  });

  it('have the risk that their owner says; give way to plugins’ tools; and wait with what they change', async () => {
    const own = definePlugin({
      manifest: { id: 'own', version: '1.0.0', description: 'Has a tool of the same name' },
      setup: ({ ready, tool }) =>
        ready(() => {
          tool({
            name: 'child_big',
            description: 'The plugin’s',
            risk: 'read',
            input: z.object({}),
            run: () => 'mine',
          });
        }),
    });
    const { risk: _, ...settings } = CHILD;
    const child = {
      ...settings,
      tools: { patient: { risk: 'destructive', tier: 'admin' }, crash: { enabled: false } },
    };
    await using host = await openMcpHarness({ child }, { plugins: [own] });
    const tools = () =>
      new Map(
        host
          .resolve(Tools)
          .list()
          .map((tool) => [tool.name, tool]),
      );
    expect(tools().get('child_cancelled')?.risk).to.equal('write');
    expect(tools().get('child_fail')?.risk).to.equal('destructive');
    expect(tools().get('child_patient')).to.include({ risk: 'destructive' });
    expect(tools().get('child_patient')?.access.tier).to.equal('admin');
    expect(tools().has('child_crash')).to.equal(false);
    expect(tools().get('child_big')?.plugin).to.equal('own');

    await call(host, 'child_grow');
    await ask(host, '!mcp tools');
    expect(tools().has('child_grown')).to.equal(false);
    await host.advance(5_000);
    const dm = host.you.openDm(host.application);
    expect(dm.messages.map(({ content }) => content).join('\n')).to.include('has changed or added 1 of its tools');
    await ask(host, '!mcp accept child');
    expect(tools().has('child_grown')).to.equal(true);
  });

  it('never have their error pages read to members', async () => {
    const server = createServer((_, response) => {
      response.writeHead(500, { 'content-type': 'text/html' }).end('<h1>/srv/secret/path at 10.0.0.7</h1>');
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      const url = `http://127.0.0.1:${port}/mcp`;
      await using host = await openMcpHarness({ web: { url, tier: 'everyone' }, child: CHILD });
      const said = [
        await ask(host, '!mcp restart web'),
        textOf(await call(host, 'child_fail')),
        textOf(await call(host, 'web_anything')),
      ].join('\n');
      expect(said).not.to.include('/srv/secret').and.not.include('10.0.0.7');
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

describe('security: secrets given as arguments', () => {
  it('are in no card, no ledger, no history file and no log', async () => {
    await using harness = await openHarness({ plugins: ['mcp'] });
    const { host } = harness;
    const outcome = await harness.call(
      host.alice,
      { what: 'milk', apiKey: PASSWORD, note: `my key is ${SECRET}` },
      { tool: 'fill' },
    );
    const card = harness.latest();
    expect(card.content).to.include('[redacted]').and.not.include(SECRET).and.not.include(PASSWORD);
    host.alice.react(card, '👍');
    await host.settled();
    expect(harness.runs).to.deep.equal([{ what: 'milk', apiKey: PASSWORD, note: `my key is ${SECRET}` }]);
    const row = await host.resolve(Ledger).get(outcome.callId);
    expect(JSON.stringify(row)).to.include('[redacted]').and.not.include(SECRET).and.not.include(PASSWORD);
    await host.stop();
    const written = filesBelow(host.dataDir).map((file) => [file, readFileSync(file, 'utf8')] as const);
    expect(written.filter(([, text]) => text.includes('milk')).length).to.be.greaterThan(1);
    const telling = written.filter(([, text]) => text.includes(SECRET) || text.includes(PASSWORD));
    expect(telling.map(([file, text]) => [file, text.slice(0, 300)])).to.deep.equal([]);
  });

  it('are redacted inside lists and objects, and nothing else is', async () => {
    const runs: unknown[] = [];
    const plugin = definePlugin({
      manifest: { id: 'keeper', version: '1.0.0', description: 'Takes anything' },
      setup: ({ tool }) =>
        void tool({
          name: 'take',
          description: 'Takes',
          risk: 'read',
          input: z.looseObject({}),
          run: (given) => runs.push(given),
        }),
    });
    await using host = await createTestHost({ plugins: [plugin] });
    const actor = { userId: host.alice.id, guildId: host.guild.id, channelId: host.general.id };
    const input = { users: [{ name: 'alice', password: 'hunter22' }], tokens: 12, text: 'plain' };
    const { callId } = await host.resolve(Tools).invoke({ name: 'take', arguments: input, actor, origin: 'keeper' });
    expect((await host.resolve(Ledger).get(callId))?.input).to.deep.equal({
      users: [{ name: 'alice', password: '[redacted]' }],
      tokens: 12,
      text: 'plain',
    });
    expect(runs).to.deep.equal([input]);
  });
});

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(folder, entry.name)) : entry.isFile() ? [join(folder, entry.name)] : [],
  );
}
