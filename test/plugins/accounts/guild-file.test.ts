import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { definePlugin, GuildFiles, type Settings, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';
import { makeFolder } from '../../support/folder.js';

const paintSettings = { role: z.object({ color: z.string().max(20).default('gray').describe('Color') }) };
let painted: Settings<typeof paintSettings> | undefined;
const paint = definePlugin({
  manifest: { id: 'paint', version: '1.0.0', description: 'Paints' },
  settings: paintSettings,
  setup({ settings }) {
    painted = settings;
  },
});

describe('budgets and settings by role in the file of a server', () => {
  let host: TestHost;
  let role: { readonly id: string };
  before(async () => {
    host = await createTestHost({ plugins: ['admin', 'accounts', paint] });
    role = host.guild.createRole({ name: 'Fixers' });
    await host.settled();
  });
  after(() => host[Symbol.asyncDispose]());
  const tell = async (text: string) => {
    host.you.say(host.general, text);
    await host.settled();
    return host.general.messages.at(-1)?.content ?? '';
  };
  const actor = () => ({ userId: host.you.id, guildId: host.guild.id, channelId: host.general.id });
  const files = () => host.resolve(GuildFiles);
  const exported = () => files().export(host.guild.id);
  const plan = (text: string) => files().plan(host.guild.id, text, actor());
  const apply = async (text: string) => (await plan(text)).apply(actor());

  it('are exported as they were set from Discord, and planned, applied and undone with the rest', async () => {
    await tell('!budget set server 5 usd a day');
    await tell(`!budget role <@&${role.id}> 1M tokens a day`);
    const before = await exported();
    expect(before).to.match(/parts:\n {2}accounts:\n {4}server:\n {6}usdPerDay: 5/);
    const { differences } = await plan(
      'parts: { accounts: { server: { usdPerDay: 2 }, member: { tokensPerDay: 300 }, roles: { Fixers: { tokensPerDay: 700 } } } }',
    );
    expect(differences.map(({ kind, what, before: was, after }) => [kind, what, was, after])).to.deep.equal([
      ['changed', 'parts.accounts.server.usdPerDay', '5', '2'],
      ['changed', `parts.accounts.roles.${role.id} (Fixers).tokensPerDay`, '1000000', '700'],
      ['added', 'parts.accounts.member.tokensPerDay', '', '300'],
    ]);
    await apply('parts: { accounts: { member: { tokensPerDay: 300 } } }');
    expect(await tell('!budget show')).to.match(/The server: no limit.*\n.*\nEach member: 300 tokens a day/);
    await (await files().planUndo(host.guild.id))?.apply(actor());
    expect(await exported()).to.equal(before);
  });

  it('hold to the ceilings of the bot’s owner, and name the line that cannot be used', async () => {
    await tell('!budget ceiling server 10 usd a day');
    const before = await exported();
    const refused = (text: string) => apply(text).then(() => '', String);
    expect(await refused('parts:\n  accounts:\n    server: { usdPerDay: 11 }')).to.match(
      /line 3: parts\.accounts\.server: The owner of the bot allows at most \$10\.00 a day here/,
    );
    expect(await refused('parts:\n  accounts:\n    server: { usdPerWeek: 1 }')).to.match(
      /line 3: parts\.accounts\.server/,
    );
    expect(await refused('parts:\n  accounts:\n    roles:\n      Ghosts: {}')).to.match(
      /line 4: parts\.accounts\.roles\.Ghosts: there is no role/,
    );
    expect(await refused('parts: { admin: {} }')).to.match(/parts\.admin: it has no such settings/);
    expect(await exported()).to.equal(before);
  });

  it('are the same after export, apply and export, whatever they are', async () => {
    const amount = fc.option(fc.nat({ max: 5 }), { nil: undefined });
    const limit = fc.record({ tokensPerDay: amount, usdPerMonth: amount }, { requiredKeys: [] });
    const values = fc.record({
      server: limit,
      member: limit,
      ofRole: fc.option(limit),
      color: fc.option(fc.constantFrom('red', 'blue')),
    });
    await fc.assert(
      fc.asyncProperty(values, async ({ server, member, ofRole, color }) => {
        await apply(
          JSON.stringify({
            parts: { accounts: { server, member, roles: ofRole === null ? {} : { Fixers: ofRole } } },
            roleSettings: { paint: color === null ? {} : { Fixers: { color } } },
          }),
        );
        expect((await painted?.role(role.id).get())?.color).to.equal(color ?? 'gray');
        const text = await exported();
        expect((await plan(text)).differences).to.deep.equal([]);
        await apply('parts: { accounts: {} }\nroleSettings: { paint: {} }');
        await apply(text);
        expect(await exported()).to.equal(text);
      }),
      { numRuns: 15 },
    );
  });
});

describe('the file of a server and the configuration files of the owner', () => {
  it('has no budget above theirs, and no setting above its ceiling', async () => {
    using folder = makeFolder();
    folder.write(
      'shared.yaml',
      'budgets: { guild: { usdPerDay: 3 }, member: { tokensPerDay: 900 } }\nceilings: { shop: { most: 10 } }\n',
    );
    const shop = definePlugin({
      manifest: { id: 'shop', version: '1.0.0', description: 'Sells' },
      settings: { guild: z.object({ most: z.number().int().default(1).describe('Most') }) },
      setup: () => undefined,
    });
    await using host = await createTestHost({ plugins: ['admin', 'accounts', shop], configDir: folder.path });
    const role = host.guild.createRole({ name: 'Fixers' });
    await host.settled();
    const actor = { userId: host.you.id, guildId: host.guild.id, channelId: host.general.id };
    const files = host.resolve(GuildFiles);
    const planned = (text: string) =>
      files.plan(host.guild.id, text, actor).then(({ differences }) => `${differences.length}`, String);
    expect(await planned('parts: { accounts: { server: { usdPerDay: 4 } } }')).to.match(
      /parts\.accounts\.server: The owner of the bot allows at most \$3\.00 a day/,
    );
    expect(await planned(`parts: { accounts: { roles: { ${role.name}: { tokensPerDay: 901 } } } }`)).to.match(
      /parts\.accounts\.roles\.\S+: The owner of the bot allows at most/,
    );
    expect(await planned('settings: { shop: { most: 11 } }')).to.match(/settings\.shop\.most: it may be at most 10/);
    expect(
      await planned('parts: { accounts: { server: { usdPerDay: 3 } } }\nsettings: { shop: { most: 10 } }'),
    ).to.equal('2');
  });
});
