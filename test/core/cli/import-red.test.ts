import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { AccessRules, Commands, GuildFiles, Moderation, Plugins, Prefixes, TierRoles } from '@cinnabar/sdk';
import { expect } from 'chai';
import { cinnabar } from '../../support/cinnabar.js';
import { type Folder, makeFolder } from '../../support/folder.js';

const FIXTURE = new URL('../../../fixtures/red-3.5.24/instance', import.meta.url).pathname;

/** Writes Red's data for a server of the local Discord: the fixture's ids of server, roles and channels are replaced. */
function redFolder(home: Folder, ids: Readonly<Record<string, string>>): string {
  const dir = join(home.path, 'red');
  cpSync(FIXTURE, dir, { recursive: true });
  for (const file of [
    'core',
    ...[
      'Admin',
      'Alias',
      'CustomCommands',
      'Filter',
      'Mod',
      'ModLog',
      'Mutes',
      'Permissions',
      'Trivia',
      'Warnings',
    ].map((cog) => `cogs/${cog}`),
  ]) {
    const path = join(dir, file, 'settings.json');
    const replaced = Object.entries(ids).reduce(
      (json, [from, to]) => json.replaceAll(from, to),
      readFileSync(path, 'utf8'),
    );
    writeFileSync(path, replaced);
  }
  return dir;
}

/** The output of the import of a folder with Red's data. */
async function importing(host: TestHost, home: Folder, dir: string, dryRun: boolean): Promise<string> {
  const env = {
    CINNABAR_DATA: host.dataDir,
    DISCORD_TOKEN: host.application.token,
    DISCORD_API: host.discord.api,
  };
  const args = ['import', 'red', dir, ...(dryRun ? ['--dry-run'] : [])];
  const { out, err } = await cinnabar(args, { cwd: home.path, env });
  expect(err).to.equal('');
  return out;
}

const bundled = readdirSync(new URL('../../../../plugins', import.meta.url));
const LINES = ['Selfrole  add {0}', 'trivia list', 'constructor'];

/** The commands of Red's own cogs, without those in groups. */
function commandsOfRed(): readonly string[] {
  const ofCogs: Readonly<Record<string, readonly string[]>> = JSON.parse(
    readFileSync(new URL('../../../fixtures/red-3.5.24/commands.json', import.meta.url), 'utf8'),
  );
  return Object.values(ofCogs).flat();
}

/** Commands of Red in groups, or of cogs that it does not bring, which have counterparts here. */
const OF_GROUPS = [
  'backup',
  'cleanup messages',
  'customcommand',
  'help',
  'ignore channel',
  'ignore server',
  'localallowlist add',
  'localallowlist list',
  'localallowlist remove',
  'localblocklist add',
  'localblocklist list',
  'localblocklist remove',
  'mydata forgetme',
  'mydata getmydata',
  'permissions canrun',
  'permissions explain',
  'remindme',
  'selfrole add',
  'selfrole list',
  'selfrole remove',
  'set bot nickname',
  'set locale',
  'set nickname',
];

