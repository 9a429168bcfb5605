import { readFileSync } from 'node:fs';
import { createMemoryDriver, createTestHost } from '@cinnabar/core/testing';
import { removeOldCalls } from '@cinnabar/plugin-mcp/dist/history/journals.js';
import { Accounts, createKeyedMutex, SettingsCatalog } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { alice, ledgerOn } from '../core/tools/harness.js';
import { receipt } from '../plugins/accounts/receipt.js';
import { recordingLogger } from '../support/logs.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('security: bounds on disk', () => {
  it('of the history of tool calls: by age and by size, but never the hour that is being written', async () => {
    const now = Date.parse('2026-11-22T10:30:00Z');
    const hourOf = (ageMs: number) => new Date(now - ageMs).toISOString().slice(0, 13).replace('T', '-');
    const kept = new Map<string, { channelId: string; hour: string; bytes: number; isOwn: boolean }>();
    const keep = (channelId: string, ageMs: number, bytes: number) =>
      kept.set(`${channelId}/${hourOf(ageMs)}`, { channelId, hour: hourOf(ageMs), bytes, isOwn: true });
    for (let hours = 0; hours < 40; hours += 1) keep(hours % 2 === 0 ? '100' : '200', hours * HOUR_MS, 1_000);
    keep('100', 91 * DAY_MS, 3);
    const journals = {
      list: async () => [...kept.values()],
      erase: async (channelId: string, hour: string) => void kept.delete(`${channelId}/${hour}`),
    };
    const parts = { journals, mutex: createKeyedMutex(), now, days: 90 };
    const hours = () => [...kept.values()].map(({ hour }) => hour);
    expect([...(await removeOldCalls({ ...parts, bytes: 1_000_000 }))]).to.deep.equal(['100']);
    expect(hours()).to.have.length(40);
    await removeOldCalls({ ...parts, days: 0, bytes: 1_000_000 });
    expect(hours()).to.have.length(40);
    await removeOldCalls({ ...parts, bytes: 10_000 });
    expect(hours())
      .to.have.length(10)
      .and.include(hourOf(0))
      .and.not.include(hourOf(20 * HOUR_MS));
    await removeOldCalls({ ...parts, bytes: 0 });
    expect(hours()).to.deep.equal([hourOf(0)]);
  });

  it('of the ledger: by age and by number', async () => {
    const driver = createMemoryDriver();
    const clock = createManualClock();
    const make = async (ids: readonly number[]) => {
      const ledger = ledgerOn(driver, clock);
      for (const n of ids) {
        const id = String(n).padStart(6, '0');
        await ledger.open({
          id,
          tool: 'roll',
          plugin: 'dice',
          origin: 'chat',
          input: {},
          argumentsHash: 'a',
          actor: alice,
        });
        await ledger.move(id, ['proposed'], 'denied');
        await ledger.archive(id);
      }
    };
    await make([0]);
    clock.advance(7 * DAY_MS);
    await make(Array.from({ length: 249 }, (_, n) => n + 1));
    clock.advance(HOUR_MS);
    const leftWith = async (kept: { readonly days: number; readonly calls: number }) => {
      const ledger = ledgerOn(driver, clock, recordingLogger(), kept);
      await ledger.recover();
      return (await ledger.recent({ limit: 1_000 })).map(({ id }) => id).sort();
    };
    expect(await leftWith({ days: 7, calls: 1_000 })).to.have.length(249);
    const left = await leftWith({ days: 7, calls: 100 });
    expect([left.length, left[0]]).to.deep.equal([100, '000150']);
  });

  it('of receipts: by number, as the owner has set it', async () => {
    await using host = await createTestHost({ plugins: ['accounts'], settings: { accounts: { receipts: 5 } } });
    const accounts = host.resolve(Accounts);
    const actor = { userId: host.alice.id, guildId: host.guild.id, channelId: host.general.id };
    for (let n = 0; n < 12; n += 1) await accounts.record(receipt({ id: String(n), actor, at: host.clock.now() + n }));
    expect((await accounts.receipts(host.general.id)).map(({ id }) => id)).to.deep.equal(['11', '10', '9', '8', '7']);
  });

  it('are documented in one table, with settings that exist', async () => {
    const rows = readFileSync('docs/operators/configuration.md', 'utf8')
      .split('\n')
      .filter(
        (line) => line.startsWith('| ') && /`(?:host|[a-z-]+)\.[A-Za-z_]+`(?:, `[a-z-]+\.[A-Za-z_]+`)* \|$/.test(line),
      );
    expect(rows).to.have.length.of.at.least(10);
    const names = rows.flatMap((row) => [...(row.split('|').at(-2) ?? '').matchAll(/`([a-z-]+)\.([A-Za-z_]+)`/g)]);
    const plugins = [
      'accounts',
      'admin',
      'ai',
      'chat',
      'confirm',
      'llm',
      'mcp',
      'moderation',
      'persona',
      'relay',
      'tasks',
    ];
    await using host = await createTestHost({ plugins });
    const catalog = host.resolve(SettingsCatalog);
    const owner = { userId: host.you.id, guildId: host.guild.id, channelId: host.general.id };
    const hostKeys = [
      ...readFileSync('docs/reference/configuration.md', 'utf8').matchAll(/^\| `host\.(\w+)` \|/gm),
    ].map(([, key]) => key);
    for (const [, plugin = '', key = ''] of names) {
      const keys = plugin === 'host' ? hostKeys : (await catalog.describe(plugin, owner)).map((one) => one.key);
      expect(keys, `${plugin}.${key}`).to.include(key);
    }
  });
});
