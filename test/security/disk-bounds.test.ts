import { readFileSync } from 'node:fs';
import { createMemoryDriver, createTestHost } from '@cinnabar/core/testing';
import { Accounts, SettingsCatalog } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import { alice, ledgerOn } from '../core/tools/harness.js';
import { receipt } from '../plugins/accounts/receipt.js';
import { recordingLogger } from '../support/logs.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('security: bounds on disk', () => {
  it('of the history of tool calls: by age and by size, but never the hour that is being written', async () => {
    const driver = createMemoryDriver();
    const clock = createManualClock(Date.parse('2026-11-22T10:30:00Z'));
    await using host = await createTestHost({
      plugins: ['mcp'],
      settings: { mcp: { historyDays: 90 } },
      driver,
      clock,
    });
    const folder = ['tools', host.bot.id];
    const hourOf = (ageMs: number) => new Date(clock.now() - ageMs).toISOString().slice(0, 13).replace('T', '-');
    const keep = (channelId: string, ageMs: number, bytes: number) =>
      driver.journal([...folder, channelId, hourOf(ageMs)]).add(`${' '.repeat(bytes - 1)}\n`);
    /** The kept hours after the next sweep. */
    const hours = async () => {
      await host.advance(HOUR_MS);
      return (await driver.journals(folder)).map(({ path }) => path.at(-1));
    };
    const owner = { userId: host.you.id, guildId: null, channelId: host.you.openDm(host.application).id };
    const allow = (key: string, value: string) => host.resolve(SettingsCatalog).set('mcp', key, value, owner);
    // The sweep is an hour later.
    for (let hour = -1; hour < 39; hour += 1) await keep(hour % 2 === 0 ? '100' : '200', hour * HOUR_MS, 200_000);
    await keep('100', 91 * DAY_MS, 3);
    const first = await hours();
    expect(first).to.have.length(40);
    expect(first).to.not.include(hourOf(91 * DAY_MS + HOUR_MS));
    await allow('historyDays', '0');
    await keep('100', 91 * DAY_MS, 3);
    expect(await hours()).to.have.length(41);
    await allow('historyMegabytes', '2');
    const left = await hours();
    expect(left).to.have.length(10);
    expect(left)
      .to.include(hourOf(2 * HOUR_MS))
      .and.not.include(hourOf(22 * HOUR_MS));
    await allow('historyMegabytes', '1');
    await keep('100', -HOUR_MS, 1_000_001);
    expect(await hours()).to.deep.equal([hourOf(0)]);
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