describe('cinnabar import red', () => {
  it('makes no moderator or admin of everyone, and prints nothing that passes for a line of its own', async () => {
    using home = makeFolder();
    await using host = await createTestHost({ plugins: ['admin'], dataDir: join(home.path, 'data') });
    const { guild } = host;
    const fixers = guild.createRole({ name: 'Fixers\n  Taken over:\n    Core: all of it' });
    await host.stop();
    const dir = join(home.path, 'red');
    mkdirSync(join(dir, 'core'), { recursive: true });
    const ofGuild = {
      admin_role: [guild.id],
      mod_role: [guild.id, fixers.id],
      locale: 'xx\n  Taken over:\n    Core: locale',
      prefix: ['\u001b[2J'],
    };
    writeFileSync(join(dir, 'core', 'settings.json'), JSON.stringify({ '0': { GUILD: { [guild.id]: ofGuild } } }));
    const report = await importing(host, home, dir, false);
    expect(report).to.match(/Left out:\n(?: {4}.*\n)* {4}Core: admin role \d+ .*: everyone cannot be that\n/);
    expect(report.match(/Taken over:$/gm)).to.have.length(1);
    expect(report).to.not.include('\u001b');
    const { discord, application, general, you, alice, bob, clock } = host;
    const world = { discord, application, guild, general, you, alice, bob, clock };
    await using again = await createTestHost({ plugins: ['admin'], dataDir: host.dataDir, world });
    const roles = again.resolve(TierRoles);
    expect(await roles.list(guild.id, 'admin')).to.deep.equal([]);
    expect(await roles.list(guild.id, 'mod')).to.deep.equal([fixers.id]);
  });

  it('takes over the servers of a Red 3.5.24, reports every single thing, and changes nothing the second time', async () => {
    using home = makeFolder();
    const dataDir = join(home.path, 'data');
    await using host = await createTestHost({ plugins: ['admin', 'moderation', 'roles'], dataDir });
    const { guild, general, alice, bob } = host;
    const [admins, mods, players, muted] = ['Admins', 'Mods', 'Players', 'Muted'].map(
      (name) => guild.createRole({ name }).id,
    );
    const quiet = guild.createChannel({ name: 'quiet' });
    const dir = redFolder(home, {
      '100000000000000001': guild.id,
      '300000000000000001': admins ?? '',
      '300000000000000002': mods ?? '',
      '300000000000000003': players ?? '',
      '300000000000000004': muted ?? '',
      '400000000000000001': general.id,
      '400000000000000003': quiet.id,
      '200000000000000003': alice.id,
      '200000000000000004': bob.id,
    });
    const before = await host.resolve(GuildFiles).export(guild.id);
    await host.stop();
    const run = (dryRun: boolean) => importing(host, home, dir, dryRun);

    const dry = await run(true);
    expect(existsSync(join(dataDir, 'import-red.txt'))).to.equal(false);
    const first = await run(false);
    expect(first.slice(0, first.indexOf('\n\nThis report'))).to.equal(
      dry.replaceAll('Would be taken over', 'Taken over').trimEnd(),
    );
    expect(readFileSync(join(dataDir, 'import-red.txt'), 'utf8')).to.equal(
      `${first.slice(0, first.indexOf('\n\nThis report'))}\n`,
    );
    expect(first.replaceAll(guild.id, 'GUILD')).to.include('Server GUILD (Night City)\n  Taken over:\n');
    for (const thing of [
      'Core: prefix ?',
      `Core: admin role ${admins} (Admins)`,
      `Core: moderator role ${mods} (Mods)`,
      `Core: blocklist → deny everything, user ${alice.id}`,
      `Core: blocklist → deny everything, role ${muted} (Muted)`,
      'Core: disabled command kick → deny command kick, everyone',
      `Core: ignored channel → deny everything, channel ${quiet.id} (#quiet)`,
      'Core: locale de-DE',
      `allow command ban, role ${mods} (Mods)`,
      `Admin: self role ${players}, in the menu selfroles`,
      'ModLog: case 1 (warning)',
      'ModLog: case 4 (smute)',
      `Warnings: warning of ${alice.id}: Spamming (2 points)`,
      'Warnings: actions: 5 kick',
      'Filter: words: badword, two words',
      'Filter: filter_names true',
      'Filter: words of the channel',
      'Mod: dm_on_kickban true',
      'ModLog: case 5 (vkick): there are no cases of voice and channels here',
      'Core: prefix "red ": A prefix is 1 to 10 characters without spaces.',
      'Core: disabled command roll: no command here does the same',
      'Core: cog Trivia switched off: no plugin here does the same',
      `Admin: announce channel ${general.id}`,
      'CustomCommands: custom command rules',
      'Alias: alias tidy for cleanup messages {0}: purge {0} here',
      'Alias: alias hello for help\n',
      `Core: blocklist → deny everything for <@${bob.id}>`,
      'Core: disabled command softban → deny command softban for everyone',
      'Core: cog RemindMe off by default: the plugin reminders',
      'Core: cog RemindMe switched on: the plugin reminders',
      `deny the command ping for ${bob.id} → deny command bot ping for <@${bob.id}>`,
      'rule: deny the command uptime for everyone → deny command bot uptime, everyone',
      `rule: allow the command uptime for role ${players} (Players) → allow command bot uptime, role ${players} (Players)`,
      `rule: deny the command cleanup messages for channel ${quiet.id} (#quiet) → deny command purge, channel ${quiet.id} (#quiet)`,
      `rule for all servers: allow the command trivia for ${bob.id}: no command here does the same`,
      'Core: token, owner, packages, prefix (settings of the whole bot)',
      'Trivia: 1 members: no plugin takes over the data of this cog',
      'Server 100000000000000002\n  Left out:\n    All: everything of it: the bot is not in this server',
      'Core: token, and the keys of SHARED_API_TOKENS: secrets are never taken over',
    ]) {
      expect(first).to.include(thing);
    }
    expect(first).to.not.include('a-token-that-is').and.to.not.include('a-key-that-is');

    const second = await run(false);
    expect(second).to.not.include('Taken over:');
    expect(second).to.include(`Admin: self role ${players}`);

    const { discord, application, you, clock } = host;
    const world = { discord, application, guild, general, you, alice, bob, clock };
    await using again = await createTestHost({ plugins: ['admin', 'moderation', 'roles'], dataDir, world });
    expect(again.resolve(Prefixes).get(guild.id)).to.deep.equal(['?']);
    expect(await again.resolve(TierRoles).list(guild.id, 'admin')).to.deep.equal([admins]);
    expect((await again.resolve(AccessRules).list(guild.id)).length).to.be.greaterThan(6);
    const everyone = { kind: 'everyone' };
    expect(await again.resolve(AccessRules).list(null)).to.deep.equal([
      { effect: 'deny', target: { kind: 'everything', name: 'everything' }, subject: { kind: 'user', id: bob.id } },
      { effect: 'deny', target: { kind: 'command', name: 'softban' }, subject: everyone },
      { effect: 'deny', target: { kind: 'command', name: 'bot ping' }, subject: { kind: 'user', id: bob.id } },
    ]);
    expect(again.resolve(Plugins).enabledIn(guild.id, 'roles')).to.equal(true);
    expect(await again.resolve(GuildFiles).export(guild.id)).to.not.equal(before);
    const ofAlice = await again.resolve(Moderation).casesOf(guild.id, alice.id);
    expect(ofAlice.map(({ number, act, points }) => [number, act, points])).to.deep.equal([
      [4, 'timeout', undefined],
      [1, 'warn', 2],
    ]);
  });

  describe('of all commands', () => {
    let known: readonly string[];
    let report: string;
    before(async () => {
      using home = makeFolder();
      await using host = await createTestHost({ plugins: bundled, dataDir: join(home.path, 'data') });
      known = host.resolve(Commands).names();
      await host.stop();
      const ofAliases = LINES.map((command, n) => ({ name: `alias${n}`, command, creator: host.you.id }));
      const ofGuild = { disabled_commands: [...commandsOfRed(), ...OF_GROUPS, 'constructor'] };
      const odd = '{"a":[400000000000000001,12],"b":"400000000000000001 \\" 400000000000000003","c":-1.5}';
      const dir = join(home.path, 'red');
      for (const [file, of] of [
        ['core', JSON.stringify(ofGuild)],
        ['cogs/Alias', JSON.stringify({ entries: ofAliases })],
        ['cogs/Warnings', `{"odd":${odd}}`],
      ] as const) {
        mkdirSync(join(dir, file), { recursive: true });
        writeFileSync(join(dir, file, 'settings.json'), `{"0":{"GUILD":{"${host.guild.id}":${of}}}}`);
      }
      report = await importing(host, home, dir, true);
    });

    it('maps commands of Red to the names of commands here', () => {
      const mapped = [...report.matchAll(/disabled command (.+) → deny command (.+), everyone$/gm)];
      expect(mapped.map(([, name]) => name)).to.include.members(OF_GROUPS);
      expect(mapped.map(([, , here]) => here).filter((here = '') => !known.includes(here))).to.deep.equal([]);
      expect(report).to.include('alias alias0 for Selfrole  add {0}: role get {0} here');
      expect(report).to.include('alias alias1 for trivia list, as it stands');
      expect(report).to.include('alias alias2 for constructor, as it stands');
      expect(report).to.include('disabled command constructor: no command here does the same');
    });

    it('keeps ids whole that are too large for a number', () => {
      expect(report).to.include(
        'odd = {"a":["400000000000000001",12],"b":"400000000000000001 \\" 400000000000000003","c":-1.5}',
      );
    });
  });
});
