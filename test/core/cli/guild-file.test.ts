import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestHost } from '@cinnabar/core/testing';
import { AuditLog, GuildFiles } from '@cinnabar/sdk';
import { expect } from 'chai';
import { cinnabar } from '../../support/cinnabar.js';
import { makeFolder } from '../../support/folder.js';

describe('cinnabar plan, apply, export and undo', () => {
  it('do for the stopped bot what `!server` does for the running one, and not while it runs', async () => {
    using home = makeFolder();
    const dataDir = join(home.path, 'data');
    await using host = await createTestHost({ plugins: ['admin', 'accounts', 'chat', 'llm', 'party'], dataDir });
    host.guild.createRole({ name: 'Fixers' });
    const env = {
      CINNABAR_DATA: dataDir,
      DISCORD_TOKEN: host.application.token,
      DISCORD_API: host.discord.api,
    };
    const run = (act: 'plan' | 'apply' | 'export' | 'undo', operand: string, more = env) =>
      cinnabar([act, operand], { cwd: home.path, env: { ...more } });
    expect((await run('export', host.guild.id)).err).to.include('is in use by process');
    const running = await host.resolve(GuildFiles).export(host.guild.id);
    await host.stop();

    const before = await run('export', host.guild.id);
    expect(before.out).to.include(running.slice(running.indexOf('prefixes:'), running.indexOf('settings:')));
    const yaml = [`server: "${host.guild.id}"`, 'plugins: { party: off }', 'roles: { mod: [Fixers] }'].join('\n');
    writeFileSync(join(home.path, 'server.yaml'), yaml);
    expect((await run('plan', 'server.yaml')).out).to.match(
      /^\+ plugins\.party: off\n\+ roles\.mod: \d+ \(Fixers\)\n$/,
    );
    expect((await run('apply', 'server.yaml')).out).to.match(/Applied\.\n$/);
    expect((await run('plan', 'server.yaml')).out).to.equal('Nothing to change: the server is as the file says.\n');
    const withoutToken = await run('plan', 'server.yaml', { ...env, DISCORD_TOKEN: '' });
    expect(withoutToken.err).to.include(
      'line 3: roles.mod.0: names are looked up at Discord, which needs DISCORD_TOKEN',
    );

    const { discord, application, guild, general, you, alice, bob, clock } = host;
    const world = { discord, application, guild, general, you, alice, bob, clock };
    await using again = await createTestHost({ plugins: ['admin', 'party'], dataDir, world });
    expect(again.plugins.enabledIn(guild.id, 'party')).to.equal(false);
    const [act] = await again.resolve(AuditLog).recent(guild.id, 1);
    expect(act).to.include({ userId: 'command line', outcome: 'done' });
    await again.stop();
    await run('undo', guild.id);
    expect((await run('export', guild.id)).out).to.equal(before.out);
  });
});
